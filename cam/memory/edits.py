"""What a person does to records that are there, as plans. Pure: records and the time in, a plan out.

Each function takes records of the store, the time, and refs as the person gave them. From the records that
stand where the refs lead it says what else it has to see; ``cam.memory.flow.change`` gives it that.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from cam.core.errors import InvalidInputError, WriteRefusedError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind, Quote, build_plan
from cam.core.records import PERSON, MemoryRecord, MemoryRef, MemoryScope, MemoryState
from cam.memory.dates import checked_window, moment
from cam.memory.lookup import find
from cam.memory.result import Changed
from cam.memory.screen import screened
from cam.memory.wish import Wish

Records = Sequence[MemoryRecord]
_T = TypeVar("_T")


def edit(records: Records, now: str, ref: MemoryRef, wish: Wish) -> Changed:
    """Change a record's text, type or validity.

    Raises:
        NotFoundError: no such record.
        InvalidInputError: no text, too much of it, or a window that never holds.
        WriteRefusedError: nothing but a secret is left, or somebody changed the text meanwhile.
    """
    record = find(records, ref)
    if wish.seen is not None and wish.seen.text != record.text:
        raise WriteRefusedError(f"{record.ref} was changed while you edited it; look at it and edit again")
    wanted, warnings = _reworded(record, wish) if wish.has_text else (record, ())
    said = wanted.text != record.text
    begins, ends = checked_window(
        _bound(wish.valid_from, wanted.valid_from, now, end_of_day=False),
        _bound(wish.valid_until, wanted.valid_until, now, end_of_day=True),
    )
    wanted = replace(
        wanted.with_source(PERSON) if said else wanted,
        type=wish.type or wanted.type,
        valid_from=begins,
        valid_until=ends,
    )
    if wanted == record:
        return replace(_nothing(record, f"{record.ref} stays as it is", "edit"), warnings=warnings)
    wanted = replace(wanted, updated_at=now)
    quotes = (Quote(wanted.summary),) if said else ()
    plan = build_plan(
        [MemoryOperation(OperationKind.UPDATE, wanted, "you edited it", "edit", quotes)], records
    )
    doubts = _doubts(wanted, records) if said else ()
    return Changed((wanted,), plan, warnings=(*warnings, *doubts), stated=wanted if said else None)


def move(records: Records, now: str, ref: MemoryRef, scope: MemoryScope | None, topic: str | None) -> Changed:
    """Put a record into another scope or topic; links to it follow.

    Raises:
        NotFoundError: no such record.
    """
    del now  # where a record stands is nothing that was said
    record = find(records, ref)
    scope, topic = scope or record.scope, topic or record.topic
    if (scope, topic) == (record.scope, record.topic):
        return _nothing(record, f"{record.ref} is there already", "move")
    taken = {r.id for r in records if (r.scope, r.topic) == (scope, topic)}
    moved = replace(record, scope=scope, topic=topic, id=_free(record.id, taken))
    away = MemoryOperation(
        OperationKind.MOVE, record, f"moved to {moved.ref}", "move", replaced_by=_name(moved)
    )
    here = MemoryOperation(OperationKind.MOVE, moved, f"moved from {record.ref}", "move")
    links = build_plan(_relinked(records, record, moved), records).changes
    plan = MemoryPlan((Change(here, None, moved), Change(away, record, None), *links))
    return Changed((moved,), plan, renamed=_name(record))


def link(records: Records, now: str, one: MemoryRef, other: MemoryRef) -> Changed:
    """Link two records with each other.

    Raises:
        NotFoundError: one of them does not exist.
        InvalidInputError: they are one.
    """
    del now
    first, second = _pair(records, one, other)
    linked = (_with_link(first, second), _with_link(second, first))
    return _each(records, linked, OperationKind.LINK, "you linked them", "link", "are linked already")


def unlink(records: Records, now: str, one: MemoryRef, other: MemoryRef) -> Changed:
    """Take the link between two records away.

    Raises:
        NotFoundError: one of them does not exist.
        InvalidInputError: they are one.
    """
    del now
    first, second = _pair(records, one, other)
    apart = (_without_link(first, second), _without_link(second, first))
    return _each(records, apart, OperationKind.LINK, "you unlinked them", "unlink", "are not linked")


def pin(records: Records, now: str, ref: MemoryRef, *, pinned: bool) -> Changed:
    """Let a record come first, or no longer.

    Raises:
        NotFoundError: no such record.
    """
    del now
    record = find(records, ref)
    verb = "pin" if pinned else "unpin"
    if record.pinned is pinned:
        return _nothing(record, f"{record.ref} is {'' if pinned else 'not '}pinned already", verb)
    return _one(records, replace(record, pinned=pinned), OperationKind.PIN, f"you {verb}ned it", verb)


def archive(records: Records, now: str, ref: MemoryRef) -> Changed:
    """Keep a record, but no longer as something that holds.

    Raises:
        NotFoundError: no such record.
    """
    record = find(records, ref)
    if record.state is MemoryState.ARCHIVED:
        return _nothing(record, f"{record.ref} is archived already", "archive")
    gone = record.archived("you archived it", now)
    return _one(records, gone, OperationKind.ARCHIVE, "you archived it", "archive")


def restore(records: Records, now: str, ref: MemoryRef) -> Changed:
    """Let an archived record hold again.

    Raises:
        NotFoundError: no such record.
    """
    record = find(records, ref)
    if record.state is MemoryState.ACTIVE:
        return _nothing(record, f"{record.ref} is active already", "restore")
    back = replace(record, state=MemoryState.ACTIVE, reason="you restored it", updated_at=now)
    done = _one(records, back, OperationKind.RESTORE, "you restored it", "restore")
    return replace(done, warnings=_doubts(back, records), stated=back)


def merge(records: Records, now: str, one: MemoryRef, other: MemoryRef) -> Changed:
    """Give the first record the second's details, sources and links; the second is archived.

    Raises:
        NotFoundError: one of them does not exist.
        InvalidInputError: they are one, or the first is archived.
    """
    first, second = _pair(records, one, other)
    if first.state is MemoryState.ARCHIVED:
        raise InvalidInputError(f"{first.ref} is archived; 'cam memory restore {first.ref}' comes first")
    names = {_name(first), _name(second)}
    merged = replace(
        first,
        details=_union(first.details, second.details),
        sources=_union(first.sources, second.sources),
        related=tuple(name for name in _union(first.related, second.related) if name not in names),
        pinned=first.pinned or second.pinned,
        updated_at=now,
    )
    gone = second.archived(f"merged into {_name(first)}", now)
    operations = [
        MemoryOperation(OperationKind.MERGE, merged, f"you merged {second.ref} into it", "merge"),
        MemoryOperation(
            OperationKind.ARCHIVE, gone, f"you merged it into {first.ref}", "merge", replaced_by=_name(first)
        ),
        *_relinked([r for r in records if r.key not in (first.key, second.key)], second, first),
    ]
    return Changed((merged, gone), build_plan(operations, records), renamed=_name(second))


def editable(record: MemoryRecord) -> str:
    """A record's text for an editor: the fact, its details as a list, and a line that says how it is read."""
    lines = [record.summary, ""]
    if record.details:
        lines += [*(f"- {line}" for line in record.details), ""]
    return "\n".join([*lines, f"{_GUIDE} {record.ref}: {_GUIDANCE} -->", ""])


