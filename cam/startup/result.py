"""The compiled payload: what Codex is told at start, and what was left out and why."""

from typing import NamedTuple

from cam.core.candidates import Candidate
from cam.core.records import MemoryRef
from cam.core.tokens import estimate_tokens
from cam.startup.frame import line_digest, record_text


class Block(NamedTuple):
    """One part of the payload.

    Attributes:
        name: ``frame``, ``continuity``, ``notes:<scope>``, ``highlights`` or ``topics``.
        lines: as they are sent.
    """

    name: str
    lines: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """Estimated tokens, line feeds included."""
        return estimate_tokens("".join(f"{line}\n" for line in self.lines))


class Entry(NamedTuple):
    """One record in the payload.

    Attributes:
        ref: its reference.
        line: as it is sent.
    """

    ref: MemoryRef
    line: str

    @property
    def said(self) -> str:
        """The record's text in the line."""
        return record_text(self.line)

    @property
    def key(self) -> str:
        """``scope:topic:id``; the state may change."""
        return f"{self.ref.scope}:{self.ref.topic}:{self.ref.id}"

    @property
    def digest(self) -> str:
        """Changes when what is sent changes."""
        return line_digest(self.line)


class Omission(NamedTuple):
    """Something that is not in the payload.

    Attributes:
        what: a ref, or a block's name.
        reason: ``expired``, ``not_yet_valid``, ``unreadable_bound``, ``private``, ``duplicate``,
            ``line_budget``, ``token_budget``, ``continuity_lines``.
        stage: ``selection`` or ``budget``.
    """

    what: str
    reason: str
    stage: str


class StartupPayload(NamedTuple):
    """What Codex is told.

    Attributes:
        blocks: in order; empty when there is nothing to say.
        entries: the records among the lines.
        noted: what was left out one by one.
        rest: records that found a budget used up, in the order in which they would have come.
        rest_reason: which budget.
        held: all records that hold, in the payload or not.
    """

    blocks: tuple[Block, ...] = ()
    entries: tuple[Entry, ...] = ()
    noted: tuple[Omission, ...] = ()
    rest: tuple[Candidate, ...] = ()
    rest_reason: str = ""
    held: tuple[Candidate, ...] = ()

    @property
    def active(self) -> tuple[str, ...]:
        """Keys of all records that hold; made when asked for, as they may be thousands."""
        return tuple(candidate.key for candidate in self.held)

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """Everything that was left out; made when asked for, as it may be thousands."""
        return (*self.noted, *(Omission(str(c.ref), self.rest_reason, "budget") for c in self.rest))

    @property
    def text(self) -> str:
        """The payload as sent, "" when there is nothing to say."""
        return "\n".join(line for block in self.blocks for line in block.lines)

    @property
    def lines(self) -> int:
        """How many lines."""
        return sum(len(block.lines) for block in self.blocks)

    @property
    def tokens(self) -> int:
        """Estimated tokens of the whole."""
        return estimate_tokens(self.text)
