"""What an import did."""

from typing import Any

from cam.core.operations import OperationKind
from cam.memory.carry import Imported


def import_data(done: Imported, *, dry_run: bool) -> dict[str, Any]:
    """``memory import --json``."""
    changes = done.records
    return {
        "dry_run": dry_run,
        "added": sum(c.operation.kind is OperationKind.ADD for c in changes),
        "updated": sum(c.operation.kind is not OperationKind.ADD for c in changes),
        "known": done.decided.known,
        "masked": done.decided.masked,
        "refused": done.decided.refused,
        "notes": [str(scope) for scope in done.notes],
        "refs": [str(c.ref) for c in changes],
    }


def import_text(data: dict[str, Any]) -> str:
    """One line for what came, one for each thing worth knowing."""
    verb = "Would import" if data["dry_run"] else "Imported"
    if not data["added"] and not data["updated"] and not data["notes"]:
        lines = [f"Nothing to import: {data['known']} known already."]
    elif not any(data[name] for name in ("added", "updated", "known")):
        lines = []
    else:
        lines = [f"{verb}: {data['added']} new, {data['updated']} updated, {data['known']} known already."]
    for scope in data["notes"]:
        comes = "would come" if data["dry_run"] else "came"
        lines.append(f"MEMORY.md of {scope}: the person's own text {comes} along.")
    if data["masked"]:
        lines.append(f"{data['masked']} of them held a secret or a private span; it was taken out.")
    if data["refused"]:
        lines.append(f"{data['refused']} were not taken: nothing but a secret, or erased for good.")
    if (data["added"] or data["updated"] or data["notes"]) and not data["dry_run"]:
        lines.append("undo: cam undo")
    return "\n".join(lines)
