"""The compiler: records and notes to a small quoted payload within hard budgets. Pure.

Every stored text stands on a line that begins with ``| `` or ``- ``, its control and direction characters
taken out, so that no text can end its quotation or fake a line of the frame. Bodies of topic files never
appear. The same input gives the same bytes. What is told first of what is remembered: ``selection.py``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from cam.core.candidates import Candidate
from cam.core.quoting import DECISION, NOTE, quoted_lines, shown_summary
from cam.core.records import MemoryScope
from cam.core.tokens import estimate_tokens
from cam.startup.frame import (
    AGENTS,
    CLOSE,
    CONTINUITY,
    GUIDANCE,
    HIGHLIGHTS,
    OPEN,
    RECALL_HINT,
    record_line,
)
from cam.startup.meaning import Meaning, meaning_of
from cam.startup.result import Block, Entry, Omission, StartupPayload
from cam.startup.selection import NOTHING_KNOWN, SCOPE_ORDER, Hints, put_in_order

HIGHLIGHT_SHARE = 0.4
"""Part of both budgets that is kept for highlights, whatever MEMORY.md holds (docs/architecture.md)."""

_LEAST = 8
"""Tokens below which no record's line is looked for any more."""

_MISSES = 20
"""Records too long for what is left of the budget, after which no shorter one is looked for."""

_SAVED_TOKENS = 16
"""Kept for a block's title."""


class TopicRef(NamedTuple):
    """A topic file that can be read on demand.

    Attributes:
        path: relative to the store's folder.
        records: how many are in it.
    """

    scope: MemoryScope
    topic: str
    path: str
    records: int


class _Room:
    """What is left of the budgets."""

    __slots__ = ("lines", "tokens")

    def __init__(self, lines: int, tokens: int) -> None:
        self.lines, self.tokens = lines, tokens

    def take(self, line: str) -> str:
        """Pay for ``line``; the reason why not, "" if it fits."""
        cost = estimate_tokens(f"{line}\n")
        if self.lines < 1:
            return "line_budget"
        if self.tokens < cost:
            return "token_budget"
        self.lines -= 1
        self.tokens -= cost
        return ""


def compile_payload(
    candidates: Sequence[Candidate],
    notes: Mapping[MemoryScope, Sequence[str]],
    topics: Sequence[TopicRef],
    *,
    folder: str,
    now: str,
    max_lines: int,
    max_tokens: int,
    continuity: Sequence[str] = (),
    max_continuity_lines: int = 60,
    hints: Hints = NOTHING_KNOWN,
    line_of: Callable[[str], str] = shown_summary,
) -> StartupPayload:
    """Compile the payload.

    Args:
        candidates: all active records of the scopes that apply.
        notes: what people wrote in each scope's MEMORY.md, as quoted lines.
        topics: topic files.
        folder: the store's folder, named once above the topic files.
        now: ISO-8601 UTC, for validity.
        max_lines: hard bound on lines.
        max_tokens: hard bound on estimated tokens.
        continuity: where the last session stopped, one line an item, the most useful first.
        max_continuity_lines: lines of that block, its title included; they count in the budgets too.
        hints: what else is known of which records are useful.
        line_of: a summary as it may be told, "" for a private one.
    """
    ordered, active, omissions = put_in_order(candidates, now, hints)
    held = tuple(active)
    refs = [f"- {t.scope}/{t.topic}: {_count(t.records)}, {_clean(t.path)}" for t in topics if t.records]
    frame = [OPEN, *GUIDANCE, *([RECALL_HINT] if refs else []), CLOSE]
    room = _Room(max_lines, max_tokens)
    if any(room.take(line) for line in frame):
        return StartupPayload(
            noted=tuple(omissions), rest=tuple(ordered), rest_reason="token_budget", held=held
        )

    # Each part keeps room for the next ones: highlights their share, topic refs a fifth at the most.
    lines = _Lines(line_of)
    kept_for_refs = _part(refs, 0.2, max_lines, max_tokens)
    kept_for_highlights = _part(map(lines, ordered), HIGHLIGHT_SHARE, max_lines, max_tokens)
    room.lines -= kept_for_refs.lines + kept_for_highlights.lines
    room.tokens -= kept_for_refs.tokens + kept_for_highlights.tokens
    continuity_block = _continuity_block(continuity, max_continuity_lines, room, omissions)
    note_blocks = _note_blocks(notes, room, omissions)
    room.lines += kept_for_highlights.lines
    room.tokens += kept_for_highlights.tokens
    taken, rest, reason = _take_highlights(ordered, lines, room, omissions)
    continuity_block = _without_records(continuity_block, taken, omissions)
    room.lines += kept_for_refs.lines
    room.tokens += kept_for_refs.tokens
    ref_block = None
    if taken or note_blocks or continuity_block:
        ref_block = _take_block("topics", f"Topic files in {_clean(folder)}:", refs, room, omissions)
    else:
        frame = []

    blocks = [Block("frame", tuple(frame[:-1]))] if frame else []
    blocks += [continuity_block] if continuity_block else []
    blocks += note_blocks
    if taken:
        blocks.append(Block("highlights", (HIGHLIGHTS, *(e.line for e in taken))))
    blocks += [ref_block] if ref_block else []
    blocks += [Block("frame", (CLOSE,))] if frame else []
    return StartupPayload(tuple(blocks), tuple(taken), tuple(omissions), tuple(rest), reason, held)


