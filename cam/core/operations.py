"""Operations, and the plan: what they do to the store, decided before anything is written.

Dry run, commit, audit, history and undo all read the same plan.
"""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from cam.core.records import NOTES_TOPIC, MemoryRecord, MemoryRef, MemoryScope


class OperationKind(StrEnum):
    """What an operation asks for."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    ARCHIVE = "archive"
    NOOP = "noop"
    RESTORE = "restore"  # a person's, as are the next four (docs/architecture.md)
    MOVE = "move"
    PIN = "pin"
    MERGE = "merge"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Quote:
    """The words a record rests on.

    Attributes:
        text: verbatim, from the rollout or the command line; secrets masked.
        session: the session's id, None for a person at the terminal.
        ordinal: number of the user message in the session.
        turn: the turn's id where the release writes one.
        line: line number in the rollout, a hint.
        rollout: path of the rollout, a hint.
    """

    text: str
    session: str | None = None
    ordinal: int | None = None
    turn: str | None = None
    line: int | None = None
    rollout: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryOperation:
    """One decision about one record.

    Attributes:
        kind: what to do.
        record: the record as it shall be (add, update, archive, …), or as it is (delete, noop).
        reason: why, in words a person understands.
        rule: short name of the rule that decided, for the audit line.
        quotes: the words it rests on.
        actor: ``user`` (at the terminal), ``sync``, or an agent's name.
        replaced_by: for an archive: ``topic:id`` of the record that took its place.
    """

    kind: OperationKind
    record: MemoryRecord
    reason: str
    rule: str = ""
    quotes: tuple[Quote, ...] = ()
    actor: str = "user"
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One record before and after; None where it does not exist.

    ``before`` is also what the commit expects to find: if the record on disk differs, the plan is stale.
    """

    operation: MemoryOperation
    before: MemoryRecord | None
    after: MemoryRecord | None

    @property
    def ref(self) -> MemoryRef:
        """The record's reference after the change, before it where it is gone."""
        record = self.after or self.before
        assert record is not None
        return record.ref

    @property
    def is_note(self) -> bool:
        """Whether it is about text in a person's part of MEMORY.md and no topic file."""
        return self.ref.topic == NOTES_TOPIC


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What a set of operations does to the store.

    Attributes:
        changes: applied in order, at most one per record.
        noops: operations that change nothing, each with its reason.
    """

    changes: tuple[Change, ...] = ()
    noops: tuple[MemoryOperation, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say at all."""
        return not (self.changes or self.noops)


RecordKey = tuple[MemoryScope, str, str]


def doubled(records: Iterable[MemoryRecord]) -> frozenset[RecordKey]:
    """Keys that stand more than once, whatever the state."""
    return frozenset(key for key, count in Counter(record.key for record in records).items() if count > 1)


def build_plan(
    operations: Iterable[MemoryOperation],
    records: Iterable[MemoryRecord],
    untouched: AbstractSet[tuple[str, str, str]] = frozenset(),
) -> MemoryPlan:
    """Decide what ``operations`` do to ``records``.

    Several operations on one record become one change from its first state to its last. A repeat that
    changes nothing, or a delete or archive that hits nothing, is a noop with its reason.

    Args:
        operations: in order.
        records: every record the operations may touch, active and archived; of one that stands twice the
            first counts.
        untouched: keys whose id stands twice in the files: what is about them is a noop.
    """
    known: dict[RecordKey, MemoryRecord] = {}
    for record in records:
        known.setdefault(record.key, record)
    state: dict[RecordKey, MemoryRecord | None] = dict(known)
    last: dict[RecordKey, MemoryOperation] = {}
    noops: list[MemoryOperation] = []
    for operation in operations:
        key = operation.record.key
        present = state.get(key)
        why_nothing = _TWICE if key in untouched else _nothing_to_do(operation, present)
        if why_nothing is not None:
            noops.append(_as_noop(operation, why_nothing))
            continue
        state[key] = None if operation.kind is OperationKind.DELETE else operation.record
        last[key] = operation if key not in last else _joined(last[key], operation)
    changes = [
        Change(operation, known.get(key), state[key])
        for key, operation in last.items()
        if known.get(key) != state[key]
    ]
    return MemoryPlan(tuple(changes), tuple(noops))


_TWICE = "its id stands twice in the files; a person must say which is meant"


def _nothing_to_do(operation: MemoryOperation, present: MemoryRecord | None) -> str | None:
    if operation.kind is OperationKind.NOOP:
        return operation.reason
    if operation.kind in (OperationKind.DELETE, OperationKind.ARCHIVE) and present is None:
        return f"there is no record {operation.record.ref}"
    if operation.kind is OperationKind.DELETE:
        return None
    return f"{operation.record.ref} is so already" if operation.record == present else None


def _as_noop(operation: MemoryOperation, reason: str) -> MemoryOperation:
    return MemoryOperation(
        OperationKind.NOOP, operation.record, reason, operation.rule, operation.quotes, operation.actor
    )


def _joined(first: MemoryOperation, second: MemoryOperation) -> MemoryOperation:
    """Two operations on one record as one: an added record that is then changed is still an add."""
    added = first.kind is OperationKind.ADD and second.kind is OperationKind.UPDATE
    kind = first.kind if added else second.kind
    quotes = (*first.quotes, *(q for q in second.quotes if q not in first.quotes))
    return MemoryOperation(
        kind, second.record, second.reason, second.rule, quotes, second.actor, second.replaced_by
    )
