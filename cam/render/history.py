"""The story of a record, and what changed since, for people and as data."""

from collections.abc import Mapping, Sequence
from typing import Any

from cam.core.display import one_line
from cam.core.operations import OperationKind, Quote
from cam.core.records import MemoryRecord, MemoryScope, Source
from cam.formats.history import HistoryEvent, quote_to_data
from cam.formats.topic_file import record_to_data, source_to_data
from cam.memory.history import Step, Story, Turn
from cam.memory.result import Changed

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
_ACTORS = {"user": "you"}
_TURNS = ("added", "changed", "moved", "archived", "restored", "deleted")


def changed_data(changed: Changed) -> dict[str, Any]:
    """``memory edit|move|link|… --json``: the records as they stand, and what was done."""
    plan = changed.plan
    rows = [(c.operation, str(c.ref)) for c in plan.changes] + [(o, str(o.record.ref)) for o in plan.noops]
    return {
        "ref": str(changed.records[0].ref),
        "records": [record_to_data(r) for r in changed.records],
        "is_changed": bool(plan.changes),
        "changes": [{"kind": str(o.kind), "ref": ref, "reason": o.reason} for o, ref in rows],
        "transaction": changed.transaction,
        "warnings": list(changed.warnings),
    }


def changed_text(changed: Changed, verb: str) -> str:
    """What was done, and to what; or why there was nothing to do."""
    if not changed.plan.changes:
        reasons = [one_line(o.reason) for o in changed.plan.noops]
        return "\n".join(["Nothing to change:", *(f"  {reason}" for reason in reasons)])
    lines = [f"{one_line(r.summary)}\n  {r.ref}" for r in changed.records]
    return "\n".join([f"{verb}:", *lines, "undo: cam undo"])


def story_data(story: Story) -> dict[str, Any]:
    """``why --json``."""
    record = story.record or story.last
    return {
        "ref": story.ref,
        "exists": story.record is not None,
        "record": _record(story.record),
        "summary": record.summary if record else None,
        "sources": [source_to_data(s) for s in record.sources] if record else [],
        "events": [_step_data(step) for step in story.steps],
    }


def story_text(story: Story) -> str:
    """``why``: the record, then a paragraph per event, oldest first; repeats without words are left out."""
    record = story.record or story.last
    head = one_line(record.summary) if record else "(its text is not known)"
    lines = [head, f"  {story.ref}" + ("" if story.record else "  (deleted)")]
    for step in story.steps:
        if step.event.applied or step.event.quotes or not step.event.transaction:
            lines += ["", *_step_lines(step)]
    sources = [s for s in record.sources if s.kind in ("session", "agent", "import")] if record else []
    if sources:
        lines += ["", "Said in:", *(f"  {_source(s)}" for s in sources)]
    if not story.steps:
        lines += ["", "The history tells nothing more of it."]
    return "\n".join(lines)


def difference_data(since: str, found: Mapping[MemoryScope, Sequence[Turn]]) -> dict[str, Any]:
    """``memory diff --json``."""
    scopes = []
    for scope, turns in found.items():
        rows = {what: [_turn_data(t) for t in turns if t.what == what] for what in _TURNS}
        scopes.append({"scope": str(scope), **rows})
    return {"since": since, "scopes": scopes, "count": sum(map(len, found.values()))}


def difference_text(since: str, found: Mapping[MemoryScope, Sequence[Turn]]) -> str:
    """``memory diff``: by scope, what came, changed and went, with the transactions that did it."""
    if not found:
        return f"Nothing changed since {since}."
    lines = [f"Since {since}"]
    for scope, turns in found.items():
        counts = {what: sum(t.what == what for t in turns) for what in _TURNS}
        lines += ["", f"{scope}: {', '.join(f'{n} {what}' for what, n in counts.items() if n)}"]
        for turn in sorted(turns, key=lambda t: _TURNS.index(t.what)):
            lines += _turn_lines(turn)
    return "\n".join(lines)


def _step_data(step: Step) -> dict[str, Any]:
    event = step.event
    return {
        "at": event.at,
        "kind": str(event.kind),
        "ref": event.ref,
        "reason": event.reason,
        "actor": event.actor if event.transaction or event.actor == "file" else None,
        "by_hand": event.actor == "file",
        "transaction": event.transaction or None,
        "before": _record(event.before),
        "after": _record(event.after),
        "quotes": [quote_to_data(q) for q in event.quotes],
        "replaces": list(step.replaces),
        "replaced_by": step.replaced_by or None,
    }


def _step_lines(step: Step) -> list[str]:
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


def _verb(event: HistoryEvent) -> str:
    if event.kind is OperationKind.PIN and event.after is not None and not event.after.pinned:
        return "unpinned"
    if event.kind is OperationKind.LINK and event.after is not None and event.before is not None:
        return "linked" if len(event.after.related) >= len(event.before.related) else "unlinked"
    return _VERBS[event.kind]


def _who(event: HistoryEvent) -> str:
    if event.actor == "file":
        return ""
    return _ACTORS.get(event.actor, event.actor) if event.transaction else "as an earlier cam noted it"


def _place(quote: Quote) -> str:
    if not quote.session:
        return ""
    return f"  session {quote.session}" + (f", message {quote.ordinal}" if quote.ordinal else "")


def _source(source: Source) -> str:
    if source.session:
        return f"session {source.session}" + (f", message {source.ordinal}" if source.ordinal else "")
    return " ".join(str(value) for value in source_to_data(source).values())


def _turn_data(turn: Turn) -> dict[str, Any]:
    return {
        "ref": str(turn.record.ref),
        "summary": turn.record.summary,
        "before": _record(turn.before),
        "after": _record(turn.after),
        "transactions": list(turn.transactions),
    }


def _turn_lines(turn: Turn) -> list[str]:
    record, before = turn.record, turn.before
    lines = [f"  {turn.what:<9} {one_line(record.summary)}"]
    if before is not None and before.summary != record.summary:
        lines.append(f"{'':<12}was: {one_line(before.summary)}")
    if before is not None and before.key != record.key:
        lines.append(f"{'':<12}from {before.ref}")
    changes = [f"({len(turn.transactions)} changes)"] if len(turn.transactions) > 1 else []
    return [*lines, f"{'':<12}{'  '.join([str(record.ref), *turn.transactions[-1:], *changes])}"]


def _record(record: MemoryRecord | None) -> dict[str, Any] | None:
    return None if record is None else record_to_data(record)
