"""What the start needs of the topic files and MEMORY.md, ready on disk; derived and disposable.

One JSON file per worktree: for each topic file its stamp, a short row per active record, its problems, and
digest and size of its bytes, by which a file that was copied is known though its stamp is another; for each
MEMORY.md its stamp and the quoted notes; and the lines of records that were told before, so that texts are
masked once. It is never trusted: every use compares all stamps, and a file that is different, or that was
written so shortly before it was read that it may have changed again, is read anew.
"""

import json
import os
from contextlib import suppress
from time import time_ns
from typing import Any

from cam.core.candidates import Candidate
from cam.core.errors import CamError
from cam.core.problems import Problem
from cam.core.quoting import MAX_SUMMARY, quoted_lines, shown_summary
from cam.core.records import MemoryScope, MemoryState
from cam.store.layout import StoreLayout
from cam.store.stamps import RACY, Stamp, stamp_of, stat_topics
from cam.system.files import list_folder, make_folder, read_bytes, write_quick

_MOST_LINES = 2000
"""Lines that are kept; more than any start looks at."""

_RULES = (
    "core/private.py", "core/secrets.py", "core/secret_forms.py", "core/quoting.py", "core/display.py",
    "formats/topic_file.py", "formats/memory_index.py", "store/start_index.py",
)  # fmt: skip
"""Modules that decide what the index holds: it counts only as long as they are the same."""

_HIDDEN = "<private>"
"""Stands for a long summary with a private span behind the part that is kept."""


