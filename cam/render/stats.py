"""``cam stats`` for people and as data."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from cam.core.display import counted, one_line, shortened
from cam.formats.receipts import InjectionReceipt
from cam.startup.stats import Stats, Used

_SHOWN = 5


def stats_data(stats: Stats) -> dict[str, Any]:
    """``stats --json``."""
    return {
        "sessions": stats.sessions,
        "receipts": {
            "arrived": stats.arrived,
            "missed": [{"reason": reason, "count": count} for reason, count in stats.missed],
            "unknown": stats.unknown,
            "last": _receipt_data(stats.last),
        },
        "tokens": stats.tokens,
        "records": {"active": stats.records, "told": stats.told, "never_told": list(stats.never_told)},
        "repeated": [_used_data(u) for u in stats.repeated],
        "useful": [_used_data(u) for u in stats.useful],
        "unused": [_used_data(u) for u in stats.unused],
    }


def stats_text(stats: Stats) -> str:
    """A few lines, the most telling records by name."""
    if not stats.sessions:
        remembered = counted(stats.records, "record")
        return (
            f"No session was told anything here yet. What would be told of {remembered}: cam memory --startup"
        )
    each = -(-stats.tokens // stats.arrived) if stats.arrived else 0
    starts = f"{counted(stats.arrived + _missed(stats), 'start')} in {counted(stats.sessions, 'session')}"
    tokens = counted(stats.tokens, "token")
    lines = [
        f"Memory reached the model at {stats.arrived} of {starts}: {tokens}, {each:,} each.",
        *(f"It did not arrive: {one_line(reason)} ({count}x)" for reason, count in stats.missed),
        f"Told at least once: {stats.told} of {counted(stats.records, 'record')}.",
    ]
    lines += _block("You repeated though Codex had been told", stats.repeated, "repeated")
    lines += _block("Recalled or cited by the model", stats.useful, "useful")
    lines += _block("Told often without a sign of use", stats.unused, "shown")
    return "\n".join(lines)


def _block(title: str, used: Sequence[Used], count: str) -> list[str]:
    if not used:
        return []
    rows = [
        f"  {_count(u, count)}x {shortened(one_line(u.text), 90) or '[private]'}  ({u.ref})"
        for u in used[:_SHOWN]
    ]
    more = [f"  … and {len(used) - _SHOWN} more: cam stats --json"] if len(used) > _SHOWN else []
    return ["", f"{title}:", *rows, *more]


def _count(used: Used, name: str) -> int:
    if name == "useful":
        return used.use.recalled + used.use.cited
    return used.use.repeated if name == "repeated" else used.use.shown


def _used_data(used: Used) -> dict[str, Any]:
    return {"ref": used.ref, "text": used.text, **asdict(used.use)}


def _receipt_data(receipt: InjectionReceipt | None) -> dict[str, Any] | None:
    if receipt is None:
        return None
    names = ("at", "session", "codex", "strategy", "source", "arrived", "tokens", "reason")
    return {name: getattr(receipt, name) for name in names} | {"records": len(receipt.refs)}


def _missed(stats: Stats) -> int:
    return sum(count for _, count in stats.missed)
