"""Search results for people and as data."""

from typing import Any

from cam.core.display import listed, one_line
from cam.formats.record_data import record_to_data
from cam.recall.result import Card, Details, Expanded, SearchResult, Shown, Timeline
from cam.render.records import problem_data, record_text


def search_data(result: SearchResult) -> dict[str, Any]:
    """``recall search --json``: cards, never details."""
    return {
        "query": result.query,
        "state": result.state,
        "items": [card_data(card) for card in result.cards],
        "total": result.total,
        "page": result.page,
        "page_size": result.page_size,
        **screening_data(result),
        **({"expansion": _expanded_data(result.expanded)} if result.expanded else {}),
    }


def search_text(result: SearchResult) -> str:
    """One card a paragraph: what it says, its ref, and which words matched where."""
    lines = [] if result.total else [f"Nothing that is remembered matches {one_line(result.query)!r}."]
    if result.total and not result.cards:
        lines.append(f"There is no page {result.page}: {result.total} in all.")
    for card in result.cards:
        lines += [
            listed(card.summary),
            f"  {card.ref}  ({', '.join(card.terms)} in {', '.join(card.fields)})",
        ]
    if 0 < len(result.cards) < result.total:
        lines.append(f"{len(result.cards)} of {result.total}; --limit shows more")
    if result.expanded:
        lines += ["", "Linked:"]
        for card in result.expanded.cards:
            lines += [listed(card.summary), f"  {card.ref}"]
        lines += ["the budget left some out"] if result.expanded.is_cut else []
    return "\n".join(lines)


def details_data(result: Details) -> dict[str, Any]:
    """``recall details --json``: whole records in the order asked for."""
    return {
        "items": [_shown_data(item) for item in result.items],
        "problems": problem_data(result.problems),
        "problem_count": len(result.problems),
    }


def details_text(result: Details) -> str:
    """Everything about each record, a blank line between two."""
    return "\n\n".join(record_text(item.record) for item in result.items)


def screening_data(result: SearchResult | Timeline) -> dict[str, Any]:
    """What could not be read, and what was taken out of what is shown."""
    return {
        "problems": problem_data(result.problems),
        "problem_count": len(result.problems),
        "cut": result.cut,
        "masked": result.masked,
    }


def card_data(card: Card) -> dict[str, Any]:
    """A card as data."""
    return {
        "ref": str(card.ref),
        "scope": str(card.scope),
        "state": str(card.state),
        "type": str(card.type),
        "topic": card.topic,
        "summary": card.summary,
        "created_at": card.created_at,
        "updated_at": card.updated_at,
        "provenance": {
            "source": card.provenance.source,
            "session": card.provenance.session,
            "path": card.provenance.path,
        },
        "score": card.score,
        "matched_fields": list(card.fields),
        "matched_terms": list(card.terms),
        "est_tokens": card.est_tokens,
    }


def export_data(result: Details) -> dict[str, Any]:
    """``recall export --json``: what details give, under the name of the form."""
    return {"format": "cam-recall-export/v1", **details_data(result)}


def _expanded_data(expanded: Expanded) -> dict[str, Any]:
    return {
        "items": [card_data(card) for card in expanded.cards],
        "est_tokens": expanded.est_tokens,
        "truncated": expanded.is_cut,
    }


def _shown_data(item: Shown) -> dict[str, Any]:
    return {
        **record_to_data(item.record),
        "path": item.path,
        "est_tokens": item.est_tokens,
        "cut": item.cut,
        "masked": item.masked,
    }