def _continuity_block(
    lines: Sequence[str], most: int, room: _Room, omissions: list[Omission]
) -> Block | None:
    """The block between frame and notes: what runs short of lines or tokens falls from its end."""
    quoted = [quoted for line in lines for quoted in quoted_lines(line)]
    kept = quoted[: max(0, most - 1)]
    if len(kept) < len(quoted):
        omissions.append(
            Omission(f"continuity ({len(quoted) - len(kept)} lines)", "continuity_lines", "budget")
        )
    return _take_block("continuity", CONTINUITY, kept, room, omissions) if kept else None


def _without_records(block: Block | None, taken: Sequence[Entry], omissions: list[Omission]) -> Block | None:
    """What the last session left, without notes that a record says as well; None if nothing else is in it."""
    if block is None or not any(line.startswith(_NOTE) for line in block.lines):
        return block
    told = {meaning_of(entry.said) for entry in taken}

    def is_told(line: str) -> bool:
        said = line.removeprefix(_NOTE)
        return said != line and meaning_of(said.removeprefix(DECISION)) in told

    kept = [line for line in block.lines if not is_told(line)]
    if len(kept) < len(block.lines):
        omissions.append(
            Omission(f"continuity ({len(block.lines) - len(kept)} lines)", "duplicate", "selection")
        )
    return Block(block.name, tuple(kept)) if len(kept) > 1 else None


_NOTE = f"| {NOTE}"


class _Lines:
    """Lines of records, each made once and only where it is looked at: masking thousands would be felt."""

    def __init__(self, line_of: Callable[[str], str]) -> None:
        self._line_of = line_of
        self._made: dict[Candidate, str] = {}

    def __call__(self, candidate: Candidate) -> str:
        """The record's line; "" where its text is private."""
        line = self._made.get(candidate)
        if line is None:
            text = self._line_of(candidate.summary)
            text += AGENTS if text and candidate.is_agents else ""
            line = record_line(candidate.scope, candidate.topic, text) if text else ""
            self._made[candidate] = line
        return line


def _note_blocks(
    notes: Mapping[MemoryScope, Sequence[str]], room: _Room, omissions: list[Omission]
) -> list[Block]:
    blocks = (
        _take_block(f"notes:{scope}", f"{scope} notes:", notes.get(scope, ()), room, omissions)
        for scope in SCOPE_ORDER
        if notes.get(scope)
    )
    return [block for block in blocks if block is not None]


def _take_block(
    name: str, title: str, lines: Sequence[str], room: _Room, omissions: list[Omission]
) -> Block | None:
    """As many of ``lines`` as fit below their title; None if not even one does."""
    trial = _Room(room.lines, room.tokens)
    kept: list[str] = []
    reason = trial.take(title) if lines else "empty"
    for line in lines:
        reason = reason or trial.take(line)
        if reason:
            break
        kept.append(line)
    if len(kept) < len(lines):
        omissions.append(Omission(f"{name} ({len(lines) - len(kept)} lines)", reason, "budget"))
    if not kept:
        return None
    room.lines, room.tokens = trial.lines, trial.tokens
    return Block(name, (title, *kept))


def _take_highlights(
    ordered: Sequence[Candidate], lines: _Lines, room: _Room, omissions: list[Omission]
) -> tuple[list[Entry], Sequence[Candidate], str]:
    """What is told, what found the budget used up, and which."""
    taken: list[Entry] = []
    meanings: set[Meaning] = set()
    full, misses = room.take(HIGHLIGHTS) if ordered else "", 0
    for place, candidate in enumerate(ordered):
        full = full or ("line_budget" if room.lines < 1 else "token_budget" if room.tokens < _LEAST else "")
        if full:
            return taken, ordered[place:], full
        line = lines(candidate)
        meaning = meaning_of(candidate.summary)
        reason = "private" if not line else "duplicate" if meaning in meanings else ""
        stage = "selection" if reason else "budget"
        reason = reason or room.take(line)
        if stage == "budget" and reason:
            misses += 1
            full = reason if misses == _MISSES else ""
        if reason:
            omissions.append(Omission(str(candidate.ref), reason, stage))
        else:
            meanings.add(meaning)
            taken.append(Entry(candidate.ref, line))
    return taken, (), ""


def _part(lines: Iterable[str], share: float, max_lines: int, max_tokens: int) -> _Room:
    """What ``lines`` and a title need, at most ``share`` of the budgets; no more is looked at than that."""
    most = _Room(int(max_lines * share), int(max_tokens * share))
    count, tokens = 0, 0
    for line in lines:
        count, tokens = count + 1, tokens + estimate_tokens(f"{line}\n")
        if count >= most.lines or tokens >= most.tokens:
            return most
    if not count:
        return _Room(0, 0)
    return _Room(min(count + 1, most.lines), min(tokens + _SAVED_TOKENS, most.tokens))


def _clean(text: str) -> str:
    from cam.core.display import one_line  # noqa: PLC0415 - paths alone

    return text if text.isprintable() else one_line(text).strip()


def _count(n: int) -> str:
    return "1 record" if n == 1 else f"{n} records"
