"""Lines of a file as its reader hands them to a parser, and how two rows of anything compare."""

from collections.abc import Sequence
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


def common_start(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two rows (lines of files, characters of texts) begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))