def read_edited(text: str, record: MemoryRecord) -> Wish:
    """What a text that came back from an editor asks for; one that came back as it went asks for nothing.

    Raises:
        InvalidInputError: there is no text.
    """
    if text.replace("\r\n", "\n").rstrip("\n") == editable(record).rstrip("\n"):
        return Wish(seen=record)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(_GUIDE)]
    if not lines:
        raise InvalidInputError(
            f"the text is empty, so nothing was changed; 'cam forget {record.ref}' archives it"
        )
    details = tuple(line.removeprefix("- ") for line in lines[1:])
    return Wish(lines[0], details, seen=record)


_GUIDE = "<!-- cam:edit"
_GUIDANCE = "the first line is the fact, the others are details; a text left as it is changes nothing"


def _reworded(record: MemoryRecord, wish: Wish) -> tuple[MemoryRecord, tuple[str, ...]]:
    summary = record.summary if wish.summary is None else wish.summary
    details = record.details if wish.details is None else wish.details
    summary, lines, warnings = screened(summary, details)
    if wish.summary is None and not warnings:
        summary = record.summary
    return replace(record, summary=summary, details=lines), warnings


def _bound(wanted: str | None, present: str | None, now: str, *, end_of_day: bool) -> str | None:
    if wanted is None:
        return present
    return moment(wanted, now=now, end_of_day=end_of_day) if wanted.strip() else None


