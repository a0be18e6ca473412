"""Projects as the store holds them: who they are, what they remember, and how two become one.

Attaching is built aside as a whole folder and put into place in one step; what stood in both places before
is kept below ``backup``. A crash leaves the old state or the new one, and a repeat does nothing twice.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cam.core.errors import CamError, InvalidInputError, NotFoundError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.core.tombstones import normal
from cam.formats.audit import render_audit
from cam.formats.history import event_of, render_event
from cam.formats.memory_index import person_text, update_index
from cam.formats.project_file import KnownProject, parse_project, render_project
from cam.formats.topic_file import (
    TopicFile,
    apply_to_topic_file,
    new_topic_file,
    parse_topic_file,
    render_topic_file,
)
from cam.store.git_merge import merge_lines
from cam.store.identity import short_hash
from cam.store.layout import StoreLayout
from cam.store.machine import machine_name
from cam.store.memory_store import MarkdownStore
from cam.store.shadow import write_shadow
from cam.system.clock import now_stamp
from cam.system.files import (
    exchange_folders,
    list_folder,
    move_folder,
    read_bytes,
    remove_folder,
    require_writable,
    walk_files,
    write_atomic,
)

_INDEXES = ("MEMORY.md", "ARCHIVE.md")
_DERIVED = ("project.json", "retrieval-index.json")


@dataclass(frozen=True, slots=True)
class Attached:
    """What attaching one project's memory to another did.

    Attributes:
        old: id of the project whose memory was taken.
        new: id of the project that has it now.
        records: how many records ``new`` got.
        known: how many it had already.
        renamed: refs under which records stand whose id was taken by another text.
        copy: folder in which both stand as they were before, "" where nothing was done.
        strays: worktree ids whose records are kept but belong to no worktree that is known here.
    """

    old: str
    new: str
    records: int = 0
    known: int = 0
    renamed: tuple[str, ...] = ()
    copy: str = ""
    strays: tuple[str, ...] = ()


def project_ids(root: str) -> list[str]:
    """Ids of all projects in the store, sorted."""
    folder = os.path.join(root, "projects")
    return [n for n in list_folder(folder) if not n.startswith(".") and os.path.isdir(f"{folder}/{n}")]


def project_folder(root: str, name: str) -> str:
    """The folder of a project that exists.

    Raises:
        NotFoundError: there is none of that id.
    """
    if name not in project_ids(root):
        raise NotFoundError(f"the store has no project {name!r}; 'cam project list' names them")
    return os.path.join(root, "projects", name)


def read_project(root: str, name: str) -> KnownProject:
    """What is known of a project; an empty record where nothing is, or where the file is broken."""
    try:
        data = read_bytes(os.path.join(root, "projects", name, "project.json"))
    except CamError:
        data = None
    return (parse_project(data, name) if data else None) or KnownProject(name)


def write_project(root: str, project: KnownProject) -> None:
    """Keep what is known; writes only where that is news.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    path = os.path.join(root, "projects", project.id, "project.json")
    data = render_project(project)
    if read_bytes(path) != data:
        write_atomic(path, data)


def layouts_of(root: str, name: str) -> list[StoreLayout]:
    """The project's views of the store, one per worktree that left something."""
    worktrees = list_folder(os.path.join(root, "projects", name, "locals"))
    return [StoreLayout(root, name, worktree) for worktree in worktrees or [name]]


def count_of(root: str, name: str) -> tuple[int, int]:
    """Active and archived records of the project's own scopes, in every worktree; what is read counts."""
    active = archived = 0
    for number, layout in enumerate(layouts_of(root, name)):
        own = {MemoryScope.PROJECT_LOCAL, MemoryScope.PROJECT} if number == 0 else {MemoryScope.PROJECT_LOCAL}
        count = MarkdownStore(layout).count(own)
        active, archived = active + count.active, archived + count.archived
    return active, archived


def local_records(root: str, name: str) -> dict[str, list[MemoryRecord]]:
    """What is remembered for each worktree of a project alone, by the worktree's id."""
    return {
        worktree: [
            record
            for record in MarkdownStore(StoreLayout(root, name, worktree)).snapshot().records
            if record.scope is MemoryScope.PROJECT_LOCAL
        ]
        for worktree in list_folder(os.path.join(root, "projects", name, "locals"))
    }


