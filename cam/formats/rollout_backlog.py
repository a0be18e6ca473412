"""Lines that wait to be parsed: the newest of a file, until they are too many or somebody asks.

Most of a long file is what the assistant said and did; only the newest of it is of interest, and what is old
is dropped without ever being parsed. What must be read however old it is comes out in time: a person's words,
the answer in front of them, the marks of turns.
"""

import itertools
from collections import deque
from collections.abc import Iterator

from cam.formats.rollout_lines import Block, Line

_WAITING = 2_500_000  # bytes
_BLOCK_COST = 500  # what waiting lines weigh besides their bytes
_BEFORE_USER = 40  # waiting lines among which the answer to which a person replied is looked for
_MARKS = ("start", "context", "end", "gap")


class Backlog:
    """Blocks of lines in order."""

    def __init__(self) -> None:
        self._blocks: deque[Block] = deque()
        self._bytes = 0

    def add(self, block: Block) -> None:
        """Let a block wait."""
        self._blocks.append(block)
        self._bytes += len(block.data) + _BLOCK_COST
        for place in block.unsure:
            self._keep_answer(block, place)

    def overdue(self) -> Iterator[Block]:
        """The oldest blocks, as far as they are too many; of these ``must`` is to be read."""
        while self._bytes > _WAITING:
            yield self._next()

    def all(self) -> Iterator[Block]:
        """All blocks; of these ``read`` is to be read."""
        while self._blocks:
            yield self._next()

    def _next(self) -> Block:
        block = self._blocks.popleft()
        self._bytes -= len(block.data) + _BLOCK_COST
        return block

    def _keep_answer(self, block: Block, place: int) -> None:
        """What may be a person's words comes: the answer in front of it says what they are about."""
        left = 2  # an answer stands in two channels
        for holder in (block, *itertools.islice(reversed(self._blocks), 1, _BEFORE_USER)):
            front = holder.read[max(0, place - _BEFORE_USER) : place] if holder is block else holder.read
            for line in reversed(front[-_BEFORE_USER:]):
                if not line[1]:
                    return
                if line[1] == "answer":
                    if line not in holder.must:
                        holder.must.append(line)
                        holder.must.sort()
                    left -= 1
                    if not left:
                        return


def last_marks(lines: list[Line]) -> list[Line]:
    """Lines without the starts and contexts of turns of which nothing is left: a later one takes their place.

    For lines among which everything else was dropped. What stands directly behind a line that is parsed
    stays: up to 0.98 the context stands behind the message that it is about.
    """
    kept = []
    later: set[str] = set()
    for place in range(len(lines) - 1, -1, -1):
        kind = lines[place][1]
        if kind == "start" or kind == "context":  # noqa: PLR1714 - the quickest way to ask
            if kind in later and place and lines[place - 1][1] in _MARKS:
                continue
            later.add(kind)
        elif later and kind not in ("end", "gap"):
            later = set()
        kept.append(lines[place])
    kept.reverse()
    return kept
