"""Whether the store keeps its own rules; nothing is changed but what a crash left to finish.

A *problem* breaks a rule; a *note* is worth knowing and harms nothing (a leftover of a crash, a record that
was mended while reading).
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from cam.core.candidates import is_bound
from cam.core.display import counted
from cam.core.errors import CamError
from cam.core.problems import Problem
from cam.core.records import MemoryScope, MemoryState, is_topic
from cam.formats.history import parse_history
from cam.formats.memory_index import BEGIN, counts_in_index
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.project_folder import layouts_of
from cam.store.projects import project_ids
from cam.store.shadow import read_shadow, shadow_file
from cam.store.topics import Topic, TopicKey, read_topic, topic_names
from cam.system.files import list_folder, read_bytes, walk_files

_LOGS = {"memory-history.jsonl": "its event", "sync-log.jsonl": "its entry", "processed.jsonl": "its mark"}
_NAME_ADVICE = "use lower-case words joined by '-'"
_MOVE_ADVICE = "move it away"
_OTHERS = ("backup", "replaced-", "cache", ".git")


@dataclass(frozen=True, slots=True)
class Report:
    """What was found.

    Attributes:
        problems: rules that are broken.
        notes: what is worth knowing.
        projects: how many projects the store has.
        records: how many records were read.
        files: how many files were looked at.
    """

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    projects: int
    records: int
    files: int


def verify(root: str) -> Report:
    """Look at every file of the store.

    Raises:
        StoreUnavailableError: the machine refuses even to list it.
    """
    problems: list[Problem] = []
    notes: list[Problem] = []
    names = project_ids(root)
    layouts = [StoreLayout(root), *(layout for name in names for layout in layouts_of(root, name))]
    list_folder(root)
    MarkdownStore(layouts[0]).recover()
    paths = [p for p in walk_files(root) if not p.startswith(".git/")] if os.path.isdir(root) else []
    seen: set[str] = set()
    records = 0
    for layout in layouts:
        for scope in layout.scopes:
            folder = layout.scope_folder(scope)
            if folder in seen:
                continue
            seen.add(folder)
            records += _scope(layout, scope, problems, notes)
    problems += _journal(layouts[0])
    problems += _reachable(root)
    for layout in layouts:
        problems += misplaced(layout)
    for path in paths:
        if not path.startswith(_OTHERS):
            problems += _file(os.path.join(root, path))
        notes += _leftover(os.path.join(root, path))
    return Report(tuple(dict.fromkeys(problems)), tuple(notes), len(names), records, len(paths))


def misplaced(layout: StoreLayout) -> Iterator[Problem]:
    """Folders and files that something of another kind stands for: in a project's view of the store.

    Topic files and indexes are not among them, as whoever reads those meets it.
    """
    scopes = [(layout.scope_folder(scope), layout.history_file(scope)) for scope in layout.scopes]
    for folder in (layout.cache_file(), layout.audit_folder, *(folder for folder, _ in scopes)):
        if os.path.lexists(folder) and not os.path.isdir(folder):
            yield Problem(folder, 0, "a folder is expected here", _MOVE_ADVICE)
    for path in (layout.audit_file, layout.processed_file, *(history for _, history in scopes)):
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(os.lstat(path).st_mode):
                yield Problem(path, 0, "it is no regular file", _MOVE_ADVICE)


def _scope(layout: StoreLayout, scope: MemoryScope, problems: list[Problem], notes: list[Problem]) -> int:
    """Topic files, ids, versions, shadows and indexes of one scope; how many records it has."""
    homes: dict[tuple[str, str], str] = {}
    total = 0
    for state in MemoryState:
        counts: dict[str, tuple[int, bool]] = {}
        for key, topic in _topics(layout, scope, state, problems):
            if topic.file is None:
                continue
            problems += topic.file.problems
            notes += _mended(topic)
            version = topic.file.version
            is_as_written = version is not None and version == topic.file.digest
            counts[key[2]] = (len(topic.file.records), is_as_written and not topic.edits)
            total += len(topic.file.records)
            for record in topic.file.records:
                other = homes.setdefault((record.topic, record.id), topic.path)
                if other != topic.path:
                    line = _line_of(topic, record.id)
                    advice = "give one of them another id, or take one out"
                    problems.append(
                        Problem(topic.path, line, f"the id {record.id} stands in {other} too", advice)
                    )
                if not (is_bound(record.valid_from) and is_bound(record.valid_until)):
                    line = _line_of(topic, record.id)
                    reason = (
                        f"{record.id} is never told or found: from when or until when it holds is no date"
                    )
                    problems.append(
                        Problem(topic.path, line, reason, "write YYYY-MM-DD, or take the bound out")
                    )
            if version is not None and not is_as_written:
                problems += _shadow(layout, topic)
        problems += _index(layout, scope, state, counts)
    return total


def _topics(
    layout: StoreLayout, scope: MemoryScope, state: MemoryState, problems: list[Problem]
) -> Iterator[tuple[TopicKey, Topic]]:
    try:
        names = topic_names(layout, scope, state)
    except CamError as error:
        problems.append(Problem(layout.topics_folder(scope, state), 0, str(error)))
        return
    for name in names:
        path = layout.topic_file(scope, state, name)
        if not is_topic(name):
            problems.append(Problem(path, 0, "the file's name is no topic", _NAME_ADVICE))
            continue
        try:
            topic = read_topic(layout, (scope, state, name))
        except CamError as error:
            if not os.path.islink(path) and (
                os.path.isdir(path) or os.path.isfile(path)
            ):  # what is no file is named below
                problems.append(Problem(path, 0, str(error)))
            continue
        if topic.file is not None:
            yield (scope, state, name), topic


def _shadow(layout: StoreLayout, topic: Topic) -> Iterator[Problem]:
    """A file whose version line is not of its records must have been edited since cam wrote it."""
    raw = read_shadow(layout, topic.path)
    if raw is not None and raw == topic.raw:
        reason = "its version line is not of the records below it, although nobody edited the file"
        line = _line_with(topic.raw or b"", b"<!-- cam:version ")
        yield Problem(topic.path, line, reason, "the next change of this topic writes it anew")


def _index(
    layout: StoreLayout, scope: MemoryScope, state: MemoryState, counts: dict[str, tuple[int, bool]]
) -> Iterator[Problem]:
    """The counts of a managed block must be those of the files, as far as cam wrote them last."""
    path = layout.index_file(scope, state)
    try:
        data = read_bytes(path)
    except CamError as error:
        yield Problem(path, 0, str(error))
        return
    if data is None:
        if any(settled for _, settled in counts.values()):
            yield Problem(path, 0, "it is missing", "the next change of a topic writes it anew")
        return
    if BEGIN.encode() not in data:
        return
    stated = counts_in_index(data)
    for topic in {*stated, *counts}:
        # A file that is gone although cam wrote it was taken away by hand; the next write notes it.
        is_gone = topic not in counts and os.path.exists(
            shadow_file(layout, layout.topic_file(scope, state, topic))
        )
        found, settled = counts.get(topic, (0, not is_gone))
        if settled and stated.get(topic, 0) != found:
            reason = f"it says {counted(stated.get(topic, 0), 'record')} for {topic}, the file has {found}"
            line = _line_with(data, f"- [{topic}]".encode())
            yield Problem(path, line, reason, "the next change in this scope mends it")


def _mended(topic: Topic) -> Iterator[Problem]:
    """Records of the predecessor that it wrote broken over several lines."""
    at = 1 + (topic.file.prelude.count("\n") if topic.file else 0)
    for section in topic.file.sections if topic.file else ():
        lines = section.raw.split("\n")
        start = next((i for i, line in enumerate(lines) if line.startswith("Summary: ")), None)
        if start is not None and section.record is not None and "<!-- cam:entry " in section.raw:
            rest = [line for line in lines[start + 1 :] if line.strip() and line.rstrip("\r") != "Details:"]
            if any(not line.startswith("- ") for line in rest):
                reason = "the predecessor wrote this record over several lines; each is read as a detail"
                yield Problem(topic.path, at + start, reason, "its next change mends the form")
        at += section.raw.count("\n")


def _journal(layout: StoreLayout) -> Iterator[Problem]:
    for name in list_folder(layout.journal_folder):
        path = os.path.join(layout.journal_folder, name)
        yield Problem(path, 0, "a write waits to be finished", "any cam command that writes finishes it")


def _reachable(root: str) -> Iterator[Problem]:
    """A closed root closes everything in it."""
    try:
        mode = os.stat(root).st_mode
    except FileNotFoundError:
        return
    if mode & 0o077:
        reason = f"others on this machine can look into it (mode {stat.S_IMODE(mode):04o})"
        yield Problem(root, 0, reason, f"chmod 700 {root}")


def _file(path: str) -> Iterator[Problem]:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        yield Problem(path, 0, "it is no regular file", _MOVE_ADVICE)
        return
    name = os.path.basename(path)
    if not mode & stat.S_IRUSR or (name.endswith((".md", ".jsonl")) and not mode & stat.S_IWUSR):
        reason = f"cam may not read or write it (mode {stat.S_IMODE(mode):04o})"
        yield Problem(path, 0, reason, f"chmod 600 {path}")
    if name in _LOGS:
        yield from _log(path, name)


def _log(path: str, name: str) -> Iterator[Problem]:
    try:
        data = read_bytes(path) or b""
    except CamError as error:
        yield Problem(path, 0, str(error))
        return
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or _is_readable(line, name):
            continue
        if number == len(lines) or any(other.startswith(line) for other in lines[number:]):
            continue  # torn by a crash: the next write cuts it off; older ones were written again below
        reason = f"this line cannot be read; {_LOGS[name]} is lost, no record is"
        yield Problem(path, number, reason, "take the line out")


def _is_readable(line: bytes, name: str) -> bool:
    try:
        if name == "memory-history.jsonl":
            return next(parse_history([line.decode("utf-8", "surrogatepass")]), None) is not None
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _leftover(path: str) -> Iterator[Problem]:
    if path.endswith(".tmp"):
        yield Problem(path, 0, "a crashed write left it", "cam gc --yes takes it away")


def _line_of(topic: Topic, name: str) -> int:
    return _line_with(topic.raw or b"", f'"id": "{name}"'.encode())


def _line_with(data: bytes, part: bytes) -> int:
    at = data.find(part)
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 0