class StartIndex:
    """A project's records and notes as they are now.

    Attributes:
        candidates: active records: by scope, topic and place in their file.
        notes: quoted lines of each scope's MEMORY.md; scopes without are left out.
        problems: what could not be read.
    """

    def __init__(self, layout: StoreLayout) -> None:
        """Read what is known and bring it up to date.

        Raises:
            StoreUnavailableError: the store's folder itself cannot be read.
        """
        list_folder(layout.root)
        self.candidates: list[Candidate] = []
        self.notes: dict[MemoryScope, list[str]] = {}
        self.problems: list[Problem] = _recover(layout)
        self._layout = layout
        self._now = time_ns()
        self._rules = _rules()
        self._path = layout.cache_file("start", f"{layout.project or 'global'}~{layout.worktree or ''}.json")
        known = self._load()
        self._known_files: dict[str, Any] = known.get("files", {})
        self._known_notes: dict[str, Any] = known.get("notes", {})
        self._lines: dict[str, str] = known.get("lines", {})
        self._files: dict[str, Any] = {}
        self._notes: dict[str, Any] = {}
        self._is_new = False
        self._undigested: list[tuple[list[Any], bytes]] = []
        for scope in layout.scopes:
            self._read_topics(scope)
            self._read_notes(scope)
        self._is_new |= len(self._files) != len(self._known_files)

    def line(self, summary: str) -> str:
        """``cam.core.quoting.shown_summary``, worked out once."""
        line = self._lines.get(summary)
        if line is None:
            line = self._lines[summary] = shown_summary(summary)
            self._is_new = True
        return line

    def save(self) -> None:
        """Keep what was read anew; a store that cannot be written is told the same all the same."""
        if not self._is_new:
            return
        self._is_new = False
        for entry, raw in self._undigested:
            entry[3] = _digest(raw)
        lines = dict(list(self._lines.items())[-_MOST_LINES:])
        data = {"rules": self._rules, "files": self._files, "notes": self._notes, "lines": lines}
        with suppress(CamError, OSError):
            make_folder(os.path.dirname(self._path))
            write_quick(self._path, json.dumps(data, separators=(",", ":")).encode())

    def _load(self) -> dict[str, Any]:
        try:
            known = json.loads(read_bytes(self._path) or b"{}")
        except (CamError, ValueError):
            return {}
        return known if isinstance(known, dict) and known.get("rules") == self._rules else {}

    def _read_topics(self, scope: MemoryScope) -> None:
        folder = self._layout.topics_folder(scope, MemoryState.ACTIVE)
        stamps, problems = stat_topics(folder)
        new = tuple.__new__
        self.problems += problems
        for name in sorted(stamps):
            place = f"{scope}/{name}"
            entry = self._known_files.get(place)
            if entry is None or entry[0] != [*stamps[name]]:
                entry = self._same(entry, scope, name, stamps[name]) or self._read_topic(
                    scope, name, stamps[name]
                )
                self._is_new = True
            self._files[place] = entry
            topic = name[:-3]
            # Ten thousand of them: ``_make`` and the constructor would take longer than the rest of the loop.
            self.candidates += [new(Candidate, (scope, topic, *row)) for row in entry[1]]
            self.problems += [Problem(os.path.join(folder, name), *found) for found in entry[2]]

    def _same(self, entry: list[Any] | None, scope: MemoryScope, name: str, stamp: Stamp) -> list[Any]:
        """The entry of a file whose stamp alone is another; empty if it is not the same file."""
        if entry is None or entry[4] != stamp[0] or not entry[3]:
            return []
        with suppress(CamError):
            raw = read_bytes(self._layout.topic_file(scope, MemoryState.ACTIVE, name[:-3]))
            if raw is not None and _digest(raw) == entry[3]:
                return [self._settled(stamp), *entry[1:]]
        return []

    def _read_topic(self, scope: MemoryScope, name: str, stamp: Stamp) -> list[Any]:
        from cam.store.topics import read_topic  # noqa: PLC0415 - only where something changed

        try:
            topic = read_topic(self._layout, (scope, MemoryState.ACTIVE, name[:-3]), edits=False)
        except CamError as error:
            path = self._layout.topic_file(scope, MemoryState.ACTIVE, name[:-3])
            # No stamp and no digest: it is tried again.
            return [[], [], [[0, str(error).removeprefix(f"{path}: "), ""]], "", 0]
        file, raw = topic.file, topic.raw or b""
        rows = [
            [
                r.id,
                _short(r.summary),
                r.updated_at,
                r.pinned,
                r.valid_from or "",
                r.valid_until or "",
                r.is_agents,
            ]
            for r in (file.records if file else ())
        ]
        problems = [[p.line, p.reason, p.advice] for p in (file.problems if file else ())]
        entry = [self._settled(stamp), rows, problems, "", len(raw)]
        if raw.strip():
            self._undigested.append((entry, raw))
        return entry

    def _read_notes(self, scope: MemoryScope) -> None:
        path = self._layout.index_file(scope)
        try:
            stamp = stamp_of(os.lstat(path))
        except OSError:
            return
        entry = self._known_notes.get(scope)
        if entry is None or entry[0] != [*stamp]:
            from cam.formats.memory_index import person_text  # noqa: PLC0415 - only where something changed

            try:
                text = person_text((read_bytes(path) or b"").decode("utf-8", "replace"))
            except CamError as error:
                self.problems.append(Problem(path, 0, str(error)))
                return
            entry = [self._settled(stamp), quoted_lines(text)]
            self._is_new = True
        self._notes[scope] = entry
        if entry[1]:
            self.notes[scope] = entry[1]

    def _settled(self, stamp: Stamp) -> list[int]:
        """The stamp, if it will say so when the file changes again."""
        return [*stamp] if max(stamp[1], stamp[2]) < self._now - RACY else []


def _digest(raw: bytes) -> str:
    from hashlib import sha256  # noqa: PLC0415 - only where something changed

    return sha256(raw).hexdigest()[:32]


def _short(summary: str) -> str:
    if len(summary) <= MAX_SUMMARY * 2:
        return summary
    return summary[: MAX_SUMMARY * 2] if shown_summary(summary) else _HIDDEN


def _recover(layout: StoreLayout) -> list[Problem]:
    """Finish what a crashed writer began."""
    try:
        if not list_folder(layout.journal_folder):
            return []
    except CamError as error:
        return [Problem(layout.journal_folder, 0, str(error))]
    from cam.store.memory_store import MarkdownStore  # noqa: PLC0415 - seldom

    return MarkdownStore(layout).recover()


def _rules() -> list[int]:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    status = [os.stat(os.path.join(folder, name)) for name in _RULES]
    return [each for s in status for each in (s.st_size, s.st_mtime_ns)]
