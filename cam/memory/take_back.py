"""What taking back a transaction does: pure, from its events and the records as they stand now.

Where nothing changed since, a record becomes what it was. Where a later change touched other fields of it,
those stay and the rest goes back; where both touched the same, the record stays as it is and that is said.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind, RecordKey
from cam.core.records import NOTES_TOPIC, MemoryRecord
from cam.formats.history import ARRIVED, Headline, HistoryEvent
from cam.store.attached import TAKEN_ALONG

RULE = "undo"

MARK = "undo of "
"""How the reason of an undo begins; the transaction follows."""

_BOOKKEEPING = ("updated_at", "reason", "sources")
"""Fields in which the later of two changes holds, without being a disagreement."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A plan that takes a transaction back.

    Attributes:
        plan: records changed back; a noop for each that stays.
        kept: refs of records that were changed since and stay as they are.
        same: refs of records that are already as they were before.
        gone: those of both that are there no more.
    """

    plan: MemoryPlan
    kept: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def last_step(
    lines: Iterable[Headline], here: Collection[str] = (), but: Collection[str] = ()
) -> tuple[list[HistoryEvent], list[HistoryEvent]]:
    """The newest transaction that can be taken back: no undo, not undone, not by hand alone.

    A person takes back what they did here: what another project changed in global memory is passed over, and
    so is what arrived from other machines and what those did themselves.

    Args:
        lines: of all scopes, in any order; within a scope oldest first.
        here: ids of the project that asks; without any, all changes were made here.
        but: transactions that are passed over: there is nothing of them to take back.

    Returns:
        Its events, none if there is no such transaction; and of each newer one that was made from another
        project, or arrived, the last event.
    """
    undone: set[str] = set()
    elsewhere: list[HistoryEvent] = []
    for transaction, headlines in reversed(_steps(lines).items()):
        if transaction in undone or transaction in but:
            continue
        step = _read(headlines)
        target = undo_target(step)
        applied = [event for event in step if event.applied and event.actor != "file"]
        if target:
            undone.add(target)
        elif any(event.machine for event in step):
            continue  # its arrival stands in a change of its own
        elif applied and (is_arrival(applied[-1]) or (here and all(_is_away(e, here) for e in applied))):
            elsewhere.append(applied[-1])
        elif applied:
            return _without_hand(step), elsewhere
    return [], elsewhere


def _is_away(event: HistoryEvent, here: Collection[str]) -> bool:
    return bool(event.project) and event.project not in here


def named_step(lines: Iterable[Headline], name: str) -> list[HistoryEvent]:
    """Events of the transaction ``name``, which may be an undo: taking that back is a redo.

    Raises:
        NotFoundError: there is none, or it changed nothing.
        InvalidInputError: it is taken back already.
    """
    steps = _steps(lines)
    applied = [event for event in _read(steps.get(name, ())) if event.applied]
    if not applied:
        raise NotFoundError(
            f"there is no change {name!r}; 'cam memory diff --since 7d' and 'cam why REF' name them"
        )
    undone = undone_by((other, _read(step)) for other, step in steps.items() if undo_target(step))
    if name in undone:
        raise InvalidInputError(f"{name} is taken back already; 'cam undo {undone[name]}' brings it back")
    return _without_hand(applied)


def is_arrival(event: HistoryEvent) -> bool:
    """Whether a sync between machines wrote it."""
    return event.actor == "git" and event.reason.startswith(ARRIVED)


def undo_target(step: Iterable[HistoryEvent | Headline]) -> str:
    """The transaction that the one with these events takes back, "" if it is no undo or took nothing back."""
    reasons = (event.reason for event in step if event.applied and event.reason.startswith(MARK))
    return next(reasons, "").removeprefix(MARK).partition(":")[0]


def came_from(step: Iterable[HistoryEvent]) -> str:
    """The project, or worktree, whose memory a change took along, or an undo gave back; "" for any other."""
    reasons = (event.reason.partition(TAKEN_ALONG) for event in step)
    found = (rest for before, _, rest in reasons if rest and (not before or before.startswith(MARK)))
    return next(found, "").rpartition(" ")[2]


def undone_by(steps: Iterable[tuple[str, Sequence[HistoryEvent | Headline]]]) -> dict[str, str]:
    """Transactions that are taken back now, each with the one that did it; an undone undo does not count.

    Args:
        steps: transactions with their events, oldest first.
    """
    undone: dict[str, str] = {}
    for transaction, step in reversed(list(steps)):
        target = undo_target(step)
        if target and transaction not in undone:
            undone.setdefault(target, transaction)
    return undone


def plan_back(events: Sequence[HistoryEvent], records: Iterable[MemoryRecord]) -> TakenBack:
    """What takes ``events``, which are all of one transaction, back.

    Args:
        events: oldest first.
        records: as they stand, and of a person's part of MEMORY.md what the events put there.
    """
    known = {record.key: record for record in records}
    now: dict[RecordKey, MemoryRecord | None] = dict(known)
    reason = f"{MARK}{events[0].transaction}"
    touched: dict[RecordKey, HistoryEvent] = {}
    kept: list[str] = []
    gone: list[str] = []
    same: list[str] = []
    noops: list[MemoryOperation] = []
    for event in reversed(events):
        record = _record(event)
        present = now.get(record.key)
        is_clear, wanted = _back(event, present)
        if record.topic == NOTES_TOPIC and present is None and event.after is not None:
            is_clear = False  # a text has no id by which it would be known: somebody changed it
        if not is_clear:
            kept.append(event.ref)
        elif wanted == present:
            same.append(event.ref)
        if present is None and (not is_clear or wanted is None):
            gone.append(event.ref)
        if not is_clear or wanted == present:
            why = "it is so already" if is_clear else "it was changed since and stays as it is"
            noops.append(MemoryOperation(OperationKind.NOOP, present or record, f"{reason}: {why}", RULE))
            continue
        now[record.key] = wanted
        touched[record.key] = event
    changes = [
        Change(
            MemoryOperation(_kind(known.get(key), now[key]), now[key] or _record(event), reason, RULE),
            known.get(key),
            now[key],
        )
        for key, event in touched.items()
        if known.get(key) != now[key]
    ]  # fmt: skip
    return TakenBack(MemoryPlan(tuple(changes), tuple(noops)), tuple(kept), tuple(same), tuple(gone))


def _steps(lines: Iterable[Headline]) -> dict[str, list[Headline]]:
    """Headlines by transaction, oldest first; those of the predecessor have none and no way back."""
    steps: dict[str, list[Headline]] = {}
    for line in sorted((each for each in lines if each.transaction), key=lambda each: each.at):
        steps.setdefault(line.transaction, []).append(line)
    return steps


def _read(lines: Iterable[Headline]) -> list[HistoryEvent]:
    """The events behind them, but for lines that cannot be read."""
    return [event for line in lines if (event := line.whole(with_files=True)) is not None]


def _without_hand(step: Sequence[HistoryEvent]) -> list[HistoryEvent]:
    """What cam did; hand edits that were noted with it stay, unless there is nothing else."""
    applied = [event for event in step if event.applied]
    return [event for event in applied if event.actor != "file"] or applied


def _back(event: HistoryEvent, present: MemoryRecord | None) -> tuple[bool, MemoryRecord | None]:
    """Whether the event can be taken back from ``present``, and what the record is then."""
    if present == event.after:
        return True, event.before
    if present == event.before:
        return True, present
    if present is None or event.before is None or event.after is None:
        return False, present
    merged = {}
    for field in fields(MemoryRecord):
        old, new, here = (getattr(record, field.name) for record in (event.before, event.after, present))
        if here == new:
            merged[field.name] = old
        elif old not in (new, here) and field.name not in _BOOKKEEPING:
            return False, present
    return True, replace(present, **merged)


def _kind(before: MemoryRecord | None, after: MemoryRecord | None) -> OperationKind:
    if after is None:
        return OperationKind.DELETE
    return OperationKind.ADD if before is None else OperationKind.UPDATE


def _record(event: HistoryEvent) -> MemoryRecord:
    record = event.after or event.before
    assert record is not None, "an applied event has a record before or after"
    return record
