"""A transaction: what one commit does, as data that can be carried out again after a crash.

The journal file is the commit point. Before it is in place nothing has happened; once it is, every step
below may be repeated from any state in between and ends in the same files. Steps are logical (records,
lines), not bytes, so a hand edit made between the crash and the recovery is merged, not overwritten.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.history import dump_line
from cam.formats.memory_index import counts_in_index, update_index
from cam.formats.topic_file import (
    TopicFile,
    apply_to_topic_file,
    new_topic_file,
    parse_topic_file,
    record_from_data,
    record_to_data,
    render_topic_file,
)
from cam.store.layout import StoreLayout
from cam.system.files import append_line, list_folder, read_bytes, remove_file, tail_holds, write_atomic

TopicKey = tuple[MemoryScope, MemoryState, str]


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
    changes: tuple[tuple[MemoryRecord | None, MemoryRecord | None], ...] = ()
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


def carry_out(transaction: Transaction, root: str, *, again: bool = False) -> None:
    """Bring the store to the state after ``transaction``.

    Args:
        transaction: journalled before.
        root: the store's folder.
        again: a recovery; lines that an earlier try appended are not appended twice.

    Raises:
        StoreUnavailableError: the machine refuses; what is missing is done at the next recovery.
    """
    layout = StoreLayout(root, transaction.project, transaction.worktree)
    touched = _touched_topics(transaction)
    # New places first, old ones after: a reader in between sees a moved record twice, never not at all.
    for key, wanted in sorted(touched.items(), key=lambda item: all(r is None for r in item[1].values())):
        _write_topic(layout, key, wanted)
    for scope, state in dict.fromkeys((scope, state) for scope, state, _ in touched):
        _write_index(layout, scope, state, {topic for s, t, topic in touched if (s, t) == (scope, state)})
    for path, line in transaction.appends:
        target = f"{root}/{path}"
        if not (again and tail_holds(target, line)):
            append_line(target, line)
    for path, text in transaction.files.items():
        write_atomic(f"{root}/{path}", text.encode("utf-8", "backslashreplace"))


def read_topic(layout: StoreLayout, key: TopicKey) -> TopicFile | None:
    """A topic file, None if there is none.

    Raises:
        IntegrityError: not a regular file.
        StoreUnavailableError: the machine refuses.
    """
    scope, state, topic = key
    path = layout.topic_file(scope, state, topic)
    data = read_bytes(path)
    return None if data is None else parse_topic_file(data, path=path, scope=scope, state=state, topic=topic)


def topic_names(layout: StoreLayout, scope: MemoryScope, state: MemoryState) -> list[str]:
    """Topics that have a file, sorted."""
    names = list_folder(layout.topics_folder(scope, state))
    return [n[:-3] for n in names if n.endswith(".md") and not n.startswith(".") and n not in _INDEXES]


_INDEXES = ("MEMORY.md", "ARCHIVE.md")


def _data(record: MemoryRecord | None) -> dict[str, Any] | None:
    return None if record is None else record_to_data(record)


def _record(data: dict[str, Any] | None) -> MemoryRecord | None:
    return None if data is None else record_from_data(data)


def _touched_topics(transaction: Transaction) -> dict[TopicKey, dict[str, MemoryRecord | None]]:
    touched: dict[TopicKey, dict[str, MemoryRecord | None]] = {}
    for before, after in transaction.changes:
        if before is not None:
            touched.setdefault((before.scope, before.state, before.topic), {}).setdefault(before.id, None)
        if after is not None:
            touched.setdefault((after.scope, after.state, after.topic), {})[after.id] = after
    return touched


def _write_topic(layout: StoreLayout, key: TopicKey, wanted: Mapping[str, MemoryRecord | None]) -> None:
    scope, state, topic = key
    path = layout.topic_file(scope, state, topic)
    empty = new_topic_file(scope, state, topic)
    file = read_topic(layout, key)
    before = b"" if file is None else render_topic_file(file)
    changed = apply_to_topic_file(file or empty, wanted)
    after = render_topic_file(changed)
    if not changed.sections and after.strip() == render_topic_file(empty).strip():
        remove_file(path)
    elif after != before:
        write_atomic(path, after)


def _write_index(layout: StoreLayout, scope: MemoryScope, state: MemoryState, changed: set[str]) -> None:
    path = layout.index_file(scope, state)
    data = read_bytes(path) or b""
    known = counts_in_index(data)
    counts: dict[str, int] = {}
    for topic in topic_names(layout, scope, state):
        if topic in known and topic not in changed:
            counts[topic] = known[topic]
        else:
            file = read_topic(layout, (scope, state, topic))
            counts[topic] = len(file.records) if file else 0
    if not counts and not data:
        return
    renewed = update_index(data, scope, state, counts)
    if renewed != data:
        write_atomic(path, renewed)