def has_memory(root: str, name: str) -> bool:
    """Whether the project has a topic file; asks names alone."""
    folder = os.path.join(root, "projects", name)
    places = [os.path.join(folder, "project")]
    places += [os.path.join(folder, "locals", w) for w in list_folder(os.path.join(folder, "locals"))]
    return any(
        file.endswith(".md") and file not in _INDEXES and not file.startswith(".")
        for place in places
        for path in (place, os.path.join(place, "archive"))
        for file in _names(path)
    )


def purge(root: str, name: str) -> None:
    """Take a project and everything derived from it out of the store, for good. The lock is taken.

    Raises:
        NotFoundError: there is no such project.
        StoreUnavailableError: the machine refuses.
    """
    with MarkdownStore(StoreLayout(root)).locked():
        folder = project_folder(root, name)
        remove_folder(os.path.join(root, "cache", "shadow", "projects", name))
        gone = os.path.join(root, "projects", f".{name}.{secrets.token_hex(4)}.tmp")
        move_folder(folder, gone)  # in one step: no reader meets half a project
        remove_folder(gone)


def attach(root: str, old: str, new: KnownProject, worktrees: Mapping[str, str]) -> Attached:
    """Give all that project ``old`` remembers to project ``new``; where both remember, record by record.

    Args:
        root: the store.
        old: id of a project of the store.
        new: the one that gets it; needs not be in the store yet.
        worktrees: new id of each worktree of ``old`` that is known; others keep theirs.

    Raises:
        InvalidInputError: both are the same.
        NotFoundError: ``old`` is not in the store, and was not attached before either.
        WriteRefusedError: a file of one of them is read-only; nothing was changed.
        StoreUnavailableError: the machine refuses; nothing was changed.
    """
    if old == new.id:
        raise InvalidInputError(f"{old} is this project already")
    if old not in project_ids(root) and old in read_project(root, new.id).absorbed:
        return Attached(old, new.id)
    project_folder(root, old)
    for name in (old, new.id):
        for layout in layouts_of(root, name) if name in project_ids(root) else ():
            MarkdownStore(layout).note_edits()
    with MarkdownStore(StoreLayout(root)).locked():
        folder = project_folder(root, old)

        def read() -> _Parts:
            theirs, ours = _read_to_replace(folder), _read_to_replace(os.path.join(root, "projects", new.id))
            return _Parts(theirs, ours, ours)

        merger, copy = _rebuild(root, new.id, read, lambda: _Merger(root, old, new, worktrees))
        move_folder(folder, os.path.join(copy, old))
        _renew_shadows(root, new.id)
        remove_folder(os.path.join(root, "cache", "shadow", "projects", old))
    return replace(merger.result(), copy=copy)


def adopt_worktree(root: str, project: KnownProject, worktree: str, into: str) -> Attached:
    """Give what was remembered for one worktree of a project to another one, record by record.

    Args:
        root: the store.
        project: whose worktrees they are.
        worktree: the one that is no more.
        into: the one that gets its records.

    Raises:
        NotFoundError: nothing is remembered for that worktree.
        WriteRefusedError: a file is read-only; nothing was changed.
        StoreUnavailableError: the machine refuses; nothing was changed.
    """
    home = f"locals/{worktree}/"
    others = {name: git for name, git in project.worktrees.items() if name != worktree}
    project = replace(project, worktrees=others)
    for layout in layouts_of(root, project.id):
        MarkdownStore(layout).note_edits()
    with MarkdownStore(StoreLayout(root)).locked():
        folder = project_folder(root, project.id)
        if not os.path.isdir(os.path.join(folder, home)):
            raise NotFoundError(f"nothing is remembered for a worktree {worktree!r}; see 'cam project show'")

        def read() -> _Parts:
            files = _read_to_replace(folder)
            theirs = {path: data for path, data in files.items() if path.startswith(home)}
            return _Parts(theirs, {p: data for p, data in files.items() if p not in theirs}, files)

        merger, copy = _rebuild(
            root, project.id, read, lambda: _Merger(root, worktree, project, {worktree: into}, is_whole=False)
        )
        _renew_shadows(root, project.id)
        remove_folder(os.path.join(root, "cache", "shadow", "projects", project.id, "locals", worktree))
    return replace(merger.result(), new=into, copy=copy)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What becomes one.

    Attributes:
        theirs: files that come, by path relative to a project's folder.
        ours: files that they come to.
        target: all files of the folder that is replaced.
    """

    theirs: Mapping[str, bytes]
    ours: Mapping[str, bytes]
    target: Mapping[str, bytes]


def _rebuild(
    root: str, name: str, read: Callable[[], _Parts], new_merger: "Callable[[], _Merger]"
) -> "tuple[_Merger, str]":
    """Build a project's folder anew and put it into place; the merger, and where the former one is kept."""
    target = os.path.join(root, "projects", name)
    while True:
        parts, merger = read(), new_merger()
        staged = os.path.join(root, "projects", f".{name}.{secrets.token_hex(4)}.tmp")
        try:
            for path, data in merger.merge(parts.theirs, parts.ours).items():
                write_atomic(os.path.join(staged, path), data)
        except BaseException:
            remove_folder(staged)
            raise
        was_there = exchange_folders(staged, target)
        if not was_there or _read_folder(staged) == parts.target:
            break
        exchange_folders(staged, target)  # somebody saved a file meanwhile: with that one, once more
        remove_folder(staged)
    copy = os.path.join(root, "backup", f"{_compact(now_stamp())}-{merger.transaction[-8:]}")
    if was_there:
        move_folder(staged, os.path.join(copy, name))
    return merger, copy


