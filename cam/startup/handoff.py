"""From the compiler to the session: the run file, and what of it a session is told.

The wrapper writes one run file before Codex starts; the session's hook reads it at every start, resume,
fork, clear and compaction. What a session has been told stands in its ledger, so a resumed session gets
what changed and nothing twice. Plain dictionaries and ``json`` alone: this runs on the hot path.

Run file: ``{"text", "entries": {key: [digest, line]}, "parent", "continuity": [line],
"budget": [lines, tokens] or null, "place": [project, worktree], "index": whether recall keeps its own}``;
without a budget nothing comes back after a compaction. Beside it ``active.txt``: the keys of all records that
hold, a line each.
Ledger: ``{key: [digest, line]}``, by session id.
"""

from collections.abc import Collection, Sequence
from typing import Any

from cam.core.display import one_line
from cam.core.tokens import estimate_tokens
from cam.startup.frame import CHANGED, CLOSE, GUIDANCE, HIGHLIGHTS, NO_LONGER, OPEN, RECALL_HINT, RETURNED

Ledger = dict[str, list[str]]

RETURN_SHARE = 0.3
"""Part of both budgets that what a compaction lost may take: 600 tokens of the default 2,000."""

ACTIVE_FILE = "active.txt"

_FRAME = frozenset((OPEN, *GUIDANCE, RECALL_HINT, CLOSE))


def goes_on(source: str, known: Ledger | None) -> bool:
    """Whether the session still has before it what it was told."""
    return source in ("resume", "fork") and known is not None


def text_for_session(
    run: dict[str, Any], source: str, known: Ledger | None, elsewhere: Collection[str] = ()
) -> tuple[str, Ledger]:
    """What the session is to be told now, and its ledger afterwards.

    Args:
        run: the run file, with ``active`` where a session that was told something goes on.
        source: why the session starts: ``startup``, ``resume``, ``fork``, ``clear`` or ``compact``.
        known: the session's ledger (a fork's: its parent's), None if there is none.
        elsewhere: records' lines that Codex tells the session in other words; they count as told.

    Returns:
        The text, "" for nothing.
    """
    entries: Ledger = run["entries"]
    if not goes_on(source, known) or known is None:
        return _without(run["text"], elsewhere), dict(entries)
    news = {key: entry for key, entry in entries.items() if known.get(key, [""])[0] != entry[0]}
    active = set(run["active"])
    gone = {key: entry for key, entry in known.items() if key not in active}
    after = {key: entry for key, entry in known.items() if key not in gone} | news
    said = [line for _, line in news.values() if line not in elsewhere]
    lines = [CHANGED, *said] if said else []
    lines += [NO_LONGER, *(line for _, line in gone.values())] if gone else []
    return "\n".join([OPEN, *lines, CLOSE]) if lines else "", after


def text_after_compaction(
    run: dict[str, Any], lost: Sequence[str], elsewhere: Collection[str] = ()
) -> tuple[str, Ledger]:
    """The whole payload, what the compaction lost in the place of what an earlier session left.

    Args:
        run: the run file.
        lost: lines, the most useful first; as many are told as their share of the budgets holds.
        elsewhere: as for a session that starts.

    Returns:
        The text and the session's ledger. Both budgets hold: the least useful highlights make room.
    """
    returned = _within(lost, *(int(most * RETURN_SHARE) for most in run.get("budget") or (0, 0)))
    text = _without(run["text"], elsewhere)
    if not returned:
        return text, dict(run["entries"])
    lines = (text or f"{OPEN}\n{CLOSE}").split("\n")
    earlier = list(run["continuity"])
    if earlier:
        at = lines.index(earlier[0])
        del lines[at : at + len(earlier)]
    lines[-1:] = [*returned, CLOSE]
    entries: Ledger = dict(run["entries"])
    most_lines, most_tokens = run["budget"]
    for key, (_, line) in reversed(run["entries"].items()):
        if len(lines) <= most_lines and estimate_tokens("\n".join(lines)) <= most_tokens:
            break
        if line not in elsewhere:
            lines.remove(line)
            del entries[key]
    return "\n".join(lines), entries


def _without(text: str, elsewhere: Collection[str]) -> str:
    """``text`` without some records' lines; "" where the frame alone is left."""
    if not elsewhere:
        return text
    lines = [line for line in text.split("\n") if line not in elsewhere]
    if HIGHLIGHTS in lines and not lines[lines.index(HIGHLIGHTS) + 1].startswith("- ["):
        lines.remove(HIGHLIGHTS)
    return "" if _FRAME.issuperset(lines) else "\n".join(lines)


def _within(lost: Sequence[str], most_lines: int, most_tokens: int) -> list[str]:
    """The block of what was lost, within its share."""
    block, tokens = [RETURNED], estimate_tokens(f"{RETURNED}\n")
    for line in lost:
        quoted = f"| {one_line(line)}"
        cost = estimate_tokens(f"{quoted}\n")
        if len(block) < most_lines and tokens + cost <= most_tokens:
            block.append(quoted)
            tokens += cost
    return block if len(block) > 1 else []
