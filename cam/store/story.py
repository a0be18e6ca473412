"""What the history tells of a record, a time or a stretch of time. Pure.

Events are those of all scopes that are seen, and hand edits that no commit has noted yet, as events without
a transaction. A record that was moved has one story, under every name it had.

Types here are tuples: a timeline in a new process would feel what frozen dataclasses cost to make.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from cam.core.errors import NotFoundError
from cam.core.operations import Change, OperationKind
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState
from cam.formats.history import HistoryEvent, event_of

Name = tuple[str, str, str]
"""Scope, topic and id, as texts: the predecessor's refs know states that are none here."""


class Step(NamedTuple):
    """One event of a record's story.

    Attributes:
        event: as the history has it.
        replaces: refs of records that were archived or merged because of it.
        replaced_by: ref of the record that took its place, "" if none did.
    """

    event: HistoryEvent
    replaces: tuple[str, ...] = ()
    replaced_by: str = ""


class Story(NamedTuple):
    """Everything that is known of one record.

    Attributes:
        ref: its ref now, or the last one it had.
        record: as it stands; None if it is gone.
        last: its text when it was last there, None if no event holds one.
        steps: oldest first; repeats that changed nothing are among them.
    """

    ref: str
    record: MemoryRecord | None
    last: MemoryRecord | None
    steps: tuple[Step, ...]


class Turn(NamedTuple):
    """What became of one record in a stretch of time.

    Attributes:
        what: ``added``, ``changed``, ``moved``, ``archived``, ``restored`` or ``deleted``.
        before: as it was at the beginning.
        after: as it is at the end.
        transactions: that did it, oldest first.
    """

    what: str
    before: MemoryRecord | None
    after: MemoryRecord | None
    transactions: tuple[str, ...]

    @property
    def record(self) -> MemoryRecord:
        """As it is, or was before it went."""
        record = self.after or self.before
        assert record is not None
        return record


def pending(edits: Iterable[Change], now: str) -> list[HistoryEvent]:
    """Hand edits that no commit has noted, as events of this moment."""
    return [event_of(change, "", now) for change in edits]


def story(events: Sequence[HistoryEvent], records: Iterable[MemoryRecord], ref: MemoryRef) -> Story:
    """Everything about the record ``ref``, also if it is archived, moved or gone.

    Raises:
        NotFoundError: neither a record nor an event of that name.
    """
    names, own = _Lines(events).of(_name_of(ref))
    known = {_name(record): record for record in records}
    record = next((known[name] for name in names if name in known), None)
    if record is None and not own:
        raise NotFoundError(f"nothing is known of {ref}; 'cam memory list --state all' shows what there is")
    texts = [text for event in own for text in (event.before, event.after) if text is not None]
    last = record or (texts[-1] if texts else None)
    together = _grouped(events, lambda event: event.transaction)
    called = _grouped(events, lambda event: event.ref.split(":", 2)[-1])
    steps = tuple(
        Step(
            event,
            _replaced_in(together[event.transaction], event, names),
            _replacement(called.get(event.replaced_by or "", ()), event),
        )
        for event in own
    )
    return Story(str(record.ref) if record else own[-1].ref, record, last, steps)


def record_at(told: Story, ref: MemoryRef, at: str) -> MemoryRecord:
    """The record with this story, which was asked for as ``ref``, as it was at ``at`` (ISO-8601 UTC).

    Raises:
        NotFoundError: it did not exist then, or nothing tells how it was.
    """
    texts = [step.event for step in told.steps if step.event.before or step.event.after]
    until = [event for event in texts if event.at <= at]
    earlier = _first_text(texts) if texts else told.record
    found = _last_text(until) if until else _if_written_by(earlier, at)
    if found is not None:
        return found
    raise NotFoundError(f"{ref} did not exist at {at}")


def difference(events: Sequence[HistoryEvent], since: str) -> dict[MemoryScope, list[Turn]]:
    """What became of records since ``since`` (ISO-8601 UTC), by scope; what came and went is left out.

    Events without texts (the predecessor's) tell too little and are left out as well.
    """
    later = [e for e in events if e.at > since and e.applied and (e.before or e.after)]
    seen: set[Name] = set()
    found: dict[MemoryScope, list[Turn]] = {scope: [] for scope in MemoryScope}
    lines = _Lines(later)
    for event in later:
        name = _event_name(event)
        if name in seen:
            continue
        names, own = lines.of(name)
        seen |= set(names)
        before, after = _first_text(own), _last_text(own)
        what = _what(before, after)
        if what:
            transactions = tuple(dict.fromkeys(e.transaction for e in own if e.transaction))
            turn = Turn(what, before, after, transactions)
            found[turn.record.scope].append(turn)
    return {scope: turns for scope, turns in found.items() if turns}