class _Merger:
    """Builds the files of the project that remains."""

    def __init__(
        self, root: str, old: str, new: KnownProject, worktrees: Mapping[str, str], *, is_whole: bool = True
    ) -> None:
        self._is_whole = is_whole  # a project, not one worktree of it
        self.transaction = f"{_compact(now_stamp())}-{secrets.token_hex(4)}"
        self._root, self._old, self._new, self._worktrees = root, old, new, worktrees
        self._now = now_stamp()
        self._changes: dict[str, list[Change]] = {}
        self._records = self._known = 0
        self._renamed: list[str] = []
        self._strays: list[str] = []

    def result(self) -> Attached:
        return Attached(
            self._old, self._new.id, self._records, self._known, tuple(self._renamed), "", tuple(self._strays)
        )

    def merge(self, theirs: Mapping[str, bytes], ours: Mapping[str, bytes]) -> dict[str, bytes]:
        """All files of the new folder, by path relative to it."""
        theirs = {self._placed(path): data for path, data in theirs.items()}
        files = {path: data for path, data in ours.items() if not path.endswith("retrieval-index.json")}
        taken = _records(files)
        for path, data in theirs.items():
            if os.path.basename(path) in _DERIVED or path.endswith(".tmp"):
                continue
            if _topic_of(path) is not None:
                files[path] = self._topic(path, data, files, taken)
            elif path.endswith(".jsonl"):
                files[path] = merge_lines(data, files.get(path, b""))
            elif os.path.basename(path) in _INDEXES:
                files[path] = _join_notes(files.get(path), data)
            else:
                files.setdefault(path, data)
        self._indexes(files)
        self._history(files)
        files["project.json"] = render_project(self._identity(ours))
        return files

    def _placed(self, path: str) -> str:
        parts = path.split("/")
        if parts[0] == "locals" and len(parts) > 2:
            known = self._worktrees.get(parts[1])
            if known is None and parts[1] not in self._strays:
                self._strays.append(parts[1])
            parts[1] = known or parts[1]
        return "/".join(parts)

    def _topic(
        self, path: str, data: bytes, files: Mapping[str, bytes], taken: dict[tuple[str, str], MemoryRecord]
    ) -> bytes:
        """One topic file with the other project's records in it."""
        incoming = _parse(path, data)
        place = _place(path)
        if path not in files and not any((place, r.id) in taken for r in incoming.records):
            self._records += len(incoming.records)
            return data
        key = _topic_of(path)
        assert key is not None
        scope, state, topic = key
        file = _parse(path, files[path]) if path in files else new_topic_file(scope, state, topic)
        texts = {_text(r): r for r in file.records}
        wanted: dict[str, MemoryRecord | None] = {}
        for record in incoming.records:
            twin = taken.get((place, record.id))
            twin = twin if twin is not None and _text(twin) == _text(record) else texts.get(_text(record))
            if twin is not None:
                self._known += 1
                joined = _with_sources(twin, record)
                if joined != twin and twin.state is state:
                    wanted[joined.id] = joined
                    self._note(path, joined, twin)
                continue
            name = _free_id(record.id, place, taken)
            if name != record.id:
                record = replace(record, id=name)  # noqa: PLW2901 - it goes on under the id that is free
                self._renamed.append(str(record.ref))
            taken[place, name] = record
            wanted[name] = record
            self._records += 1
            self._note(path, record, None)
        file = apply_to_topic_file(file, wanted)
        file = replace(file, sections=(*file.sections, *(s for s in incoming.sections if s.record is None)))
        return render_topic_file(_with_prelude(file, incoming))

    def _note(self, path: str, after: MemoryRecord, before: MemoryRecord | None) -> None:
        folder = os.path.dirname(path).removesuffix("/archive")
        reason = f"taken along from {'project' if self._is_whole else 'worktree'} {self._old}"
        operation = MemoryOperation(OperationKind.MERGE, after, reason, "attach")
        self._changes.setdefault(folder, []).append(Change(operation, before, after))

    def _history(self, files: dict[str, bytes]) -> None:
        machine = machine_name(self._root)
        for folder, changes in self._changes.items():
            lines = []
            for change in changes:
                after = change.after
                assert after is not None
                archive = "" if after.state is MemoryState.ACTIVE else "archive/"
                path = f"{folder}/{archive}{after.topic}.md"
                versions = {str(after.state): _parse(path, files[path]).version}
                event = event_of(change, self.transaction, self._now, versions, machine=machine)
                lines.append(render_event(event))
            name = f"{folder}/memory-history.jsonl"
            files[name] = _closed(files.get(name, b"")) + _dump(lines)
        plan = MemoryPlan(tuple(c for changes in self._changes.values() for c in changes))
        more = {"from": self._old, "to": self._new.id, "records": self._records, "known": self._known}
        line = render_audit(at=self._now, kind="attach", actor="user", plan=plan, more=more)
        name = "audit/sync-log.jsonl"
        files[name] = _closed(files.get(name, b"")) + _dump([line])

    def _indexes(self, files: dict[str, bytes]) -> None:
        counts: dict[tuple[str, MemoryScope, MemoryState], dict[str, int]] = {}
        for path, data in files.items():
            key = _topic_of(path)
            if key is not None:
                scope, state, topic = key
                folder = os.path.dirname(path)
                counts.setdefault((folder, scope, state), {})[topic] = len(_parse(path, data).records)
        for (folder, scope, state), topics in counts.items():
            name = f"{folder}/{'MEMORY.md' if state is MemoryState.ACTIVE else 'ARCHIVE.md'}"
            files[name] = update_index(files.get(name, b""), scope, state, topics)

    def _identity(self, ours: Mapping[str, bytes]) -> KnownProject:
        if not self._is_whole:
            return self._new
        before = parse_project(ours.get("project.json", b""), self._new.id) or KnownProject(self._new.id)
        old = read_project(self._root, self._old)
        roots = (*before.former_roots, *old.former_roots, old.root)
        roots = tuple(dict.fromkeys(r for r in roots if r and r != self._new.root))
        absorbed = tuple(dict.fromkeys((*before.absorbed, *old.absorbed, self._old)))
        return replace(self._new, absorbed=absorbed, former_roots=roots)


