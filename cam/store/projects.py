"""Projects as the store holds them: who they are, what they remember, and how two become one.

Attaching is built aside as a whole folder and put into place in one step; what stood in both places before
is kept below ``backup``. A crash leaves the old state or the new one, and a repeat does nothing twice.
"""

import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cam.core.errors import CamError, InvalidInputError, NotFoundError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind
from cam.core.records import MemoryRecord, MemoryScope
from cam.core.tombstones import normal
from cam.formats.memory_index import person_text, with_note
from cam.formats.project_file import KnownProject, parse_project, render_project
from cam.formats.topic_file import (
    TopicFile,
    apply_to_topic_file,
    new_topic_file,
    render_topic_file,
)
from cam.store.attached import TAKEN_ALONG, copy_folder, note_attached
from cam.store.git_merge import merge_lines
from cam.store.identity import short_hash
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, commit_to_git
from cam.store.project_folder import (
    INDEXES,
    Built,
    layouts_of,
    log_changes,
    parsed,
    read_to_replace,
    renew_indexes,
    renew_shadows,
    replace_folder,
    topic_of,
)
from cam.store.transaction import transaction_name
from cam.system.clock import now_stamp
from cam.system.files import list_folder, move_folder, read_bytes, remove_folder, write_atomic

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
        file.endswith(".md") and file not in INDEXES and not file.startswith(".")
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
    transaction, tries = transaction_name(now_stamp()), list[_Merger]()
    copy = copy_folder(root, transaction)
    for name in (old, new.id):
        for layout in layouts_of(root, name) if name in project_ids(root) else ():
            MarkdownStore(layout).note_edits()
    with MarkdownStore(StoreLayout(root)).locked():
        folder = project_folder(root, old)

        def build() -> Built:
            ours = read_to_replace(os.path.join(root, "projects", new.id))
            tries.append(_Merger(root, transaction, old, new, worktrees))
            return Built(tries[-1].merge(read_to_replace(folder), ours), ours)

        replace_folder(root, new.id, build, copy)
        move_folder(folder, os.path.join(copy, old))
        renew_shadows(root, new.id)
        remove_folder(os.path.join(root, "cache", "shadow", "projects", old))
        commit_to_git(root, tries[-1].plan)
    return replace(tries[-1].result(), copy=copy)


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
    transaction, tries = transaction_name(now_stamp()), list[_Merger]()
    copy = copy_folder(root, transaction)
    for layout in layouts_of(root, project.id):
        MarkdownStore(layout).note_edits()
    with MarkdownStore(StoreLayout(root)).locked():
        folder = project_folder(root, project.id)
        if not os.path.isdir(os.path.join(folder, home)):
            raise NotFoundError(f"nothing is remembered for a worktree {worktree!r}; see 'cam project show'")

        def build() -> Built:
            files = read_to_replace(folder)
            theirs = {path: data for path, data in files.items() if path.startswith(home)}
            ours = {path: data for path, data in files.items() if path not in theirs}
            places = {worktree: into}
            tries.append(_Merger(root, transaction, worktree, project, places, is_whole=False))
            return Built(tries[-1].merge(theirs, ours), files)

        replace_folder(root, project.id, build, copy)
        renew_shadows(root, project.id)
        remove_folder(os.path.join(root, "cache", "shadow", "projects", project.id, "locals", worktree))
        commit_to_git(root, tries[-1].plan)
    return replace(tries[-1].result(), new=into, copy=copy)


