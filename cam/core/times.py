"""Timestamps as records hold them. Pure: the clock is read elsewhere."""

import re

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
EPOCH = "1970-01-01T00:00:00.000Z"


def stamp(text: str) -> str:
    """An ISO-8601 time as ``2026-11-30T10:00:00.000Z``.

    Args:
        text: with ``Z``, an offset, or neither (taken for UTC); any precision.

    Returns:
        The same instant in UTC, to the millisecond; ``EPOCH`` where ``text`` is no time.
    """
    hit = _ISO.match(text.strip())
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