def renamed_worktrees(root: str, old: str, new: KnownProject) -> dict[str, str]:
    """The id in ``new`` of each worktree of ``old``, as far as that is certain.

    The main worktree is the one whose id ends as the project's does; others are known by the place of their
    git folder below the common one.
    """
    before = read_project(root, old)
    main = next((w for w, git in new.worktrees.items() if git == new.common_dir), None)
    if main is None:
        main = next((w for w in new.worktrees if w.rpartition("-")[2] == new.id.rpartition("-")[2]), None)
    by_place = {_inside(git, new.common_dir): w for w, git in new.worktrees.items() if git}
    found: dict[str, str] = {}
    for worktree in list_folder(os.path.join(root, "projects", old, "locals")):
        git = before.worktrees.get(worktree, "")
        if worktree in new.worktrees:
            found[worktree] = worktree
        elif worktree.rpartition("-")[2] == old.rpartition("-")[2]:
            if main is not None:
                found[worktree] = main
        elif git and (place := _inside(git, before.common_dir)) is not None:
            # A linked worktree stays where it was when the main one moves; its git folder moves along.
            name = worktree.rpartition("-")[0]
            found[worktree] = by_place.get(place) or f"{name}-{short_hash(f'{new.common_dir}/{place}')}"
    return found


def _inside(path: str, folder: str) -> str | None:
    return path[len(folder) + 1 :] if folder and path.startswith(f"{folder}/") else None


