"""``cam forget REF --erase``: a text leaves the store for good, and nobody reads it back in."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cam.core.errors import NotFoundError, WriteRefusedError
from cam.core.lines import SkippedLine
from cam.core.operations import MemoryPlan
from cam.core.records import MemoryRecord, MemoryRef
from cam.formats.audit import render_audit
from cam.formats.history import HistoryEvent
from cam.memory.lookup import find
from cam.store.erase import Needles, forms, is_telling, needles_of, scrub
from cam.store.memory_store import MarkdownStore
from cam.store.sessions import CodexSessions
from cam.system.clock import now_stamp
from cam.system.files import append_to_log
from cam.system.git import find_repository, git_variables
from cam.system.rollout_files import read_lines

MAX_ROLLOUTS = 4_000_000_000
"""Bytes of rollouts that are looked into, newest first."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased.

    Attributes:
        refs: of the records that went.
        files: paths that were cleaned, relative to the store.
        others: refs of further records that held the text.
        words_left: refs of other records in which distinctive words of it still stand; they were not changed.
        left: files in which some of it still stands, against all expectation.
        rollouts: sessions of Codex that still hold it; cam never alters them.
        unread: how many rollouts were not looked into.
    """

    refs: tuple[str, ...]
    files: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    words_left: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rollouts: tuple[str, ...] = ()
    unread: int = 0


def erase(
    store: MarkdownStore, refs: Sequence[MemoryRef], codex_home: str, project_root: str | None = None
) -> Erased:
    """Erase records: gone from topics, archive, history, audit, copies and whatever is derived; no undo.

    Args:
        store: of the project.
        refs: which records.
        codex_home: where rollouts are, to name those that still hold the text.
        project_root: its continuity file is cleaned too.

    Raises:
        NotFoundError: one of the refs names no record; nothing was written.
        WriteRefusedError: the store is kept in git, whose history still holds the text.
        StoreUnavailableError: the machine refuses; a repeat goes on.
    """
    snapshot = store.snapshot()
    if snapshot.has_edits:
        store.note_edits()
        snapshot = store.snapshot()
    events = [e for scope in store.layout.scopes for e in store.history(scope)]
    records = [_find(snapshot.records, events, ref) for ref in refs]
    found = [needles_of(record, events) for record in records]
    needles = Needles(
        [key for n in found for key in n.keys],
        [text for n in found for text in n.texts],
        [word for n in found for word in n.words],
    )
    root = store.layout.root
    _check_git(root, needles)
    local = os.path.join(project_root or "", ".codex-auto-memory", "sessions", "active.md")
    extra = [local] if project_root and os.path.isfile(local) else []
    done = scrub(root, needles, now_stamp(), extra)
    _audit(store, len(records), len(done.files))
    words = [w.lower() for w in needles.words]
    rest = store.snapshot().records
    words_left = tuple(str(r.ref) for r in rest if any(w in r.text.lower() for w in words))
    rollouts, unread = _rollouts(CodexSessions(codex_home), needles)
    return Erased(
        tuple(str(r.ref) for r in records), done.files, done.others, words_left, done.left, rollouts, unread
    )


def _find(records: Sequence[MemoryRecord], events: Sequence[HistoryEvent], ref: MemoryRef) -> MemoryRecord:
    """The record, or what the history says of one that is gone.

    Raises:
        NotFoundError: neither knows it.
    """
    try:
        return find(records, ref)
    except NotFoundError:
        versions = [r for e in events for r in (e.before, e.after) if r is not None and r.key == ref.key]
        if not versions:
            raise
        return versions[-1]


def _audit(store: MarkdownStore, records: int, files: int) -> None:
    """One line that says that, not what."""
    layout = store.layout
    more = {"records": records, "files": files}
    line = render_audit(at=now_stamp(), kind="erase", actor="user", plan=MemoryPlan(), more=more)
    with store.locked():
        append_to_log(layout.audit_file, line)


def _check_git(root: str, needles: Needles) -> None:
    """Refuse where the store's own git history holds the text.

    Raises:
        WriteRefusedError: it does, or git cannot say.
    """
    repository = find_repository(root)
    if repository is None or not _is_tracked_in(repository.root, root):
        return
    held = _git_holds(repository.root, root, _bytes_of(needles))
    if held is False:
        return
    what = "still holds the text" if held else "may hold the text: git does not tell"
    place = repository.root
    raise WriteRefusedError(
        f"the store is kept in git, and the history of {place} {what}; nothing was erased. Rewrite that "
        f"history first: put the text into a file, run 'git -C {place} filter-repo --replace-text FILE' and "
        f"'git -C {place} gc --prune=now', do the same wherever it was pushed to, and erase again"
    )


def _git(folder: str, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["git", "-C", folder, *words], env=git_variables(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _is_tracked_in(repository: str, root: str) -> bool:
    """Whether the repository knows any file of the store, now or before; a git that fails says yes."""
    try:
        with _git(repository, "log", "--all", "-1", "--format=%h", "--", os.path.realpath(root)) as log:
            out, _ = log.communicate()
        with _git(repository, "ls-files", "--", os.path.realpath(root)) as files:
            listed, _ = files.communicate()
    except OSError:
        return True
    return bool(out.strip() or listed.strip()) or log.returncode != 0


def _git_holds(repository: str, root: str, wanted: Iterable[bytes]) -> bool | None:
    """Whether any version, message or staged file holds one of the texts; None where git cannot say.

    The texts are never put on a command line, where others could read them.
    """
    needles = list(wanted)
    plain = ("--no-color", "--no-ext-diff", "--text")
    everything = ("log", "--all", "--reflog")
    calls = (
        (*everything, "-p", *plain, "--", os.path.realpath(root)),
        (*everything, "--format=%B"),
        ("diff", "--cached", *plain),
    )
    for words in calls:
        try:
            with _git(repository, *words) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    low = line.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogatepass")
                    if any(needle in low for needle in needles):
                        process.kill()
                        return True
                process.wait()
        except OSError:
            return None
        if process.returncode != 0 and words[0] == "log" and _has_commits(repository):
            return None
    return False


def _has_commits(repository: str) -> bool:
    with _git(repository, "rev-parse", "--verify", "-q", "HEAD") as process:
        out, _ = process.communicate()
    return bool(out.strip())


def _rollouts(sessions: CodexSessions, needles: Needles) -> tuple[tuple[str, ...], int]:
    """Rollouts that hold the text or distinctive words of it, and how many were not looked into."""
    wanted = _bytes_of(needles)
    found: list[str] = []
    unread, total = 0, 0
    for file in reversed(sessions.files()):
        total += file.size
        if total > MAX_ROLLOUTS:
            unread += 1
            continue
        try:
            if _holds(file.path, wanted):
                found.append(file.path)
        except OSError:
            unread += 1
    return tuple(reversed(found)), unread


def _bytes_of(needles: Needles) -> frozenset[bytes]:
    """Lower-case bytes of everything to look for outside the store's own forms."""
    texts = (*(t for t in needles.texts if is_telling(t)), *needles.words) or needles.texts
    return frozenset(form.lower().encode("utf-8", "surrogatepass") for t in texts for form in forms(t))


def _holds(path: str, wanted: Iterable[bytes]) -> bool:
    for line in read_lines(path):
        if isinstance(line, SkippedLine):
            continue
        low = line.lower()
        if any(needle in low for needle in wanted):
            return True
    return False
