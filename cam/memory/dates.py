"""Dates as people type them. Pure: the present is passed in."""

import re
from datetime import UTC, date, datetime, timedelta

from cam.core.errors import InvalidInputError

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_AGO = re.compile(r"(\d{1,5})\s*([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def moment(text: str, *, now: str, end_of_day: bool = False) -> str:
    """A point in time as records hold it, ISO-8601 UTC.

    Args:
        text: a date, an ISO-8601 time (taken for UTC where it names no zone), or an age: ``12h``, ``7d``,
            ``2w``.
        now: what an age counts from.
        end_of_day: a date alone means its last millisecond, not its first.

    Raises:
        InvalidInputError: none of these.
    """
    given = text.strip()
    ago = _AGO.fullmatch(given)
    try:
        if ago is not None:
            back = timedelta(**{_UNITS[ago.group(2)]: int(ago.group(1))})
            return _stamp(datetime.fromisoformat(now) - back)
        if _DAY.fullmatch(given):
            day = date.fromisoformat(given).isoformat()
            return f"{day}T23:59:59.999Z" if end_of_day else f"{day}T00:00:00.000Z"
        return _stamp(datetime.fromisoformat(given))
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{text!r} is no date; give 2026-11-30, 2026-11-30T18:00:00Z or an age such as 7d"
        ) from None


def window(valid_from: str, valid_until: str, *, now: str) -> tuple[str | None, str | None]:
    """From when on and until when something holds, as records hold it.

    Args:
        valid_from: as ``moment`` takes it; blank for always.
        valid_until: likewise, blank for ever; a date alone is the last day.
        now: what an age counts from.

    Raises:
        InvalidInputError: one of them is no date, or it would never hold.
    """
    return checked_window(
        moment(valid_from, now=now) if valid_from.strip() else None,
        moment(valid_until, now=now, end_of_day=True) if valid_until.strip() else None,
    )


def checked_window(begins: str | None, ends: str | None) -> tuple[str | None, str | None]:
    """Both bounds, as they are.

    Raises:
        InvalidInputError: it would never hold.
    """
    if begins and ends and begins >= ends:
        raise InvalidInputError(f"it would never hold: valid from {begins} until {ends}")
    return begins, ends


def _stamp(at: datetime) -> str:
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