class _Merger:
    """Builds the files of the project that remains."""

    def __init__(
        self,
        root: str,
        transaction: str,
        old: str,
        new: KnownProject,
        worktrees: Mapping[str, str],
        *,
        is_whole: bool = True,
    ) -> None:
        self.plan = MemoryPlan()  # what the last merge did
        self._is_whole = is_whole  # a project, not one worktree of it
        self._transaction = transaction
        self._root, self._old, self._new, self._worktrees = root, old, new, worktrees
        self._now = now_stamp()
        self._changes: dict[str, list[Change]] = {}
        self._notes: dict[str, str] = {}
        self._twins: list[tuple[str, MemoryRecord]] = []
        self._records = self._known = 0
        self._renamed: list[str] = []
        self._strays: list[str] = []

    def result(self) -> Attached:
        return Attached(
            self._old, self._new.id, self._records, self._known, tuple(self._renamed), "", tuple(self._strays)
        )

    def merge(self, theirs: Mapping[str, bytes], ours: Mapping[str, bytes]) -> dict[str, bytes]:
        """All files of the new folder, by path relative to it; what they are is noted, for the way back.

        Args:
            theirs: files that come, by path relative to a project's folder.
            ours: files that they come to.
        """
        theirs = {self._placed(path): data for path, data in theirs.items()}
        files = {path: data for path, data in ours.items() if not path.endswith("retrieval-index.json")}
        taken = _records(files)
        for path, data in theirs.items():
            if os.path.basename(path) in _DERIVED or path.endswith(".tmp"):
                continue
            if topic_of(path) is not None:
                files[path] = self._topic(path, data, files, taken)
            elif path.endswith(".jsonl"):
                files[path] = merge_lines(data, files.get(path, b""))
            elif os.path.basename(path) in INDEXES:
                files[path] = self._joined(path, files.get(path), data)
            else:
                files.setdefault(path, data)
        if not self._changes:  # that all of it was known is told too: it can be taken back
            for path, twin in self._twins:
                self._note(path, twin, twin)
        renew_indexes(files)
        more = {"from": self._old, "to": self._new.id, "records": self._records, "known": self._known}
        self.plan = log_changes(self._root, files, self._changes, self._transaction, "attach", more)
        files["project.json"] = render_project(self._identity(ours))
        names = (self._transaction, self._old, self._new.id)
        note_attached(self._root, *names, files, self._notes, is_whole=self._is_whole)
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
        incoming = parsed(path, data)
        place = _place(path)
        if path not in files and not any((place, r.id) in taken for r in incoming.records):
            self._records += len(incoming.records)
            for record in incoming.records:
                self._note(path, record, None)
            return data
        key = topic_of(path)
        assert key is not None
        scope, state, topic = key
        file = parsed(path, files[path]) if path in files else new_topic_file(scope, state, topic)
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
                else:
                    self._twins.append((path, twin))
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
        file = file._replace(sections=(*file.sections, *(s for s in incoming.sections if s.record is None)))
        return render_topic_file(_with_prelude(file, incoming))

    def _joined(self, path: str, ours: bytes | None, theirs: bytes) -> bytes:
        """An index with what a person wrote in the other's one; counts are renewed afterwards."""
        notes = person_text(theirs.decode("utf-8", "surrogateescape"))
        joined = theirs if ours is None else with_note(ours, notes)
        if notes and joined != ours:
            self._notes[path] = notes
        return joined

    def _note(self, path: str, after: MemoryRecord, before: MemoryRecord | None) -> None:
        folder = os.path.dirname(path).removesuffix("/archive")
        reason = f"{TAKEN_ALONG}{'project' if self._is_whole else 'worktree'} {self._old}"
        operation = MemoryOperation(OperationKind.MERGE, after, reason, "attach")
        self._changes.setdefault(folder, []).append(Change(operation, before, after))

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


def _names(path: str) -> list[str]:
    try:
        return list_folder(path)
    except CamError:
        return []


def _place(path: str) -> str:
    """Where ids must differ: a scope's folder and topic, whatever the state."""
    folder, name = os.path.split(path)
    return f"{folder.removesuffix('/archive')}/{name}"


def _records(files: Mapping[str, bytes]) -> dict[tuple[str, str], MemoryRecord]:
    return {
        (_place(path), record.id): record
        for path, data in files.items()
        if topic_of(path) is not None
        for record in parsed(path, data).records
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
    return file._replace(prelude=prelude + "".join(line + file.newline for line in new))


def known_projects(root: str) -> Iterator[KnownProject]:
    """What is known of every project, sorted by id."""
    for name in project_ids(root):
        yield read_project(root, name)
