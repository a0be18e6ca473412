"""The story of a record, and what changed since, for people and as data."""

from collections.abc import Mapping, Sequence
from typing import Any

from cam.core.display import listed, one_line
from cam.core.records import MemoryScope, Source
from cam.formats.record_data import record_to_data, source_to_data
from cam.memory.result import Changed
from cam.render.story import record_or_none, step_data, step_lines
from cam.store.story import Story, Turn

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
    lines = [f"{listed(r.summary)}\n  {r.ref}" for r in changed.records]
    return "\n".join([f"{verb}:", *lines, "undo: cam undo"])


def story_data(story: Story) -> dict[str, Any]:
    """``why --json``."""
    record = story.record or story.last
    return {
        "ref": story.ref,
        "exists": story.record is not None,
        "record": record_or_none(story.record),
        "summary": record.summary if record else None,
        "sources": [source_to_data(s) for s in record.sources] if record else [],
        "events": [step_data(step) for step in story.steps],
    }


def story_text(story: Story) -> str:
    """``why``: the record, then a paragraph per event, oldest first; repeats without words are left out."""
    record = story.record or story.last
    head = one_line(record.summary) if record else "(its text is not known)"
    lines = [head, f"  {story.ref}" + ("" if story.record else "  (deleted)")]
    for step in story.steps:
        if step.event.applied or step.event.quotes or not step.event.transaction:
            lines += ["", *step_lines(step)]
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


def _source(source: Source) -> str:
    if source.session:
        return f"session {source.session}" + (f", message {source.ordinal}" if source.ordinal else "")
    return " ".join(str(value) for value in source_to_data(source).values())


def _turn_data(turn: Turn) -> dict[str, Any]:
    return {
        "ref": str(turn.record.ref),
        "summary": turn.record.summary,
        "before": record_or_none(turn.before),
        "after": record_or_none(turn.after),
        "transactions": list(turn.transactions),
    }


def _turn_lines(turn: Turn) -> list[str]:
    record, before = turn.record, turn.before
    lines = [f"  {turn.what:<9} {listed(record.summary)}"]
    if before is not None and before.summary != record.summary:
        lines.append(f"{'':<12}was: {listed(before.summary)}")
    if before is not None and before.key != record.key:
        lines.append(f"{'':<12}from {before.ref}")
    changes = [f"({len(turn.transactions)} changes)"] if len(turn.transactions) > 1 else []
    return [*lines, f"{'':<12}{'  '.join([str(record.ref), *turn.transactions[-1:], *changes])}"]