def _renew_shadows(root: str, name: str) -> None:
    """The copies that tell a hand edit from our own writing, made anew from what stands there now."""
    for layout in layouts_of(root, name):
        for path, data in _read_folder(layout.project_folder).items():
            key = _topic_of(path)
            local = key is not None and key[0] is MemoryScope.PROJECT_LOCAL
            if key is not None and (not local or path.startswith(f"locals/{layout.worktree}/")):
                write_shadow(layout, layout.topic_file(*key), data)


def _read_folder(folder: str) -> dict[str, bytes]:
    files = {}
    for path in walk_files(folder):
        data = read_bytes(os.path.join(folder, path))
        if data is not None:
            files[path] = data
    return files


def _read_to_replace(folder: str) -> dict[str, bytes]:
    """``_read_folder``, refused where a file is read-only: in a folder built anew it would not be."""
    files = _read_folder(folder)
    for path in files:
        require_writable(os.path.join(folder, path))
    return files


def _names(path: str) -> list[str]:
    try:
        return list_folder(path)
    except CamError:
        return []


def _topic_of(path: str) -> tuple[MemoryScope, MemoryState, str] | None:
    """Scope, state and topic of a topic file by its path in the project's folder."""
    folder, name = os.path.split(path)
    if not name.endswith(".md") or name.startswith(".") or name in _INDEXES:
        return None
    state = MemoryState.ARCHIVED if os.path.basename(folder) == "archive" else MemoryState.ACTIVE
    place = folder.removesuffix("/archive")
    if place == "project":
        return MemoryScope.PROJECT, state, name[:-3]
    if place.startswith("locals/") and place.count("/") == 1:
        return MemoryScope.PROJECT_LOCAL, state, name[:-3]
    return None


def _place(path: str) -> str:
    """Where ids must differ: a scope's folder and topic, whatever the state."""
    folder, name = os.path.split(path)
    return f"{folder.removesuffix('/archive')}/{name}"


def _parse(path: str, data: bytes) -> TopicFile:
    key = _topic_of(path)
    assert key is not None
    scope, state, topic = key
    return parse_topic_file(data, path=path, scope=scope, state=state, topic=topic)


def _records(files: Mapping[str, bytes]) -> dict[tuple[str, str], MemoryRecord]:
    return {
        (_place(path), record.id): record
        for path, data in files.items()
        if _topic_of(path) is not None
        for record in _parse(path, data).records
    }


def _text(record: MemoryRecord) -> tuple[str, tuple[str, ...]]:
    return normal(record.summary), record.details


def _with_sources(record: MemoryRecord, other: MemoryRecord) -> MemoryRecord:
    for source in other.sources:
        record = record.with_source(source)
    return record


def _free_id(name: str, place: str, taken: Mapping[tuple[str, str], MemoryRecord]) -> str:
    free, n = name, 1
    while (place, free) in taken:
        n += 1
        free = f"{name}-{n}"
    return free


def _with_prelude(file: TopicFile, other: TopicFile) -> TopicFile:
    """The file with what a person wrote above the other's first section, unless it stands here already."""
    here = set(file.prelude.splitlines())
    title = new_topic_file(file.scope, file.state, file.topic).prelude.strip()
    new = [line for line in other.prelude.splitlines() if line.strip() and line not in (*here, title)]
    new = [line for line in new if not line.startswith("<!-- cam:")]
    if not new:
        return file
    prelude = file.prelude if file.prelude.endswith("\n") or not file.prelude else file.prelude + file.newline
    return replace(file, prelude=prelude + "".join(line + file.newline for line in new))


def _join_notes(ours: bytes | None, theirs: bytes) -> bytes:
    """MEMORY.md with what a person wrote in the other's one; counts are renewed afterwards."""
    if ours is None:
        return theirs
    notes = person_text(theirs.decode("utf-8", "surrogateescape"))
    if not notes or notes in ours.decode("utf-8", "surrogateescape"):
        return ours
    return _closed(ours) + b"\n" + notes.encode("utf-8", "surrogateescape") + b"\n"


def _closed(data: bytes) -> bytes:
    return data if not data or data.endswith(b"\n") else data + b"\n"


def _dump(lines: Iterable[str]) -> bytes:
    return b"".join(line.encode("utf-8", "backslashreplace") + b"\n" for line in lines)


def _compact(stamp: str) -> str:
    return stamp[:19].replace("-", "").replace(":", "")


def known_projects(root: str) -> Iterator[KnownProject]:
    """What is known of every project, sorted by id."""
    for name in project_ids(root):
        yield read_project(root, name)
