"""What could not be read, where, and what to do about it."""

from typing import NamedTuple


class Problem(NamedTuple):
    """One thing set aside while reading; everything around it was read.

    Attributes:
        path: the file.
        line: 1-based line where it begins, 0 for the whole file.
        reason: what is wrong, in words.
        advice: what a person can do.
    """

    path: str
    line: int
    reason: str
    advice: str = ""

    @property
    def place(self) -> str:
        """``path:line``, or the path alone."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def __str__(self) -> str:
        """``path:line: reason (advice)``."""
        return f"{self.place}: {self.reason}" + (f" ({self.advice})" if self.advice else "")
