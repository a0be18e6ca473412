"""One event of a record's story, for people and as data."""

from typing import Any

from cam.core.display import one_line
from cam.core.operations import OperationKind, Quote
from cam.core.records import MemoryRecord
from cam.formats.history import HistoryEvent, quote_to_data
from cam.formats.record_data import record_to_data
from cam.store.story import Step

_VERBS = {
    OperationKind.ADD: "added",
    OperationKind.UPDATE: "changed",
    OperationKind.DELETE: "deleted",
    OperationKind.ARCHIVE: "archived",
    OperationKind.NOOP: "nothing changed",
    OperationKind.RESTORE: "restored",
    OperationKind.MOVE: "moved",
    OperationKind.PIN: "pinned",
    OperationKind.MERGE: "merged",
    OperationKind.LINK: "linked",
}
_ACTORS = {"user": "you", "git": ""}


def step_data(step: Step) -> dict[str, Any]:
    """An event as data, with the whole record before and after."""
    event = step.event
    return {
        "at": event.at,
        "kind": str(event.kind),
        "ref": event.ref,
        "reason": event.reason,
        "actor": event.actor if event.transaction or event.actor == "file" else None,
        "by_hand": event.actor == "file",
        "machine": event.machine or None,
        "transaction": event.transaction or None,
        "before": record_or_none(event.before),
        "after": record_or_none(event.after),
        "quotes": [quote_to_data(q) for q in event.quotes],
        "replaces": list(step.replaces),
        "replaced_by": step.replaced_by or None,
    }


def step_lines(step: Step) -> list[str]:
    """An event for people: when, what, why, whose words, and what of the text came and went."""
    event = step.event
    named = ", ".join(part for part in (_who(event), event.transaction) if part)
    what = f"{_verb(event)}: {one_line(event.reason)}" if event.reason else _verb(event)
    if event.actor == "file":
        what = event.reason  # "edited by hand" says it all
    lines = [f"{event.at}  {what}" + (f"  ({named})" if named else "")]
    lines += [f"    “{one_line(q.text)}”{_place(q)}" for q in event.quotes]
    before, after = event.before, event.after
    if before is not None and after is not None and before.text != after.text:
        gone = [
            line for line in (before.summary, *before.details) if line not in (after.summary, *after.details)
        ]
        come = [
            line for line in (after.summary, *after.details) if line not in (before.summary, *before.details)
        ]
        lines += [f"    - {one_line(line)}" for line in gone] + [f"    + {one_line(line)}" for line in come]
    lines += [f"    replaces {ref}" for ref in step.replaces]
    if step.replaced_by and event.kind is not OperationKind.MOVE:
        lines.append(f"    replaced by {step.replaced_by}")
    return lines


def record_or_none(record: MemoryRecord | None) -> dict[str, Any] | None:
    """A record as data, null where there is none."""
    return None if record is None else record_to_data(record)


def _verb(event: HistoryEvent) -> str:
    if event.kind is OperationKind.PIN and event.after is not None and not event.after.pinned:
        return "unpinned"
    if event.kind is OperationKind.LINK and event.after is not None and event.before is not None:
        return "linked" if len(event.after.related) >= len(event.before.related) else "unlinked"
    return _VERBS[event.kind]


def _who(event: HistoryEvent) -> str:
    if event.actor == "file":
        return ""
    if not event.transaction:
        return "as an earlier cam noted it"
    who = _ACTORS.get(event.actor, event.actor)
    return f"{who} on {event.machine}".lstrip() if event.machine else who


def _place(quote: Quote) -> str:
    if not quote.session:
        return ""
    return f"  session {quote.session}" + (f", message {quote.ordinal}" if quote.ordinal else "")
