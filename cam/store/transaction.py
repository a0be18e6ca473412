"""A transaction: what one commit does, as data that can be carried out again after a crash.

A commit is staged first: every new file is written beside its place and made durable, so that a full disk or
a file that cannot be read refuses the commit while nothing has happened. The journal file is the commit
point. After it come renames, and lines that are appended. A recovery does not trust what was staged: it
repeats the transaction logically (records, lines) from whatever state it finds, so a hand edit made between
the crash and the recovery is merged, not overwritten.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cam.core.errors import CamError
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, is_topic
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
from cam.system.files import (
    append_line,
    list_folder,
    put_in_place,
    read_bytes,
    remove_file,
    stage_file,
    tail_holds,
    unlink_quietly,
)

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


@dataclass(frozen=True, slots=True)
class Staged:
    """New files beside their places.

    Attributes:
        files: place and the temporary file to be renamed there; None where the place is to be empty.
    """

    files: tuple[tuple[str, str | None], ...] = ()


def stage(transaction: Transaction, root: str) -> Staged:
    """Write what the files will hold beside their places; nothing that is read changes.

    Raises:
        IntegrityError: something that is no regular file stands in the way.
        StoreUnavailableError: the machine refuses; what was staged is gone again.
    """
    layout = StoreLayout(root, transaction.project, transaction.worktree)
    staged: list[tuple[str, str | None]] = []
    try:
        for path, data in _targets(transaction, layout):
            staged.append((path, None if data is None else stage_file(path, data, transaction.id)))
    except BaseException:
        unstage(Staged(tuple(staged)))
        raise
    return Staged(tuple(staged))


def unstage(staged: Staged) -> None:
    """Take away what was staged and will not be used."""
    for _, temporary in staged.files:
        if temporary is not None:
            unlink_quietly(temporary)


def carry_out(transaction: Transaction, staged: Staged, root: str) -> None:
    """Put what was staged into place and append the lines.

    Raises:
        StoreUnavailableError: the machine refuses; the next recovery does the rest.
    """
    for path, temporary in staged.files:
        if temporary is None:
            remove_file(path)
        else:
            put_in_place(temporary, path)
    for path, line in transaction.appends:
        append_line(f"{root}/{path}", line)


def repeat(transaction: Transaction, root: str) -> None:
    """Bring the store to the state after ``transaction``, however far an earlier try came.

    Raises:
        StoreUnavailableError: the machine refuses; what is missing is done at the next recovery.
    """
    layout = StoreLayout(root, transaction.project, transaction.worktree)
    staged = stage(transaction, root)
    carry_out(
        Transaction(
            transaction.id,
            layout.project,
            layout.worktree,
            appends=tuple(
                (p, line) for p, line in transaction.appends if not tail_holds(f"{root}/{p}", line)
            ),
        ),
        staged,
        root,
    )


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


def _targets(transaction: Transaction, layout: StoreLayout) -> Iterator[tuple[str, bytes | None]]:
    """Each file that changes and its new bytes, None for a file that goes.

    New places come first and old ones last: a reader in between sees a moved record twice, never not at all.
    """
    touched = _touched_topics(transaction)
    counts: dict[tuple[MemoryScope, MemoryState], dict[str, int]] = {}
    for key, wanted in sorted(touched.items(), key=lambda item: all(r is None for r in item[1].values())):
        scope, state, topic = key
        empty = new_topic_file(scope, state, topic)
        file = read_topic(layout, key)
        changed = apply_to_topic_file(file or empty, wanted)
        data = render_topic_file(changed)
        counts.setdefault((scope, state), {})[topic] = len(changed.records)
        path = layout.topic_file(scope, state, topic)
        if not changed.sections and data.strip() == render_topic_file(empty).strip():
            yield path, None
        elif file is None or data != render_topic_file(file):
            yield path, data
    for (scope, state), changed_counts in counts.items():
        path = layout.index_file(scope, state)
        before = read_bytes(path) or b""
        after = update_index(before, scope, state, _counts(layout, scope, state, before, changed_counts))
        if after != before:
            yield path, after
    for relative, text in transaction.files.items():
        yield f"{layout.root}/{relative}", text.encode("utf-8", "backslashreplace")


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
            with contextlib.suppress(
                CamError
            ):  # a file that cannot be read has no count, and is a problem elsewhere
                file = read_topic(layout, (scope, state, topic))
                counts[topic] = len(file.records) if file else 0
    return counts