def _doubts(record: MemoryRecord, records: Iterable[MemoryRecord]) -> tuple[str, ...]:
    """What else in the scope no longer holds if ``record`` does; said, not decided."""
    from cam.language.relations import contradicts  # noqa: PLC0415 - words of six languages

    if record.state is not MemoryState.ACTIVE:
        return ()
    others = [
        r
        for r in records
        if r.key != record.key and r.scope is record.scope and r.state is MemoryState.ACTIVE
    ]
    against = contradicts(record.summary, [r.summary for r in others])
    return tuple(f"it contradicts: {others[n].summary}  {others[n].ref}" for n in against)


def _pair(records: Records, one: MemoryRef, other: MemoryRef) -> tuple[MemoryRecord, MemoryRecord]:
    first, second = find(records, one), find(records, other)
    if first.key == second.key:
        raise InvalidInputError(f"both refs name {first.ref}")
    return first, second


def _each(
    records: Records,
    wanted: tuple[MemoryRecord, MemoryRecord],
    kind: OperationKind,
    reason: str,
    rule: str,
    already: str,
) -> Changed:
    known = {r.key: r for r in records}
    changed = [r for r in wanted if known[r.key] != r]
    if not changed:
        done = _nothing(wanted[0], f"{wanted[0].ref} and {wanted[1].ref} {already}", rule)
        return replace(done, records=wanted)
    return Changed(wanted, build_plan([MemoryOperation(kind, r, reason, rule) for r in changed], records))


def _one(records: Records, wanted: MemoryRecord, kind: OperationKind, reason: str, rule: str) -> Changed:
    return Changed((wanted,), build_plan([MemoryOperation(kind, wanted, reason, rule)], records))


def _nothing(record: MemoryRecord, reason: str, rule: str) -> Changed:
    return Changed((record,), MemoryPlan((), (MemoryOperation(OperationKind.NOOP, record, reason, rule),)))


def _relinked(records: Records, old: MemoryRecord, new: MemoryRecord) -> list[MemoryOperation]:
    """Links to ``old`` that shall lead to ``new``."""
    if _name(old) == _name(new):
        return []
    return [
        MemoryOperation(
            OperationKind.LINK, _with_link(_without_link(r, old), new), f"{_name(old)} is {_name(new)} now",
            "relink",
        )
        for r in records
        if _name(old) in r.related and r.key != old.key
    ]  # fmt: skip


def _with_link(record: MemoryRecord, other: MemoryRecord) -> MemoryRecord:
    return replace(record, related=_union(record.related, (_name(other),)))


def _without_link(record: MemoryRecord, other: MemoryRecord) -> MemoryRecord:
    return replace(record, related=tuple(name for name in record.related if name != _name(other)))


def _name(record: MemoryRecord) -> str:
    return f"{record.topic}:{record.id}"


def _free(name: str, taken: set[str]) -> str:
    n = 2
    free = name
    while free in taken:
        free, n = f"{name}-{n}", n + 1
    return free


def _union(one: tuple[_T, ...], other: tuple[_T, ...]) -> tuple[_T, ...]:
    return (*one, *(item for item in other if item not in one))
