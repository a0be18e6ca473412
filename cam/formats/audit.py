"""audit/sync-log.jsonl: one line per sync or other write, with what was applied, refused and why."""

from typing import Any

from cam.core.extraction import Conflict, Rejection
from cam.core.operations import MemoryOperation, MemoryPlan
from cam.core.problems import Problem
from cam.formats.history import dump_line, quote_to_data


def render_audit(
    *,
    at: str,
    kind: str,
    actor: str,
    plan: MemoryPlan,
    conflicts: tuple[Conflict, ...] = (),
    rejections: tuple[Rejection, ...] = (),
    problems: tuple[Problem, ...] = (),
    more: dict[str, Any] | None = None,
) -> str:
    """One line, without its line feed.

    Args:
        at: ISO-8601 UTC.
        kind: ``sync``, ``remember``, ``forget`` …
        actor: who wrote: ``user``, ``sync`` or an agent's name.
        plan: what was done; each operation stands with its rule and reason.
        conflicts: candidates that were suppressed, with their text and what they conflict with.
        rejections: what looked durable and was not kept.
        problems: what could not be read.
        more: further fields (session, rollout, extractor, durations …).
    """
    return dump_line(
        {
            "at": at,
            "kind": kind,
            "actor": actor,
            **(more or {}),
            "applied": [_operation(c.operation, str(c.ref)) for c in plan.changes],
            "noop": [_operation(o, str(o.record.ref)) for o in plan.noops],
            "suppressed": [_conflict(c) for c in conflicts],
            "rejected": [{"text": r.text, "reason": r.reason} for r in rejections],
            "problems": [str(p) for p in problems],
        }
    )


def _operation(operation: MemoryOperation, ref: str) -> dict[str, Any]:
    return {
        "kind": str(operation.kind),
        "ref": ref,
        "summary": operation.record.summary,
        "rule": operation.rule,
        "reason": operation.reason,
    }


def _conflict(conflict: Conflict) -> dict[str, Any]:
    candidate = conflict.candidate
    return {
        "scope": str(candidate.scope),
        "topic": candidate.topic,
        "summary": candidate.summary,
        "at": candidate.at,
        "conflicts_with": [str(r.ref) for r in conflict.records],
        "reason": conflict.reason,
        "quotes": [quote_to_data(q) for q in candidate.quotes],
    }
