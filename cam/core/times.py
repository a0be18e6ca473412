"""Timestamps as records hold them. Pure: the clock is read elsewhere."""

import re

from cam.core.errors import InvalidInputError

# Compiled where they are used: a hot command that is given no date needs neither.
_ISO = r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d:?\d\d)?"
_STRICT = r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:[0-5]\d))?"
EPOCH = "1970-01-01T00:00:00.000Z"


def stamp(text: str) -> str:
    """An ISO-8601 time as ``2026-11-30T10:00:00.000Z``.

    Args:
        text: with ``Z``, an offset, or neither (taken for UTC); any precision.

    Returns:
        The same instant in UTC, to the millisecond; ``EPOCH`` where ``text`` is no time.
    """
    hit = re.match(_ISO, text.strip(), re.IGNORECASE)
    if hit is None:
        return EPOCH
    year, month, day, hour, minute, second, fraction, zone = hit.groups()
    millis = (fraction or "0").ljust(3, "0")[:3]
    if zone in (None, "Z", "z"):
        return f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}.{millis}Z"
    return _shifted(f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}", millis, zone)


def _shifted(local: str, millis: str, zone: str) -> str:
    from datetime import datetime  # noqa: PLC0415 - only for the rare offset

    zone = zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        moment = datetime.fromisoformat(local + zone)
        utc = moment - (moment.utcoffset() or moment.utcoffset() or moment - moment)
    except (ValueError, OverflowError):
        return EPOCH
    return (
        f"{utc.year:04}-{utc.month:02}-{utc.day:02}T{utc.hour:02}:{utc.minute:02}:{utc.second:02}.{millis}Z"
    )


def sortable(stamp: str) -> str:
    """A record's stamp, whatever its precision, as text whose order is that of time."""
    if len(stamp) == 24:
        return f"{stamp[:23]}000000"
    seconds, _, fraction = stamp[:-1].partition(".")
    return f"{seconds}.{fraction:0<9}"


def instant(text: str, *, end_of_day: bool = False) -> str:
    """A date or time as a person gives it, as ``sortable``.

    Args:
        text: ``YYYY-MM-DD``, or that with ``THH:MM[:SS[.fraction]]`` and a zone (``Z`` or ``+HH:MM``).
        end_of_day: a date alone means its last instant, not its first.

    Raises:
        InvalidInputError: none of these, or no day of the calendar.
    """
    from datetime import UTC, datetime  # noqa: PLC0415 - only where somebody gives a date

    hit = re.fullmatch(_STRICT, text)
    try:
        if hit is None or not text.isascii():
            raise ValueError
        day, clock, second, fraction, zone = hit.groups()
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}:{second or '00'}{zone or 'Z'}")
        utc = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{text!r} is no date; give 2026-11-30 or a time with its zone such as 2026-11-30T18:00:00Z"
        ) from None
    if clock is None and end_of_day:
        return f"{day}T23:59:59.999999999"
    return f"{utc.replace(tzinfo=None).isoformat()}.{fraction or '':0<9}"
