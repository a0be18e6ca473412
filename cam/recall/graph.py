"""Expansion: what a record is linked to, and what that is linked to, within two budgets. Pure."""

from collections import deque
from collections.abc import Iterator

from cam.core.errors import NotFoundError
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState, is_valid_at
from cam.recall.cards import PathOf, card, shown
from cam.recall.request import Expansion
from cam.recall.result import Card, Expanded
from cam.recall.source import Searchable


def expand(source: Searchable, wanted: Expansion, *, now: str, path_of: PathOf) -> Expanded:
    """Follow links breadth first; each record is listed once, filters do not count.

    A card that does not fit into the tokens is left out, and smaller ones behind it are still tried. Links
    that lead nowhere, to archived records or to such that do not hold now are passed over.

    Args:
        source: where.
        wanted: start and budgets.
        now: ISO-8601 UTC.
        path_of: a record's file, for its card.

    Raises:
        NotFoundError: the start is not there, is archived or does not hold now.
    """
    first = MemoryRef.parse(wanted.ref)
    start = _active(source, first, now)
    if start is None:
        raise NotFoundError(f"there is no active record {first} to start from")
    cards: list[Card] = []
    tokens, is_cut = 0, False
    seen, todo = {first}, deque([start])
    while todo:
        found = todo.popleft()
        if len(cards) == wanted.max_nodes:
            is_cut = True
            break
        seen_as = shown(found, path_of)
        if tokens + seen_as.est_tokens > wanted.max_tokens:
            is_cut = True
            continue
        cards.append(card(seen_as))
        tokens += seen_as.est_tokens
        for ref in _links(found[0]):
            if ref in seen:
                continue
            linked = _active(source, ref, now)
            if linked is not None:
                seen.add(ref)
                todo.append(linked)
    return Expanded(tuple(cards), tokens, is_cut)


def _links(record: MemoryRecord) -> Iterator[MemoryRef]:
    """Where a record's links may lead: ``topic:id`` in its own scope first, then in the others."""
    scopes = sorted(MemoryScope, key=lambda scope: scope is not record.scope)
    for name in record.related:
        topic, _, key = name.rpartition(":")
        yield from (MemoryRef(scope, MemoryState.ACTIVE, topic.rpartition(":")[2], key) for scope in scopes)


def _active(source: Searchable, ref: MemoryRef, now: str) -> tuple[MemoryRecord, bool] | None:
    if ref.state is not MemoryState.ACTIVE:
        return None
    return next((found for found in source.find(ref) if is_valid_at(found[0], now)), None)
