"""Timelines for people and as data."""

from typing import Any

from cam.core.display import listed
from cam.recall.result import Timeline
from cam.render.recall import card_data, screening_data
from cam.render.story import step_data, step_lines


def timeline_data(result: Timeline) -> dict[str, Any]:
    """``recall timeline --json``."""
    return {
        "anchor": {"ref": result.ref, "date": result.date},
        "events": [step_data(step) for step in result.life],
        "items": [card_data(card) for card in result.cards],
        "total": result.total,
        "page": result.page,
        "page_size": result.page_size,
        **screening_data(result),
    }


def timeline_text(result: Timeline) -> str:
    """A record's events, then the window, a line each; the anchor has a mark."""
    lines = [f"{result.ref or result.date}"]
    for step in result.life:
        if step.event.applied or step.event.quotes:
            lines += ["", *map(listed, step_lines(step))]
    if result.ref and not result.life:
        lines.append("  the history tells nothing more of it")
    if result.cards:
        lines += ["", "Around it:" if result.ref else "Around that time:"]
    for card in result.cards:
        mark = ">" if str(card.ref) == result.ref else " "
        lines += [f"{mark} {card.created_at}  {listed(card.summary)}", f"    {card.ref}"]
    if not result.cards:
        lines += ["", "Nothing that is remembered stands around it."]
    if result.total > len(result.cards):
        lines.append(f"{len(result.cards)} of {result.total}; --page shows more")
    return "\n".join(lines)
