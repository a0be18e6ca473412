"""What was put in, taken out, or found of integrations: for people and as data."""

import os
from typing import Any

from cam.core.display import one_line
from cam.render.doctor import doctor_data
from cam.setup.integrations.doctor import Health
from cam.setup.integrations.result import IntegrationPlan, Note


def plan_data(plan: IntegrationPlan, *, dry_run: bool) -> dict[str, Any]:
    """``--json`` of install, apply and remove."""
    return {
        "scope": plan.places.scope,
        "dry_run": dry_run,
        "changed": [change.path for change in plan.changes],
        "pieces": [
            {"piece": str(n.piece), "action": n.action, "path": n.path, "note": n.text or None}
            for n in plan.notes
        ],
    }


def plan_text(plan: IntegrationPlan, *, dry_run: bool) -> str:
    """One line for each piece and file, and how it ended."""
    lines = plan_lines(plan, dry_run=dry_run)
    if dry_run:
        lines.append("Nothing was written (--dry-run).")
    elif not plan.changes:
        lines.append("Everything is as it should be.")
    return "\n".join(lines)


def plan_lines(plan: IntegrationPlan, *, dry_run: bool = False) -> list[str]:
    """One line for each piece and file; with ``dry_run`` what would happen to it."""
    actions = _WOULD if dry_run else {}
    return [_line(note, actions.get(note.action, note.action)) for note in plan.notes]


def health_data(health: Health) -> dict[str, Any]:
    """``--json`` of the doctor."""
    return {"route": health.route, "installed": health.installed, **doctor_data(health.findings)}


_WOULD = {"created": "create", "updated": "update", "removed": "remove"}


def _line(note: Note, action: str) -> str:
    more = f"  ({one_line(note.text)})" if note.text else ""
    return f"{action:<9} {note.piece:<8} {one_line(os.fspath(note.path))}{more}"
