"""The clock, read in one place."""

import time


def now_stamp() -> str:
    """The time, ISO-8601 UTC with milliseconds and ``Z``."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1_000_000:03d}Z"


def now_seconds() -> float:
    """The time, seconds since the epoch."""
    return time.time()
