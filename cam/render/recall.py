"""Search results for people and as data."""

from typing import Any

from cam.core.display import one_line
from cam.recall.result import Card, SearchResult
from cam.render.records import problem_data


def search_data(result: SearchResult) -> dict[str, Any]:
    """``recall search --json``: cards, never details."""
    return {
        "query": result.query,
        "state": result.state,
        "items": [_card_data(card) for card in result.cards],
        "total": result.total,
        "page": result.page,
        "page_size": result.page_size,
        "problems": problem_data(result.problems),
    }


def search_text(result: SearchResult) -> str:
    """One card a paragraph: what it says, its ref, and which words matched where."""
    if not result.cards:
        return f"Nothing that is remembered matches {one_line(result.query)!r}."
    lines = []
    for card in result.cards:
        lines += [
            one_line(card.summary),
            f"  {card.ref}  ({', '.join(card.terms)} in {', '.join(card.fields)})",
        ]
    if result.total > len(result.cards):
        lines.append(f"{len(result.cards)} of {result.total}; --limit shows more")
    return "\n".join(lines)


def _card_data(card: Card) -> dict[str, Any]:
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
