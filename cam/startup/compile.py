"""The compiler: records and notes to a small quoted payload within hard budgets. Pure.

Every stored text stands on a line that begins with ``| `` or ``- ``, its control and direction characters
taken out, so that no text can end its quotation or fake a line of the frame. Bodies of topic files never
appear. The same input gives the same bytes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cam.core.display import one_line
from cam.core.private import strip
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, is_valid_at
from cam.core.secrets import mask
from cam.core.tokens import estimate_tokens
from cam.startup.frame import CLOSE, CONTINUITY, GUIDANCE, HIGHLIGHTS, OPEN, RECALL_HINT
from cam.startup.result import Block, Entry, Omission, StartupPayload

HIGHLIGHT_SHARE = 0.4
"""Part of both budgets that is kept for highlights, whatever MEMORY.md holds (docs/architecture.md)."""

MAX_SUMMARY = 600
"""Characters of one record's line; longer ones are cut with an ellipsis."""

_SCOPE_ORDER = (MemoryScope.PROJECT_LOCAL, MemoryScope.PROJECT, MemoryScope.GLOBAL)
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class TopicRef:
    """A topic file that can be read on demand.

    Attributes:
        path: relative to the store's folder.
        count: records in it.
    """

    scope: MemoryScope
    topic: str
    path: str
    count: int


@dataclass(slots=True)
class _Room:
    """What is left of the budgets."""

    lines: int
    tokens: int

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
    records: Sequence[MemoryRecord],
    notes: Mapping[MemoryScope, str],
    topics: Sequence[TopicRef],
    *,
    folder: str,
    now: str,
    max_lines: int,
    max_tokens: int,
    continuity: Sequence[str] = (),
    max_continuity_lines: int = 60,
) -> StartupPayload:
    """Compile the payload.

    Args:
        records: all records of the scopes that apply; archived ones are left out.
        notes: what people wrote in each scope's MEMORY.md.
        topics: topic files.
        folder: the store's folder, named once above the topic files.
        now: ISO-8601 UTC, for validity.
        max_lines: hard bound on lines.
        max_tokens: hard bound on estimated tokens.
        continuity: where the last session stopped, one line an item, the most useful first.
        max_continuity_lines: lines of that block, its title included; they count in the budgets too.
    """
    ordered, omissions = _select(records, now)
    active = tuple(sorted(_key(r) for r in records if r.state is MemoryState.ACTIVE and is_valid_at(r, now)))
    quoted = {s: q for s in _SCOPE_ORDER if (q := _quote(notes.get(s, "")))}
    refs = [f"- {t.scope}/{t.topic}: {_count(t.count)}, {_clean(t.path)}" for t in topics if t.count]
    frame = [OPEN, *GUIDANCE, *([RECALL_HINT] if refs else []), CLOSE]
    room = _Room(max_lines, max_tokens)
    if any(room.take(line) for line in frame):
        left_out = [Omission(str(r.ref), "token_budget", "budget") for r in ordered]
        return StartupPayload(omissions=(*omissions, *left_out), active=active)

    # Each part keeps room for the next ones: highlights their share, topic refs a fifth at the most.
    line_of = _Lines()
    kept_for_refs = _part(refs, 0.2, max_lines, max_tokens)
    kept_for_highlights = _part(map(line_of, ordered), HIGHLIGHT_SHARE, max_lines, max_tokens)
    room.lines -= kept_for_refs.lines + kept_for_highlights.lines
    room.tokens -= kept_for_refs.tokens + kept_for_highlights.tokens
    continuity_block = _continuity_block(continuity, max_continuity_lines, room, omissions)
    note_blocks = _note_blocks(quoted, room, omissions)
    room.lines += kept_for_highlights.lines
    room.tokens += kept_for_highlights.tokens
    taken = _take_highlights(ordered, line_of, room, omissions)
    room.lines += kept_for_refs.lines
    room.tokens += kept_for_refs.tokens
    if not (taken or note_blocks or continuity_block):
        return StartupPayload(omissions=tuple(omissions), active=active)
    ref_block = _take_block("topics", f"Topic files in {_clean(folder)}:", refs, room, omissions)

    blocks = [Block("frame", tuple(frame[:-1]))]
    blocks += [continuity_block] if continuity_block else []
    blocks += note_blocks
    if taken:
        blocks.append(Block("highlights", (HIGHLIGHTS, *(e.line for e in taken))))
    blocks += [ref_block] if ref_block else []
    blocks.append(Block("frame", (CLOSE,)))
    return StartupPayload(tuple(blocks), tuple(taken), tuple(omissions), active)


