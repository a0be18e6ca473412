"""What each session taught, corrected and forgot, for people and as data."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cam.core.display import listed
from cam.core.tombstones import normal
from cam.formats.history import quote_to_data
from cam.formats.record_data import record_to_data
from cam.memory.log import Lesson, LogEntry

_SIGNS = {"learned": "+", "restored": "+", "corrected": "~", "changed": "~", "forgotten": "-", "deleted": "-"}
_ACTORS = {"user": "you", "file": "edited by hand", "sync": "a session"}
SHOWN = 20
"""Lessons of one change that are told; an import may have thousands."""


def log_data(entries: Sequence[LogEntry], total: int) -> dict[str, Any]:
    """``log --json``.

    Args:
        entries: those that are shown.
        total: how many there are.
    """
    return {"entries": [_entry_data(entry) for entry in entries], "count": len(entries), "total": total}


def log_text(entries: Sequence[LogEntry], total: int, *, is_part: bool = False) -> str:
    """``log``: newest first; each change with what it did to which record, the words, and the way back.

    Args:
        entries: those that are shown.
        total: how many there are.
        is_part: only some were asked for.
    """
    if not entries:
        what = "Nothing of that kind" if is_part else "Nothing"
        return f"{what} was learned, corrected or forgotten here yet."
    blocks = ["\n".join(_entry_lines(entry)) for entry in entries]
    if len(entries) < total:
        blocks.append(f"{total - len(entries)} earlier: cam log --limit {min(total, len(entries) * 5)}")
    return "\n\n".join(blocks)


def _entry_lines(entry: LogEntry) -> list[str]:
    head = [f"{entry.at[:10]} {entry.at[11:16]}Z", _who(entry), _counts(entry)]
    lines = ["  ".join(head)]
    for lesson in entry.lessons[:SHOWN]:
        lines += _lesson_lines(lesson)
    left = len(entry.lessons) + entry.left - SHOWN
    if left > 0:
        lines.append(f"  … and {left:,} more: cam log --json")
    again = f"project move {entry.came_from}" if entry.came_from else f"undo {entry.undone_by}"
    if entry.undone_by:
        lines.append(f"  taken back; redo: cam {again}")
    elif entry.undoes and entry.came_from:
        lines.append(f"  redo: cam {again}")
    elif entry.can_undo:
        lines.append(f"  {'redo' if entry.undoes else 'undo'}: cam undo {entry.transaction}")
    return lines


def _lesson_lines(lesson: Lesson) -> list[str]:
    record = lesson.record
    said = listed(record.summary) if record else "(its text is not known)"
    sign = _SIGNS.get(lesson.what)
    lines = [f"  {sign} {said}" if sign else f"  · {lesson.what}: {said}"]
    for was in lesson.was:
        if lesson.what == "moved":
            lines.append(f"    from {was.ref}")
        elif record is None or was.summary != record.summary:
            lines.append(f"    was: {listed(was.summary)}")
        else:
            lines.append("    with other details")
    for quote in lesson.quotes:
        # What a person typed at the terminal is the record itself: said once is enough.
        if quote.session or record is None or normal(quote.text) != normal(record.summary):
            place = f"  message {quote.ordinal}" if quote.session and quote.ordinal else ""
            lines.append(f"    “{listed(quote.text)}”{place}")
    return [*lines, f"    {lesson.ref}"]


def _counts(entry: LogEntry) -> str:
    counts = Counter(lesson.what for lesson in entry.lessons)
    counts[entry.lessons[0].what] += entry.left
    return ", ".join(f"{word} {count:,}" for word, count in counts.items())


def _who(entry: LogEntry) -> str:
    if entry.undoes:
        return "undo"
    if entry.origin:
        return f"arrived from {entry.origin}"
    if entry.session:
        return f"session {entry.session}"
    return _ACTORS.get(entry.actor, entry.actor)


def _entry_data(entry: LogEntry) -> dict[str, Any]:
    return {
        "at": entry.at,
        "actor": entry.actor,
        "session": entry.session or None,
        "arrived_from": entry.origin or None,
        "transaction": entry.transaction or None,
        "can_undo": entry.can_undo,
        "undoes": entry.undoes or None,
        "undone_by": entry.undone_by or None,
        "lessons": [
            {
                "what": lesson.what,
                "ref": lesson.ref,
                "record": record_to_data(lesson.record) if lesson.record else None,
                "was": [record_to_data(was) for was in lesson.was],
                "quotes": [quote_to_data(quote) for quote in lesson.quotes],
            }
            for lesson in entry.lessons
        ],
    }
