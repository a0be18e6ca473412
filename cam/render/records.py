"""Records for people and as data."""

from collections.abc import Mapping, Sequence
from typing import Any

from cam.core.display import counted, listed, one_line
from cam.core.operations import Change
from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.record_data import record_to_data, source_to_data

_TITLES = {
    MemoryScope.GLOBAL: "Global (every repository)",
    MemoryScope.PROJECT: "This project",
    MemoryScope.PROJECT_LOCAL: "This worktree",
}


def list_data(records: Sequence[MemoryRecord], problems: Sequence[Problem]) -> dict[str, Any]:
    """``memory list --json``."""
    return {
        "entries": [record_to_data(r) for r in records],
        "count": len(records),
        "problems": problem_data(problems),
    }


def problem_data(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Problems as data."""
    return [{"path": p.path, "line": p.line, "reason": p.reason, "advice": p.advice} for p in problems]


def list_text(records: Sequence[MemoryRecord], *, is_all: bool = True) -> str:
    """One record a paragraph: what it says, and the ref to paste.

    Args:
        records: that were asked for.
        is_all: whether they are all there are.
    """
    if not records:
        return "Nothing is remembered here yet." if is_all else "Nothing of that kind is remembered here."
    return "\n".join(f"{listed(r.summary)}\n  {r.ref}" for r in records)


def sign_of(change: Change) -> str:
    """What a change is in a list: ``+`` a record came into use, ``-`` one went out, ``~`` one differs."""
    was, now = (r is not None and r.state is MemoryState.ACTIVE for r in (change.before, change.after))
    if was != now:
        return "+" if now else "-"
    if change.before is None or change.after is None:
        return "-" if change.after is None else "+"
    return "~"


def record_text(record: MemoryRecord) -> str:
    """Everything about one record."""
    rows = [("ref", str(record.ref)), ("created", record.created_at), ("updated", record.updated_at)]
    if str(record.type) != "memory":
        rows.append(("type", str(record.type)))
    rows += [("source", _source(s)) for s in record.sources]
    if record.reason:
        rows.append(("reason", one_line(record.reason)))
    for name in ("valid_from", "valid_until"):
        if getattr(record, name):
            rows.append((name.replace("_", " "), getattr(record, name)))
    if record.related:
        rows.append(("related", ", ".join(record.related)))
    if record.pinned:
        rows.append(("pinned", "yes"))
    details = [f"  {one_line(line)}" for line in record.details]
    width = max(len(name) for name, _ in rows)
    return "\n".join([one_line(record.summary), *details, "", *(f"{n:<{width}}  {v}" for n, v in rows)])


def overview_data(
    counts: Mapping[tuple[MemoryScope, MemoryState, str], int],
    problems: Sequence[Problem],
    folder: str,
    off: str,
) -> dict[str, Any]:
    """``memory --json``, from the number of records in each topic file."""
    scopes = []
    for scope in MemoryScope:
        own = {key: number for key, number in counts.items() if key[0] is scope}
        topics = {
            topic: own[key] for key in sorted(own) if (topic := key[2]) and key[1] is MemoryState.ACTIVE
        }
        active = sum(topics.values())
        archived = sum(own.values()) - active
        scopes.append({"scope": str(scope), "active": active, "archived": archived, "topics": topics})
    return {"folder": folder, "off": off or None, "scopes": scopes, "problems": problem_data(problems)}


def overview_text(data: dict[str, Any], newest: Sequence[MemoryRecord]) -> str:
    """``memory``: counts by scope and topic, and what was learned last."""
    lines = [f"Memory in {data['folder']}" + (f" – off: {data['off']}" if data["off"] else "")]
    for row in data["scopes"]:
        if not row["active"] and not row["archived"]:
            continue
        archived = f", {row['archived']} archived" if row["archived"] else ""
        lines += ["", f"{_TITLES[MemoryScope(row['scope'])]}: {row['active']} active{archived}"]
        lines += [f"  {topic:<14}{count:>5}" for topic, count in row["topics"].items()]
    if newest:
        lines += ["", "Newest:", *(f"  {listed(r.summary)}" for r in newest)]
    else:
        lines += ["", 'Nothing is remembered yet. Try: cam remember "Run the tests with …"']
    if data["problems"]:
        lines += ["", f"{counted(len(data['problems']), 'problem')} in the files: cam doctor"]
    return "\n".join(lines)


def _source(source: Any) -> str:
    data = source_to_data(source)
    if source.kind == "session" and source.session:
        return f"session {source.session}" + (f", message {source.ordinal}" if source.ordinal else "")
    return " ".join(str(value) for value in data.values())