def _continuity_block(
    lines: Sequence[str], most: int, room: _Room, omissions: list[Omission]
) -> Block | None:
    """The block between frame and notes: what runs short of lines or tokens falls from its end."""
    quoted = [quoted for line in lines for quoted in _quote(line)]
    kept = quoted[: max(0, most - 1)]
    if len(kept) < len(quoted):
        omissions.append(
            Omission(f"continuity ({len(quoted) - len(kept)} lines)", "continuity_lines", "budget")
        )
    return _take_block("continuity", CONTINUITY, kept, room, omissions) if kept else None


class _Lines:
    """Lines of records, each made once and only where it is looked at: masking thousands would be felt."""

    def __init__(self) -> None:
        self._made: dict[str, str] = {}

    def __call__(self, record: MemoryRecord) -> str:
        """The record's line; "" where its text is private."""
        key = _key(record)
        if key not in self._made:
            private = strip(record.summary).count
            start = f"- [{record.scope}/{record.topic}] "
            self._made[key] = "" if private else start + _shorten(record.summary)
        return self._made[key]


def _key(record: MemoryRecord) -> str:
    """``scope:topic:id``; the state may change."""
    return f"{record.scope}:{record.topic}:{record.id}"


def _select(records: Sequence[MemoryRecord], now: str) -> tuple[list[MemoryRecord], list[Omission]]:
    """The records that may be told, most useful first, no two saying the same."""
    omissions: list[Omission] = []
    seen: set[str] = set()
    chosen: list[MemoryRecord] = []
    current = [r for r in records if r.state is MemoryState.ACTIVE]
    current.sort(key=lambda r: (r.topic, r.id))
    current.sort(key=lambda r: r.updated_at, reverse=True)
    current.sort(key=lambda r: (not r.pinned, _SCOPE_ORDER.index(r.scope)))
    for record in current:
        same = _NOT_WORD.sub("", record.summary.casefold()) or record.summary
        reason = ""
        if not is_valid_at(record, now):
            reason = "expired" if record.valid_until and record.valid_until <= now else "not_yet_valid"
        elif same in seen:
            reason = "duplicate"
        if reason:
            omissions.append(Omission(str(record.ref), reason, "selection"))
            continue
        seen.add(same)
        chosen.append(record)
    return chosen, omissions


def _quote(text: str) -> list[str]:
    """A person's notes as quoted lines, blank ones and private spans left out."""
    lines = mask(strip(text).text).text.split("\n")
    cleaned = (_clean(line[: MAX_SUMMARY * 2]) for line in lines)
    return [f"| {line[:MAX_SUMMARY]}" for line in cleaned if line]


def _note_blocks(
    quoted: Mapping[MemoryScope, list[str]], room: _Room, omissions: list[Omission]
) -> list[Block]:
    blocks = (
        _take_block(f"notes:{scope}", f"{scope} notes:", lines, room, omissions)
        for scope, lines in quoted.items()
    )
    return [block for block in blocks if block is not None]


def _take_block(
    name: str, title: str, lines: list[str], room: _Room, omissions: list[Omission]
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


_LEAST = 8
"""Tokens below which no record's line is looked for any more."""


def _take_highlights(
    ordered: list[MemoryRecord], line_of: _Lines, room: _Room, omissions: list[Omission]
) -> list[Entry]:
    taken: list[Entry] = []
    full = room.take(HIGHLIGHTS) if ordered else ""
    for record in ordered:
        if not full and room.lines < 1:
            full = "line_budget"
        elif not full and room.tokens < _LEAST:
            full = "token_budget"
        line = "" if full else line_of(record)
        reason = full or ("private" if not line else room.take(line))
        if reason:
            stage = "selection" if reason == "private" else "budget"
            omissions.append(Omission(str(record.ref), reason, stage))
        else:
            taken.append(Entry(record.ref, line))
    return taken


def _part(lines: Iterable[str], share: float, max_lines: int, max_tokens: int) -> _Room:
    """What ``lines`` and a title need, at most ``share`` of the budgets; no more is looked at than that."""
    most = _Room(int(max_lines * share), int(max_tokens * share))
    count, tokens = 0, 0
    for line in lines:
        count, tokens = count + 1, tokens + estimate_tokens(f"{line}\n")
        if count >= most.lines or tokens >= most.tokens:
            return most
    return _Room(min(count + 1, most.lines), min(tokens + 16, most.tokens)) if count else _Room(0, 0)


def _clean(text: str) -> str:
    return one_line(text).strip()


def _shorten(summary: str) -> str:
    text = _clean(mask(summary[: MAX_SUMMARY * 2]).text)
    return text if len(text) <= MAX_SUMMARY else text[: MAX_SUMMARY - 1] + "…"


def _count(n: int) -> str:
    return "1 record" if n == 1 else f"{n} records"
