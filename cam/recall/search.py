"""Search: filter, rank, page, and only then look at what may be shown. Pure."""

from cam.core.ranking import Hit, best_in
from cam.core.records import MemoryState
from cam.recall.cards import PathOf, card, shown
from cam.recall.request import SearchRequest
from cam.recall.result import SearchResult
from cam.recall.source import Searchable


def search(source: Searchable, request: SearchRequest, *, now: str, path_of: PathOf) -> SearchResult:
    """Find records.

    Args:
        source: where.
        request: what.
        now: ISO-8601 UTC; records that do not hold then are left out.
        path_of: a record's file, for its card.

    Raises:
        InvalidInputError: the request is out of bounds.
        NotFoundError: links are to be followed from a record that is not there.
    """
    request.check()
    hits: list[Hit] = []
    total, searched = 0, request.state
    for searched in ("active", "archived") if request.state == "auto" else (request.state,):
        state = None if searched == "all" else MemoryState(searched)
        chosen = source.select(state, request.filters, now)
        hits, total = best_in(
            request.query,
            chosen.postings,
            top=request.page * request.page_size,
            every=request.match == "all",
            recency=request.recency,
            now=now,
        )
        if hits:
            break
    else:
        searched = "active" if request.state == "auto" else request.state
    expanded = None
    if request.expansion is not None:
        from cam.recall.graph import expand  # noqa: PLC0415 - few searches ask for it

        expanded = expand(source, request.expansion, now=now, path_of=path_of)
    page = hits[(request.page - 1) * request.page_size :]
    seen = [shown(chosen.found(hit.number), path_of) for hit in page]
    return SearchResult(
        request.query,
        searched,
        tuple(card(each, hit) for each, hit in zip(seen, page, strict=True)),
        total,
        request.page,
        request.page_size,
        tuple(source.problems),
        sum(each.cut for each in seen),
        sum(each.masked for each in seen),
        expanded,
    )
