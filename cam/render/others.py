"""What other tools remember and cam could propose, for people and as data."""

from typing import Any

from cam.core.display import counted, listed
from cam.memory.others import OthersPlan
from cam.render.review import item_data

_SHOWN = 40


def others_data(plan: OthersPlan, *, done: bool) -> dict[str, Any]:
    """``import agents-md | claude | native --json``."""
    return {
        "kind": plan.kind,
        "files": [
            {"path": f.path, "notes": len(f.notes), **({"problem": f.problem} if f.problem else {})}
            for f in plan.files
        ],
        "proposed": [item_data(item) for item in plan.items],
        "known": plan.known,
        "refused": plan.refused,
        "written": done,
    }


def others_text(plan: OthersPlan) -> str:
    """Each file, and what of it is new."""
    if not plan.files:
        return "There is nothing to import."
    lines = []
    for file in plan.files:
        count = counted(len(file.notes), "note")
        lines.append(f"{file.path}: {file.problem or count}")
    lines += [f"  {item.id}  {listed(item.text)}" for item in plan.items[:_SHOWN]]
    if len(plan.items) > _SHOWN:
        lines.append(f"  … and {len(plan.items) - _SHOWN} more")
    if plan.known:
        lines.append(f"known already: {plan.known}")
    if plan.refused:
        lines.append(f"left out, nothing but a secret or taken out by you: {plan.refused}")
    return "\n".join(lines)
