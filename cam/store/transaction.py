"""A transaction: what one commit does, as data that can be carried out again after a crash.

A commit is staged first: every new file is written beside its place and made durable, so that a full disk or
a file that cannot be read refuses the commit while nothing has happened. The journal file is the commit
point. After it files are exchanged and lines appended. A recovery does not trust what was staged: it repeats
the transaction logically (records, lines) from whatever state it finds, so a hand edit made between the
crash and the recovery is merged, not overwritten.
"""

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cam.core.errors import CamError
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, is_topic
from cam.formats.history import dump_line
from cam.formats.memory_index import counts_in_index, update_index
from cam.formats.topic_file import (
    apply_to_topic_file,
    new_topic_file,
    record_from_data,
    record_to_data,
    render_topic_file,
)
from cam.store.layout import StoreLayout
from cam.store.topics import Topic, TopicKey, interpret, read_topic, topic_names, write_shadow
from cam.system.files import (
    append_line,
    exchange,
    read_bytes,
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
class Transaction:
    """One commit.

    Attributes:
        id: unique.
        project: ids of the project and worktree it belongs to, None outside one.
        changes: each record before and after.
        appends: (path relative to the root, line).
        files: whole new content by path relative to the root.
    """

    id: str
    project: str | None
    worktree: str | None
    changes: tuple[RecordPair, ...] = ()
    appends: tuple[tuple[str, str], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """The journal file's bytes."""
        data = {
            "id": self.id,
            "project": self.project,
            "worktree": self.worktree,
            "changes": [[_data(b), _data(a)] for b, a in self.changes],
            "appends": [list(a) for a in self.appends],
            "files": dict(self.files),
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
        version: version of a topic file that cam's records are in, None where there is none.
        wanted: records that were put in, by id.
        count: how many records a topic file holds.
        temporary: where it is staged, "" if it is not.
    """

    path: str
    data: bytes | None
    old: bytes | None = None
    key: TopicKey | None = None
    version: str | None = None
    wanted: Wanted = field(default_factory=dict)
    count: int = 0
    temporary: str = ""


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


def new_topic(topic: Topic, key: TopicKey, wanted: Wanted) -> NewFile:
    """The topic file with ``wanted`` put in.

    Raises:
        ValueError: it would not read back as written.
    """
    empty = new_topic_file(*key)
    changed = apply_to_topic_file(topic.file or empty, wanted)
    data: bytes | None = render_topic_file(changed)
    if not changed.sections and data is not None and data.strip() == render_topic_file(empty).strip():
        data = None
    return NewFile(topic.path, data, topic.raw, key, changed.version, wanted, len(changed.records))


def new_indexes(layout: StoreLayout, files: Iterable[NewFile]) -> list[NewFile]:
    """MEMORY.md and ARCHIVE.md of the folders that ``files`` are in.

    Raises:
        IntegrityError: not a regular file.
        StoreUnavailableError: the machine refuses.
    """
    counts: dict[tuple[MemoryScope, MemoryState], dict[str, int]] = {}
    for file in files:
        if file.key is not None:
            scope, state, topic = file.key
            counts.setdefault((scope, state), {})[topic] = file.count
    indexes = []
    for (scope, state), changed in counts.items():
        path = layout.index_file(scope, state)
        old = read_bytes(path)
        data = update_index(old or b"", scope, state, _counts(layout, scope, state, old or b"", changed))
        if data != old:
            indexes.append(NewFile(path, data, old))
    return indexes


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
    for file in files:
        if file.key is None:
            _put(file)
        else:
            _put_topic(file, file.key, layout)
    for path, line in appends:
        append_line(f"{layout.root}/{path}", line)


def repeat(transaction: Transaction, root: str) -> None:
    """Bring the store to the state after ``transaction``, however far an earlier try came.

    Raises:
        StoreUnavailableError: the machine refuses; what is missing is done at the next recovery.
    """
    layout = StoreLayout(root, transaction.project, transaction.worktree)
    topics = [
        new_topic(read_topic(layout, key), key, wanted)
        for key, wanted in touched(transaction.changes).items()
    ]
    others = [NewFile(f"{root}/{path}", text.encode()) for path, text in transaction.files.items()]
    staged = stage([*topics, *new_indexes(layout, topics), *others], transaction.id)
    appends = [(p, line) for p, line in transaction.appends if not tail_holds(f"{root}/{p}", line)]
    carry_out(staged, appends, layout)


def _put(file: NewFile) -> bytes | None:
    """Put a file into place and return what was there, None if nothing was."""
    if file.data is None:
        return take_away(file.path)
    return exchange(file.temporary, file.path)


def _put_topic(file: NewFile, key: TopicKey, layout: StoreLayout) -> None:
    """Put a topic file into place; what an editor saved there a moment ago is merged, not lost."""
    for number in range(_MERGES):
        found = _put(file)
        write_shadow(layout, key, file.data)
        if found == file.old or found is None:
            return
        # Somebody saved between our reading and our writing; that save knows nothing of what we wrote.
        merged = new_topic(interpret(layout, key, found), key, file.wanted)
        (file,) = stage([replace(merged, old=file.data)], f"merge{number}")
    raise CamError(f"{file.path} keeps changing; it was written {_MERGES} times and not settled")


def _data(record: MemoryRecord | None) -> dict[str, Any] | None:
    return None if record is None else record_to_data(record)


def _record(data: dict[str, Any] | None) -> MemoryRecord | None:
    return None if data is None else record_from_data(data)


def _counts(
    layout: StoreLayout, scope: MemoryScope, state: MemoryState, index: bytes, changed: Mapping[str, int]
) -> dict[str, int]:
    """Records per topic; of topics that did not change as the index has them, read only where it does not."""
    known = counts_in_index(index)
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
