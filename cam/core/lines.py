"""Lines of a file as its reader hands them to a parser."""

from dataclasses import dataclass

MAX_LINE = 16 * 1024 * 1024
"""Bytes above which a line is passed over unread; the longest ones seen hold images of under 2 MB."""


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that was passed over while reading, so that nothing of it was held.

    Attributes:
        size: its bytes, the line feed included.
        reason: short name for the count of what was skipped.
    """

    size: int
    reason: str = "too_long"
