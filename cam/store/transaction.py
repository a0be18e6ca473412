"""A transaction: what one commit does, as data that can be carried out again after a crash.

A commit is staged first: every new file is written beside its place and made durable, so that a full disk or
a file that cannot be read refuses the commit while nothing has happened. The journal file is the commit
point. After it files are exchanged and lines appended. A recovery does not trust what was staged: it repeats
the transaction logically (records, lines) from whatever state it finds, so a hand edit made between the
crash and the recovery is merged, not overwritten.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any

from cam.core.errors import CamError, InvalidInputError, StoreUnavailableError
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, is_topic
from cam.formats.file_step import FileStep, file_step, step_from_data, step_to_data
from cam.formats.history import HistoryEvent, event_of, form_from_data, form_to_data, render_event
from cam.formats.json_line import dump_line
from cam.formats.memory_index import NO_EDIT, NoteEdit, counts_in_index, update_index
from cam.formats.record_data import record_from_data, record_to_data
from cam.formats.topic_file import (
    Form,
    TopicFile,
    apply_to_topic_file,
    form_of,
    new_topic_file,
    parse_topic_file,
    render_topic_file,
)
from cam.store import limits
from cam.store.layout import StoreLayout
from cam.store.owed_notes import lost_notes, owe_note
from cam.store.shadow import read_shadow, shadow_file, write_shadow
from cam.store.topics import Topic, TopicKey, interpret, read_topic, topic_names
from cam.system.clock import compact, now_stamp
from cam.system.files import (
    append_to_log,
    exchange,
    read_bytes,
    require_place,
    require_writable,
    stage_file,
    tail_holds,
    take_away,
    unlink_quietly,
)

RecordPair = tuple[MemoryRecord | None, MemoryRecord | None]
Wanted = Mapping[str, MemoryRecord | None]

_MERGES = 50
"""Times that an editor may save between two steps of one commit before we give up."""


@dataclass(frozen=True, slots=True)
class Back:
    """What is known of the state that a commit brings back, from the history of what it takes back.

    Attributes:
        files: steps by path relative to the root.
        forms: how the records stood, by topic file and id.
    """

    files: Mapping[str, FileStep] = field(default_factory=dict)
    forms: Mapping[tuple[TopicKey, str], Form] = field(default_factory=dict)

    def forms_in(self, key: TopicKey) -> dict[str, Form]:
        """Forms of one topic file, by id."""
        return {name: form for (home, name), form in self.forms.items() if home == key}


NOTHING = Back()
"""A commit that brings nothing back."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """One commit.

    Attributes:
        id: unique.
        project: ids of the project and worktree it belongs to, None outside one.
        changes: each record before and after.
        appends: (path relative to the root, line).
        files: whole new content by path relative to the root.
        back: what it brings back.
        noted: topic files whose hand edits are noted and that get nothing else, each with the hashes of its
            bytes before and after, "" where it is gone.
        notes: what becomes of a person's part of MEMORY.md, by scope.
    """

    id: str
    project: str | None
    worktree: str | None
    changes: tuple[RecordPair, ...] = ()
    appends: tuple[tuple[str, str], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    back: Back = NOTHING
    noted: tuple[tuple[TopicKey, tuple[str, ...]], ...] = ()
    notes: Mapping[MemoryScope, NoteEdit] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """The journal file's bytes."""
        data = {
            "id": self.id,
            "project": self.project,
            "worktree": self.worktree,
            "changes": [[_data(b), _data(a)] for b, a in self.changes],
            "appends": [list(a) for a in self.appends],
            "files": dict(self.files),
            "back": _back_to_data(self.back),
            "noted": [[*map(str, key), *digests] for key, digests in self.noted],
            "notes": {str(scope): [*edit] for scope, edit in self.notes.items()},
        }
        return dump_line(data).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Transaction":
        """Read a journal file.

        Raises:
            ValueError: it is not whole.
        """
        try:
            raw = json.loads(data)
            return cls(
                raw["id"],
                raw["project"],
                raw["worktree"],
                tuple((_record(b), _record(a)) for b, a in raw["changes"]),
                tuple((path, line) for path, line in raw["appends"]),
                raw["files"],
                _back_from_data(raw.get("back", {})),
                tuple(
                    ((MemoryScope(scope), MemoryState(state), topic), tuple(digests))
                    for scope, state, topic, *digests in raw.get("noted", ())
                ),
                {MemoryScope(scope): NoteEdit(*edit) for scope, edit in raw.get("notes", {}).items()},
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a journal: {error}") from None


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it shall be.

    Attributes:
        path: its place.
        data: its bytes, None if it goes.
        old: the bytes it was made from, None if there was none.
        key: which topic file it is, None for an index or another file.
        index: whose MEMORY.md or ARCHIVE.md it is, None for any other file.
        version: version of a topic file that cam's records are in, None where there is none.
        wanted: records that were put in, by id.
        count: how many records a topic file holds.
        is_exact: whether the bytes are those from before what the commit takes back.
        temporary: where it is staged, "" if it is not.
        note: what becomes of a person's part of an index.
    """

    path: str
    data: bytes | None
    old: bytes | None = None
    key: TopicKey | None = None
    index: tuple[MemoryScope, MemoryState] | None = None
    version: str | None = None
    wanted: Wanted = field(default_factory=dict)
    count: int = 0
    is_exact: bool = False
    temporary: str = ""
    note: NoteEdit = NO_EDIT


def transaction_name(at: str) -> str:
    """A name for a transaction of ``at`` (ISO-8601 UTC): unique, and sorting by time."""
    return f"{compact(at)}-{os.urandom(4).hex()}"


def touched(changes: Iterable[RecordPair]) -> dict[TopicKey, dict[str, MemoryRecord | None]]:
    """What ``changes`` put into and take out of each topic file.

    Files that get records come first, files that only lose some last: a reader in between sees a moved
    record twice, never not at all.
    """
    found: dict[TopicKey, dict[str, MemoryRecord | None]] = {}
    for before, after in changes:
        if before is not None:
            found.setdefault((before.scope, before.state, before.topic), {}).setdefault(before.id, None)
        if after is not None:
            found.setdefault((after.scope, after.state, after.topic), {})[after.id] = after
    return dict(sorted(found.items(), key=lambda item: all(r is None for r in item[1].values())))


def back_from(layout: StoreLayout, events: Iterable[HistoryEvent]) -> Back:
    """What the history tells of the state before ``events``, which are all of one transaction."""
    files: dict[str, FileStep] = {}
    forms: dict[tuple[TopicKey, str], Form] = {}
    for event in events:
        scope = MemoryScope(event.ref.partition(":")[0])
        for step in event.files:
            files[os.path.relpath(f"{layout.scope_folder(scope)}/{step.path}", layout.root)] = step
        if event.before is not None and event.form is not None:
            record = event.before
            forms[(record.scope, record.state, record.topic), record.id] = event.form
    return Back(files, forms)


def new_topic(
    layout: StoreLayout, topic: Topic, key: TopicKey, wanted: Wanted, back: Back = NOTHING
) -> NewFile:
    """The topic file with ``wanted`` put in.

    Where ``back`` knows the very bytes that hold just these records, it gets those.

    Raises:
        InvalidInputError: the file would grow beyond what is read of one.
        ValueError: it would not read back as written.
    """
    changed = apply_to_topic_file(topic.file or new_topic_file(*key), wanted, back.forms_in(key))
    data = _bytes_of(changed, key)
    if data and len(data) > max(limits.MAX_FILE_BYTES, len(topic.raw or b"")):
        raise InvalidInputError(
            f"{topic.path} would have {len(data):,} bytes; at most {limits.MAX_FILE_BYTES:,} of a topic are"
            " searched: spread the records over more topics"
        )
    if not data and topic.raw is None:
        data = None  # a file that is gone stays gone
    is_exact, exact = _taken_back(back.files.get(os.path.relpath(topic.path, layout.root)), topic.raw)
    if is_exact:
        read = parse_topic_file(exact or b"", path="", scope=key[0], state=key[1], topic=key[2])
        is_exact = {r.id: r for r in read.records} == {r.id: r for r in changed.records}
        changed, data = (read, exact) if is_exact else (changed, data)
    version, count = changed.version, len(changed.records)
    return NewFile(topic.path, data, topic.raw, key, None, version, wanted, count, is_exact)


def new_indexes(
    layout: StoreLayout,
    files: Iterable[NewFile],
    back: Back = NOTHING,
    notes: Mapping[MemoryScope, NoteEdit] | None = None,
) -> list[NewFile]:
    """MEMORY.md and ARCHIVE.md of the folders that ``files`` are in, the unchanged ones too.

    Args:
        layout: of the store.
        files: topic files as they shall be.
        back: what is known of the state that the commit brings back.
        notes: what becomes of a person's part of MEMORY.md, by scope.

    Raises:
        IntegrityError: not a regular file.
        StoreUnavailableError: the machine refuses.
    """
    folders: dict[tuple[MemoryScope, MemoryState], dict[str, NewFile]] = {}
    for file in files:
        if file.key is not None:
            scope, state, topic = file.key
            folders.setdefault((scope, state), {})[topic] = file
    indexes = []
    notes = notes or {}
    for scope in notes:
        folders.setdefault((scope, MemoryState.ACTIVE), {})
    for (scope, state), inside in folders.items():
        path = layout.index_file(scope, state)
        old = read_bytes(path)
        is_exact, data = _taken_back(back.files.get(os.path.relpath(path, layout.root)), old)
        if not (is_exact and all(file.is_exact for file in inside.values())):
            changed = {topic: file.count for topic, file in inside.items()}
            data = update_index(old or b"", scope, state, _counts(layout, scope, state, old or b"", changed))
        note = notes.get(scope, NO_EDIT) if state is MemoryState.ACTIVE else NO_EDIT
        lost = lost_notes(layout, path, old or b"") if old is not None and not is_exact else ""
        note = note._replace(added="\n\n".join(text for text in (lost, note.added) if text))
        data = note.apply(data) if data is not None else None
        indexes.append(NewFile(path, data, old, index=(scope, state), note=note))
    return indexes


def steps_of(layout: StoreLayout, files: Iterable[NewFile]) -> dict[MemoryScope, tuple[FileStep, ...]]:
    """What the commit does to each Markdown file, by scope."""
    found: dict[MemoryScope, tuple[FileStep, ...]] = {}
    folders = {scope: layout.scope_folder(scope) for scope in layout.scopes}
    for file in files:
        for scope, folder in folders.items():
            if file.path.startswith(f"{folder}/"):
                step = file_step(os.path.relpath(file.path, folder), file.old, file.data)
                found[scope] = (*found.get(scope, ()), step)
    return found


def check_places(files: Iterable[NewFile], transaction: Transaction, layout: StoreLayout) -> None:
    """Refuse what could not be carried out to its end; to be asked before anything is written.

    Raises:
        IntegrityError: where a file belongs stands something else, or no folder around it.
        WriteRefusedError: a file that it changes is read-only.
        StoreUnavailableError: the machine refuses.
    """
    for file in files:
        (require_place if file.data == file.old else require_writable)(file.path)
        require_writable(shadow_file(layout, file.path))
    for path in (*transaction.files, *dict(transaction.appends)):
        require_writable(f"{layout.root}/{path}")


def digest_of(data: bytes | None) -> str:
    """What names a file's bytes in the journal, "" where it is gone."""
    return "" if data is None else sha256(data).hexdigest()


def stage(files: Iterable[NewFile], tag: str) -> list[NewFile]:
    """Write new files beside their places; nothing that is read changes.

    Raises:
        IntegrityError: something that is no regular file stands in the way.
        StoreUnavailableError: the machine refuses; what was staged is gone again.
    """
    staged: list[NewFile] = []
    try:
        for file in files:
            done = (
                file if file.data is None else replace(file, temporary=stage_file(file.path, file.data, tag))
            )
            staged.append(done)
    except BaseException:
        unstage(staged)
        raise
    return staged


def unstage(files: Iterable[NewFile]) -> None:
    """Take away what was staged and will not be used."""
    for file in files:
        if file.temporary:
            unlink_quietly(file.temporary)


def carry_out(files: Iterable[NewFile], appends: Iterable[tuple[str, str]], layout: StoreLayout) -> None:
    """Put what was staged into place and append the lines.

    Raises:
        StoreUnavailableError: the machine refuses; the next recovery does the rest.
    """
    merged: list[tuple[str, str]] = []
    for file in files:
        if file.key is None and file.index is None:
            _put(file)
        else:
            merged += _put_merged(file, layout)
    for path, lines in groupby((*appends, *merged), key=itemgetter(0)):
        # One write and one fsync for a log, however many lines it gets.
        append_to_log(f"{layout.root}/{path}", "\n".join(line for _, line in lines))


def repeat(transaction: Transaction, root: str) -> None:
    """Bring the store to the state after ``transaction``, however far an earlier try came.

    Raises:
        StoreUnavailableError: the machine refuses; what is missing is done at the next recovery.
    """
    layout = StoreLayout(root, transaction.project, transaction.worktree)
    back = transaction.back
    topics = [
        new_topic(layout, read_topic(layout, key), key, wanted, back)
        for key, wanted in touched(transaction.changes).items()
    ]
    counted = list(topics)
    for key, digests in transaction.noted:
        topic = read_topic(layout, key)
        file = new_topic(layout, topic, key, {}, back)
        counted.append(file)
        topics += [file] if digest_of(topic.raw) in digests else []  # what was edited since is noted later
    for scope, edit in transaction.notes.items():
        owe_note(layout, layout.index_file(scope), edit)
    indexes = new_indexes(layout, counted, back, transaction.notes)
    indexes = [file for file in indexes if file.data != file.old]
    others = [NewFile(f"{root}/{path}", text.encode()) for path, text in transaction.files.items()]
    staged = stage([*topics, *indexes, *others], transaction.id)
    appends = [(p, line) for p, line in transaction.appends if not tail_holds(f"{root}/{p}", line)]
    carry_out(staged, appends, layout)


def _put(file: NewFile) -> bytes | None:
    """Put a file into place and return what was there, None if nothing was."""
    if file.data is None:
        return take_away(file.path)
    return exchange(file.temporary, file.path)


def _put_merged(file: NewFile, layout: StoreLayout) -> list[tuple[str, str]]:
    """Put a file into place; what an editor saved there a moment ago is merged, not lost.

    Three ways: from the bytes that ours were made from, ours and theirs. Ours are what is there now, so
    whatever is saved while we merge finds them, and the next round merges that.

    Returns:
        Lines for the history that tell of what was merged: an editor that opened the file before that was in
        it, and saves later, must not take it away.
    """
    lines: list[tuple[str, str]] = []
    for number in range(_MERGES):
        found = _put(file)
        write_shadow(layout, file.path, file.data)
        if found == file.old or found is None:
            return lines
        if file.key is None:
            merged = _with_index(file, found)
        else:
            merged = _with_topic(file, file.key, found, layout)
            lines += _told(merged, file.key, layout)
        (file,) = stage([merged], f"merge{number}")
    kept = f"{file.path}.unmerged"
    with contextlib.suppress(OSError):
        os.replace(file.temporary, kept)
    raise StoreUnavailableError(
        f"{file.path} is being written again and again; close what writes it. What it saved last is in {kept}"
    )


def _with_index(file: NewFile, found: bytes) -> NewFile:
    """Our block in the text that a person saved, in place of what we wrote."""
    assert file.index is not None
    data = update_index(found, *file.index, counts_in_index(file.data or b""))
    return replace(file, data=file.note.apply(data), old=file.data)


def _with_topic(file: NewFile, key: TopicKey, found: bytes, layout: StoreLayout) -> NewFile:
    """Our records and those that a person saved, in place of what we wrote."""
    base, ours = (_plain(data, key) for data in (file.old, file.data))
    theirs = interpret(layout, key, found).file or _plain(found, key)
    wanted = {**file.wanted, **_differences(base, ours)}
    forms = {name: form for name in wanted if (form := form_of(ours, name)) is not None}
    merged = apply_to_topic_file(theirs, wanted, forms)
    return replace(file, data=_bytes_of(merged, key), old=file.data, count=len(merged.records))


def _told(merged: NewFile, key: TopicKey, layout: StoreLayout) -> list[tuple[str, str]]:
    """Lines for the history: what people did that was merged into what we wrote."""
    from cam.store.machine import machine_name  # noqa: PLC0415 - a merge is rare
    from cam.store.reconcile import edits_between  # noqa: PLC0415

    scope, state, _ = key
    file = _plain(merged.data, key)
    now, versions = now_stamp(), {str(state): file.version}
    name, machine = transaction_name(now), machine_name(layout.root)
    project = (layout.project or "") if scope is MemoryScope.GLOBAL else ""
    steps = steps_of(layout, [merged]).get(scope, ())
    lines = []
    for change in edits_between(_plain(merged.old, key), file):
        event = event_of(change, name, now, versions, None, steps, project, machine)
        lines.append((os.path.relpath(layout.history_file(scope), layout.root), render_event(event)))
        steps = ()
    return lines


def _bytes_of(file: TopicFile, key: TopicKey) -> bytes | None:
    """A topic file's bytes; None if nothing is in it but the title that cam gave it."""
    data = render_topic_file(file)
    is_empty = not file.sections and data.strip() == render_topic_file(new_topic_file(*key)).strip()
    return None if is_empty else data


def _plain(data: bytes | None, key: TopicKey) -> TopicFile:
    scope, state, topic = key
    return parse_topic_file(data or b"", path="", scope=scope, state=state, topic=topic)


def _differences(base: TopicFile, ours: TopicFile) -> dict[str, MemoryRecord | None]:
    before, after = ({r.id: r for r in file.records} for file in (base, ours))
    return {n: after.get(n) for n in {**before, **after} if before.get(n) != after.get(n)}


def _taken_back(step: FileStep | None, data: bytes | None) -> tuple[bool, bytes | None]:
    """Whether ``data`` can be taken back by ``step`` byte for byte (or is already), and the bytes then."""
    if step is None:
        return False, None
    if step.fits(data):
        with contextlib.suppress(ValueError):
            return True, step.take_back(data)
    return step.is_taken_back(data), data


def _back_to_data(back: Back) -> dict[str, Any]:
    return {
        "files": {path: step_to_data(step) for path, step in back.files.items()},
        "forms": [[*map(str, key), name, form_to_data(form)] for (key, name), form in back.forms.items()],
    }


def _back_from_data(data: Mapping[str, Any]) -> Back:
    return Back(
        {path: step_from_data(step) for path, step in data.get("files", {}).items()},
        {
            ((MemoryScope(scope), MemoryState(state), topic), name): form_from_data(form)
            for scope, state, topic, name, form in data.get("forms", ())
        },
    )


def _data(record: MemoryRecord | None) -> dict[str, Any] | None:
    return None if record is None else record_to_data(record)


def _record(data: dict[str, Any] | None) -> MemoryRecord | None:
    return None if data is None else record_from_data(data)


def _counts(
    layout: StoreLayout, scope: MemoryScope, state: MemoryState, index: bytes, changed: Mapping[str, int]
) -> dict[str, int]:
    """Records per topic; of topics that did not change as the index has them, if it is as cam left it.

    One that was saved over may tell of long ago: then all topics are read.
    """
    path = layout.index_file(scope, state)
    known = counts_in_index(index) if read_shadow(layout, path) == index else {}
    counts = {}
    for topic in {*topic_names(layout, scope, state), *changed}:
        if topic in changed:
            counts[topic] = changed[topic]
        elif topic in known:
            counts[topic] = known[topic]
        elif is_topic(topic):
            with contextlib.suppress(CamError):  # a file that cannot be read is a problem elsewhere
                file = read_topic(layout, (scope, state, topic)).file
                counts[topic] = len(file.records) if file else 0
    return counts
