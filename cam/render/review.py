"""What waits for a person, and what was decided, for people and as data."""

from typing import Any

from cam.core.display import listed, one_line, shortened
from cam.formats.audit import Waiting
from cam.formats.history import quote_to_data
from cam.formats.record_data import record_to_data, source_to_data
from cam.memory.proposals import Preview
from cam.memory.result import Decided, Proposed
from cam.memory.review_queue import Queue
from cam.render.reasons import in_words

_SHOWN = 20
"""Rejected items that are listed; suppressed and proposed ones are listed all."""

_HEADS = {
    "suppressed": "Not kept, because known facts contradict",
    "proposed": "Proposed",
    "rejected": "Not kept",
}


def queue_data(queue: Queue, *, every: bool) -> dict[str, Any]:
    """``review list --json``: everything that waits; with ``every`` what is settled too."""
    data: dict[str, Any] = {
        "waiting": [item_data(item) for item in queue.waiting],
        "settled_count": len(queue.settled),
    }
    if every:
        data["settled"] = [{**item_data(item), "settled": how} for item, how in queue.settled]
    return data


def item_data(item: Waiting) -> dict[str, Any]:
    """One item."""
    return {
        "id": item.id,
        "kind": item.kind,
        "text": item.text,
        "details": list(item.details),
        "reason": item.reason,
        "at": item.at,
        "scope": str(item.scope) if item.scope else None,
        "topic": item.topic,
        "conflicts_with": list(item.conflicts_with),
        "quotes": [quote_to_data(q) for q in item.quotes],
        "source": source_to_data(item.source) if item.source else None,
        "target": item.target or None,
        "old": item.old or None,
        "rationale": item.rationale or None,
        "type": str(item.type),
        "valid_from": item.valid_from,
        "valid_until": item.valid_until,
        "related": list(item.related),
    }


def queue_text(queue: Queue, *, every: bool) -> str:
    """``review``: items by kind, each with its id, why it was not kept and what it conflicts with."""
    lines: list[str] = []
    for kind, head in _HEADS.items():
        items = [i for i in queue.waiting if i.kind == kind]
        shown = items if every or kind != "rejected" else items[:_SHOWN]
        if items:
            lines += [*([""] if lines else []), f"{head}:"]
        for item in shown:
            lines += _item_lines(item, in_words(item.reason))
        if len(shown) < len(items):
            lines.append(f"… and {len(items) - len(shown)} older: cam review list --all")
    if every and queue.settled:
        lines += [*([""] if lines else []), "Settled:"]
        for item, how in queue.settled:
            lines += _item_lines(item, f"{how}; {in_words(item.reason)}")
    if not lines:
        return "Nothing waits for you."
    if queue.waiting:
        lines += ["", "cam review accept ID · cam review reject ID"]
    return "\n".join(lines)


def decided_data(decided: Decided) -> dict[str, Any]:
    """``review accept --json`` and ``review reject --json``."""
    return {
        "item": item_data(decided.item),
        "decided": decided.how,
        "applied": [
            {
                "kind": str(c.operation.kind),
                "ref": str(c.ref),
                "before": record_to_data(c.before) if c.before else None,
                "after": record_to_data(c.after) if c.after else None,
            }
            for c in decided.plan.changes
        ],
        "noop": [{"ref": str(o.record.ref), "reason": o.reason} for o in decided.plan.noops],
        "kept": [str(r.ref) for r in decided.kept],
        "warnings": list(decided.warnings),
    }


def decided_text(decided: Decided) -> str:
    """What was decided, what it did, and how to take it back."""
    if decided.how == "rejected":
        return f"Rejected: {listed(decided.item.text)}"
    lines = []
    for change in decided.plan.changes:
        record = change.after or change.before
        assert record is not None
        is_gone = change.after is None or change.after.state != "active"
        verb = "Archived" if is_gone else "Remembered"
        lines.append(f"{verb}: {listed(record.summary)}\n  {change.ref}")
    lines += [f"Known already: {listed(o.record.summary)}\n  {o.record.ref}" for o in decided.plan.noops]
    if decided.plan.changes:
        lines.append("undo: cam undo")
    return "\n".join(lines)


def preview_data(seen: Preview) -> dict[str, Any]:
    """``review accept --json`` of a change to a file."""
    return {
        "item": item_data(seen.item),
        "decided": "accepted" if seen.applied or not seen.diff else None,
        "diff": seen.diff,
        "seen": seen.seen or None,
        "applied": seen.applied,
    }


def preview_notes(seen: Preview) -> tuple[str, ...]:
    """What stands beside the diff: how to apply it, or that it was."""
    target = seen.item.target
    if seen.applied:
        return (f"cam: {target} was changed as the diff shows; 'cam undo' does not take that back, git does",)
    if not seen.diff:
        return (f"cam: {target} holds that already",)
    more = f" --seen {seen.seen}" if seen.seen else ""
    changed = f"{target} has changed since this was proposed. " if seen.seen else ""
    return (f"cam: {changed}Nothing is written yet: cam review accept {seen.item.id} --apply{more}",)


def proposed_data(done: Proposed) -> dict[str, Any]:
    """``propose --json``."""
    return {
        "item": item_data(done.item),
        "diff": done.diff,
        "is_new": done.is_new,
        "warnings": list(done.warnings),
    }


def proposed_text(done: Proposed) -> str:
    """That it waits, and where."""
    waits = "waits for the person" if done.is_new else "waits already"
    return f"Proposed for {done.item.target}: {waits}\n  cam review accept {done.item.id}"


def _item_lines(item: Waiting, why: str) -> list[str]:
    lines = [f"{item.id}  {listed(item.text)}"]
    lines += [f"          | {listed(line)}" for line in item.details]
    if item.target:
        what = f"put in the place of {shortened(one_line(item.old), 80)!r}" if item.old else "added to it"
        lines.append(f"          for {item.target}: {what}")
    lines.append(f"          {why}" + (f": {listed(item.rationale)}" if item.rationale else ""))
    lines += [f"          conflicts with {ref}" for ref in item.conflicts_with]
    window = (("valid from", item.valid_from), ("valid until", item.valid_until))
    lines += [f"          {name} {at}" for name, at in window if at]
    if item.related:
        lines.append(f"          related to {', '.join(item.related)}")
    return lines
