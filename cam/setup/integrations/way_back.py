"""The way from a file with cam's pieces in it back to its bytes before, without keeping those. Pure.

A file of settings may hold secrets of its owner's; what is kept is which lines came, and the text of those
alone that they took the place of.
"""

import base64
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cam.core.lines import common_start


@dataclass(frozen=True, slots=True)
class WayBack:
    """What makes the bytes before of the bytes after.

    Attributes:
        was_there: whether there was a file.
        parts: first and last line (exclusive) of the bytes after, and the lines that stood there before.
    """

    was_there: bool = False
    parts: tuple[tuple[int, int, tuple[bytes, ...]], ...] = ()

    def before(self, after: bytes | None) -> bytes | None:
        """The bytes before, None where there was no file.

        Args:
            after: the very bytes that the way was found from.
        """
        if not self.was_there:
            return None
        lines = _lines(after)
        for start, end, old in reversed(self.parts):
            lines[start:end] = old
        return b"\n".join(lines)


def way_back(before: bytes | None, after: bytes | None) -> WayBack:
    """The way from ``after`` back to ``before``; None is no file."""
    if before is None:
        return WayBack()
    old, new = _lines(before), _lines(after)
    head = common_start(old, new)
    tail = common_start(old[head:][::-1], new[head:][::-1])
    new_end, old_end = len(new) - tail, len(old) - tail
    steps = difflib.SequenceMatcher(None, new[head:new_end], old[head:old_end], autojunk=False).get_opcodes()
    parts = tuple(
        (head + i, head + j, tuple(old[head + k : head + m])) for what, i, j, k, m in steps if what != "equal"
    )
    return WayBack(was_there=True, parts=parts)


def way_to_data(way: WayBack) -> dict[str, Any]:
    """A way as JSON data."""
    parts = [[i, j, [base64.b64encode(line).decode("ascii") for line in old]] for i, j, old in way.parts]
    return {"was_there": way.was_there, "parts": parts}


def way_from_data(data: Mapping[str, Any]) -> WayBack:
    """Read what ``way_to_data`` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is not such data.
    """
    parts = ((int(i), int(j), tuple(base64.b64decode(line) for line in old)) for i, j, old in data["parts"])
    return WayBack(bool(data["was_there"]), tuple(parts))


def _lines(data: bytes | None) -> list[bytes]:
    return (data or b"").split(b"\n")
