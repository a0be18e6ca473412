"""The sessions of a Codex home: found, and read each once.

A fork that points at its base holds only its own turns; its user messages are numbered on from the base's, so
that (session, ordinal, text) names the same statement whether the fork points or repeats. Of a base no more
is read than that takes. Codex's own memory consolidation runs in ``memories`` of its home: nobody's session.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from cam.core.evidence import RolloutEvidence, RolloutMeta
from cam.core.lines import SkippedLine
from cam.core.problems import Problem
from cam.formats.rollout import Checkpoint, RolloutReader, hurry, ordinal_of, parse_header, recover_header
from cam.formats.rollout_lines import turn_folders
from cam.store.session_index import SessionIndex
from cam.system.codex_memories import is_in_memories
from cam.system.files import reason_of
from cam.system.rollout_files import (
    Listing,
    RolloutFile,
    list_rollouts,
    other_form,
    read_blocks,
    read_first_line,
    read_lines,
)

_TRIES = 3
_LARGE = 8_000_000  # bytes from which on a faster JSON library is worth its import
_DEEPEST_FORK = 64
_MOST_GROWTH = 64_000_000  # bytes of new turns that are looked through for their folders


class CodexSessions:
    """Where evidence comes from: the rollouts below a ``CODEX_HOME`` (``SessionSource``).

    Args:
        home: the Codex home.
        index: file of the index of headers; None to read every header.

    Attributes:
        home: the Codex home.
        problems: what could not be looked into so far.
    """

    def __init__(self, home: str, index: str | None = None) -> None:
        self.home = home
        self._index_file = index
        self._index: SessionIndex | None = None
        self._ours: dict[str, bool] = {}
        self.problems: list[Problem] = []
        self._listing: Listing | None = None
        self._headers: dict[str, RolloutMeta] | None = None
        self._counted: dict[tuple[str, int], int] = {}

    def files(self) -> tuple[RolloutFile, ...]:
        """All rollout files, oldest name first, for one stat each; listed anew on every call."""
        self._listing = list_rollouts(self.home)
        for problem in self._listing.problems:
            self._report(problem)
        return self._listing.files

    def sessions(self) -> Iterator[RolloutMeta]:
        """Headers of all sessions, oldest first, each session once.

        A file whose header cannot be read is a problem in ``problems``, and the others are still found.
        """
        found: dict[str, RolloutMeta] = {}
        files, index = self.files(), self.index
        for file in sorted(files, key=lambda f: f.archived):  # an archived copy does not count again
            meta = index.get(file)
            if meta is None:
                meta = self._listed(file, index)
            if meta is not None:
                found.setdefault(meta.session, meta)
        index.keep_only({file.path for file in files})
        index.save()
        yield from sorted(found.values(), key=lambda m: (m.started_at, m.session))

    def header(self, path: str) -> RolloutMeta | None:
        """The header of one file, read without reading the file; None where the file is empty.

        Raises:
            OSError: the file cannot be read.
        """
        line = read_first_line(path)
        if line is None:
            return None
        first = b"" if isinstance(line, SkippedLine) else line
        return self._placed(parse_header(first, path) or recover_header(first, path))

    def find(self, session_id: str) -> RolloutMeta | None:
        """The session with this id, by its file's name; all headers are read only where no name has it."""
        wanted = session_id.lower()
        listed = self._listing.files if self._listing is not None else ()
        return self._named(wanted, listed) or self._named(wanted, self.files()) or self._by_header(wanted)

    def read(self, meta: RolloutMeta) -> RolloutEvidence:
        """Everything one session says, in its own turns.

        A file that is archived, compressed or rewritten meanwhile is read again from its new place.

        Raises:
            OSError: the session cannot be read to its end: nothing of it may pass for read.
        """
        problems: list[Problem] = []
        before = self._before(meta, problems)
        reader = self._reader(meta, before)
        if reader.replay_is_a_guess:
            reader.know_parent(self._parent_texts(reader.evidence().meta))
        return self._evidence(reader, problems)

    def read_on(self, meta: RolloutMeta, after: int) -> RolloutEvidence | None:
        """What a session says behind its user message number ``after``, and perhaps a turn or two before it.

        None where that cannot be had without reading the whole file: it is short, was rewritten, or its
        release does not mark where turns end.

        Raises:
            OSError: the session cannot be read to its end.
        """
        known = self.index.place(meta)
        if known is None or known[0].messages > after or meta.path.endswith(".zst"):
            return None
        place, inode, digest = known
        if os.stat(meta.path).st_ino != inode or _before_place(meta.path, place) != digest:
            return None
        reader = RolloutReader(meta.path, primary=not self._is_ours(meta))
        header = read_first_line(meta.path)
        if not isinstance(header, bytes):
            return None
        reader.feed(header)
        reader.go_on(place)
        for block in read_blocks(meta.path, place.at):
            reader.feed_block(block)
        evidence = self._evidence(reader, [])
        return None if reader.is_doubtful else evidence

    def _evidence(self, reader: RolloutReader, problems: list[Problem]) -> RolloutEvidence:
        """What a reader has found, noted in the index."""
        evidence = reader.evidence()
        evidence = replace(
            evidence, meta=self._placed(evidence.meta), problems=(*evidence.problems, *problems)
        )
        place = reader.checkpoint() if evidence.size > _LARGE and evidence.meta.base_session is None else None
        if place is not None and not reader.path.endswith(".zst") and not reader.is_doubtful:
            with contextlib.suppress(OSError):
                digest = _before_place(reader.path, place)
                self.index.note_place(evidence.meta, place, os.stat(reader.path).st_ino, digest)
        self.index.note_evidence(evidence)
        return evidence

    @property
    def index(self) -> SessionIndex:
        """What is known of the files without opening them."""
        if self._index is None:
            self._index = SessionIndex(self._index_file, self.home)
        return self._index

    def _named(self, wanted: str, files: tuple[RolloutFile, ...]) -> RolloutMeta | None:
        """The session among files that carry its id in their name; a live file before an archived one."""
        named = [f for f in files if wanted in os.path.basename(f.path).lower()]
        for file in sorted(named, key=lambda f: f.archived):
            meta = self._header_or_problem(file.path) if os.path.exists(file.path) else None
            if meta is not None and meta.session.lower() == wanted:
                return meta
        return None

    def _by_header(self, wanted: str) -> RolloutMeta | None:
        """The session whatever its file's name; headers are read once for all such questions."""
        if self._headers is None:
            self._headers = {m.session.lower(): m for m in self.sessions()}
        return self._headers.get(wanted)

    def _listed(self, file: RolloutFile, index: SessionIndex) -> RolloutMeta | None:
        """The header of a file that is new or changed; of one that grew, where its new turns ran."""
        meta = self._header_or_problem(file.path)
        if meta is None:
            return None
        before = index.size_before(file)
        if before is not None and file.size - before <= _MOST_GROWTH and not file.path.endswith(".zst"):
            folders: set[str] = set()
            try:
                for block in read_blocks(file.path, before):
                    if isinstance(block, bytes):
                        folders |= turn_folders(block)
            except OSError as error:
                self._report(_unread(file.path, error))
            index.note_folders(meta, folders)
        return index.put(file, meta)

    def _header_or_problem(self, path: str) -> RolloutMeta | None:
        try:
            return self.header(path)
        except OSError as error:
            self._report(_unread(path, error))
            return None

    def _report(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def _reader(self, meta: RolloutMeta, before: int = 0) -> RolloutReader:
        """The session's file, read to its end."""
        path = meta.path
        for attempt in range(_TRIES):
            reader = RolloutReader(path, before=before, primary=not self._is_ours(meta))
            try:
                if os.path.getsize(path) > _LARGE:
                    hurry()
                for block in read_blocks(path):
                    reader.feed_block(block)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ESTALE) or attempt == _TRIES - 1:
                    raise
                path = self._moved(meta, path)
            else:
                return reader
        raise FileNotFoundError(errno.ENOENT, "the session is gone", meta.path)

    def _moved(self, meta: RolloutMeta, path: str) -> str:
        """Where a session's file is now."""
        if os.path.exists(path):
            return path
        if os.path.exists(other_form(path)):
            return other_form(path)
        found = self.find(meta.session)
        return found.path if found is not None else path

    def _before(self, meta: RolloutMeta, problems: list[Problem]) -> int:
        """User messages in what a pointing fork points at."""
        seen = {meta.session}
        base, end = meta.base_session, meta.base_ordinal
        count = 0
        while base is not None and end is not None:
            if base in seen or len(seen) > _DEEPEST_FORK:
                problems.append(Problem(meta.path, 1, "the fork's base leads back to itself"))
                break
            seen.add(base)
            found = self.find(base)
            if found is None:
                problems.append(
                    Problem(
                        meta.path,
                        1,
                        f"the session {base} that this fork points at is not there; its own turns were read",
                    )
                )
                break
            count += self._count(found, end)
            end = end if found.base_ordinal is None else min(end, found.base_ordinal)
            base = found.base_session
        return count

    def _count(self, base: RolloutMeta, end: int) -> int:
        """User messages in a base's own records before ``end``, read no further than that."""
        known = self._counted.get((base.session, end))
        if known is not None:
            return known
        reader = RolloutReader(base.path)
        for line in read_lines(base.path):
            if not isinstance(line, SkippedLine):
                number = ordinal_of(line)
                if number is not None and number >= end:
                    break
            reader.feed(line)
        count = len(reader.user_texts())
        self._counted[base.session, end] = count
        return count

    def _parent_texts(self, meta: RolloutMeta) -> tuple[str, ...]:
        """What the person had said in the session that a fork repeats."""
        parent = self.find(meta.parent) if meta.parent and meta.parent != meta.session else None
        if parent is None or parent.path == meta.path:
            return ()
        try:
            return self._reader(parent).user_texts()
        except OSError as error:
            self._report(_unread(parent.path, error))
            return ()

    def _is_ours(self, meta: RolloutMeta) -> bool:
        """Whether the session ran in Codex's own memory folder."""
        if meta.cwd is None:
            return False
        if meta.cwd not in self._ours:
            self._ours[meta.cwd] = is_in_memories(self.home, meta.cwd)
        return self._ours[meta.cwd]

    def _placed(self, meta: RolloutMeta) -> RolloutMeta:
        return replace(meta, is_primary=False) if meta.is_primary and self._is_ours(meta) else meta


def _before_place(path: str, place: Checkpoint) -> str:
    """Digest of the file's beginning and of what stands before a place: another one tells of a rewriting."""
    with open(path, "rb", buffering=0) as file:
        digest = sha256(file.read(min(4096, place.at)))
        file.seek(max(0, place.at - 4096))
        digest.update(file.read(min(4096, place.at)))
    return digest.hexdigest()[:16]


def _unread(path: str, error: OSError) -> Problem:
    return Problem(path, 0, f"cannot be read: {reason_of(error)}")