class _Lines:
    """Events by the names of their records, and which names are one record's."""

    def __init__(self, events: Sequence[HistoryEvent]) -> None:
        self._events: dict[Name, list[tuple[int, HistoryEvent]]] = {}
        for number, event in enumerate(events):
            self._events.setdefault(_event_name(event), []).append((number, event))
        self._moves: dict[Name, set[Name]] = {}
        for old, new in _moves(events):
            self._moves.setdefault(old, set()).add(new)
            self._moves.setdefault(new, set()).add(old)

    def of(self, name: Name) -> tuple[list[Name], list[HistoryEvent]]:
        """Every name that a record had, and its events, oldest first; both halves of a move among them."""
        names, todo = [name], [name]
        while todo:
            fresh = [n for n in sorted(self._moves.get(todo.pop(), ())) if n not in names]
            names += fresh
            todo += fresh
        own = sorted((p for n in names for p in self._events.get(n, ())), key=itemgetter(0))
        # Of a move, the old place is told first, whichever scope's history was read first.
        own.sort(
            key=lambda pair: (pair[1].at, pair[1].kind is OperationKind.MOVE and pair[1].after is not None)
        )
        return names, [event for _, event in own]


def _moves(events: Iterable[HistoryEvent]) -> list[tuple[Name, Name]]:
    """Old and new name of each move: the two events of one transaction that hold the same text."""
    away: dict[tuple[str, tuple[object, ...]], Name] = {}
    here: dict[tuple[str, tuple[object, ...]], Name] = {}
    for event in events:
        record = event.after or event.before
        if event.kind is OperationKind.MOVE and record is not None:
            side = away if event.after is None else here
            side[event.transaction, (record.text, record.created_at, record.updated_at)] = _event_name(event)
    return [(old, here[key]) for key, old in away.items() if key in here]


def _grouped(
    events: Iterable[HistoryEvent], key: Callable[[HistoryEvent], str]
) -> dict[str, list[HistoryEvent]]:
    found: dict[str, list[HistoryEvent]] = {}
    for event in events:
        found.setdefault(key(event), []).append(event)
    return found


def _replaced_in(
    together: Iterable[HistoryEvent], event: HistoryEvent, names: Sequence[Name]
) -> tuple[str, ...]:
    """What the transaction of ``event`` archived in favour of the record with ``names``.

    Args:
        together: the events of that transaction.
        event: one of them.
        names: of the record.
    """
    if not (event.transaction and event.applied):
        return ()
    short = {f"{topic}:{name}" for _, topic, name in names}
    return tuple(
        other.ref for other in together if other.replaced_by in short and other.kind is not OperationKind.MOVE
    )


def _replacement(called: Iterable[HistoryEvent], event: HistoryEvent) -> str:
    """The ref behind an event's ``topic:id``: as its transaction names it, else its scope, else any.

    Args:
        called: the events of records of that topic and id.
        event: says what took its record's place, or not.
    """
    if not event.replaced_by:
        return ""
    scope = event.ref.partition(":")[0]
    nearest = min(
        called,
        key=lambda e: (e.transaction != event.transaction, e.ref.partition(":")[0] != scope),
        default=None,
    )
    return nearest.ref if nearest else event.replaced_by


def _first_text(events: Iterable[HistoryEvent]) -> MemoryRecord | None:
    """The record before ``events``, whichever name it had."""
    firsts: dict[Name, MemoryRecord | None] = {}
    for event in events:
        firsts.setdefault(_event_name(event), event.before)
    return next((record for record in firsts.values() if record is not None), None)


def _last_text(events: Iterable[HistoryEvent]) -> MemoryRecord | None:
    """The record after ``events``, whichever name it has."""
    lasts: dict[Name, MemoryRecord | None] = {}
    for event in events:
        lasts.pop(_event_name(event), None)
        lasts[_event_name(event)] = event.after
    return next((record for record in reversed(lasts.values()) if record is not None), None)


def _if_written_by(record: MemoryRecord | None, at: str) -> MemoryRecord | None:
    """What stood before the first event, if its own dates say that it was so by then."""
    return record if record is not None and record.updated_at <= at else None


def _what(before: MemoryRecord | None, after: MemoryRecord | None) -> str:
    if before == after:
        return ""
    if before is None and after is not None:
        return "added" if after.state is MemoryState.ACTIVE else "archived"
    if before is None or after is None:
        return "deleted"
    if before.state is not after.state:
        return "archived" if after.state is MemoryState.ARCHIVED else "restored"
    return "changed" if before.key == after.key else "moved"


def _event_name(event: HistoryEvent) -> Name:
    scope, _, rest = event.ref.partition(":")
    topic, _, name = rest.partition(":")[2].partition(":")
    return (scope, topic, name)


def _name_of(ref: MemoryRef) -> Name:
    return (str(ref.scope), ref.topic, ref.id)


def _name(record: MemoryRecord) -> Name:
    return _name_of(record.ref)
