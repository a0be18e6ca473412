"""The clock, read in one place."""

import time


def now_stamp() -> str:
    """The time, ISO-8601 UTC with milliseconds and ``Z``."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1_000_000:03d}Z"


def now_seconds() -> float:
    """The time, seconds since the epoch."""
    return time.time()


def compact(stamp: str) -> str:
    """A stamp to the second as a part of names: ``20261130T101500``, which sort by time."""
    return stamp[:19].replace("-", "").replace(":", "")
