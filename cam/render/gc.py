"""What was, or would be, cleared."""

from collections.abc import Sequence
from typing import Any

from cam.store.gc import Waste

_KINDS = {
    "history": "old events",
    "audit": "old audit lines",
    "receipts": "old receipts",
    "marks": "replaced marks of sessions",
    "archive": "archived records",
    "copy": "copies from before a move",
    "leftover": "leftovers of crashed writes",
    "run": "files of old runs",
    "ledger": "ledgers of old sessions",
    "orphan": "files of projects that are gone",
}


def gc_data(waste: Sequence[Waste], *, done: bool) -> dict[str, Any]:
    """``gc --json``."""
    return {
        "done": done,
        "bytes": sum(w.size for w in waste),
        "items": [
            {"kind": w.kind, "path": w.path, "bytes": w.size, "count": w.count, "ref": w.name or None}
            for w in waste
        ],
    }


def gc_text(waste: Sequence[Waste], *, done: bool) -> str:
    """A line per kind, and what it is in all."""
    if not waste:
        return "Nothing to clear."
    lines = []
    for kind, words in _KINDS.items():
        own = [w for w in waste if w.kind == kind]
        if own:
            files = len({w.path for w in own})
            where = own[0].path if files == 1 else f"{files} places"
            count, total = sum(w.count for w in own), size(sum(w.size for w in own))
            lines.append(f"{count:>6} {words:<30} {total:>9}  {where}")
    total = size(sum(w.size for w in waste))
    closing = "Cleared" if done else "Would be cleared"
    advice = "." if done else "; nothing was changed (cam gc --yes)."
    return "\n".join([*lines, f"{closing}: {total}{advice}"])


def size(n: int) -> str:
    """Bytes in a form people read."""
    amount = float(n)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError(n)
