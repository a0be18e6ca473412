"""Finding memory again: filter, rank, page, and only then look at what may be shown.

Everything comes in as values; nothing is read or written here.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from cam.core.errors import InvalidInputError
from cam.core.problems import Problem
from cam.core.ranking import Hit, best_in, count_terms
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, RecordType
from cam.core.tokens import estimate_tokens
from cam.recall.result import Card, CardProvenance, SearchResult
from cam.recall.source import Filters, RecordsInMemory, Searchable

MAX_QUERY_TERMS = 64
MAX_QUERY_UNITS = 2048
"""UTF-16 code units: what other hosts of this contract count in."""
MAX_PAGE_SIZE = 100
STATES = ("auto", "active", "archived", "all")

PathOf = Callable[[MemoryRecord], str]


def search(
    records: Sequence[MemoryRecord],
    problems: Sequence[Problem],
    query: str,
    *,
    scope: MemoryScope | None = None,
    state: str = "auto",
    topic: str | None = None,
    type: RecordType | None = None,  # noqa: A002 - the option's name
    limit: int = 8,
    page: int = 1,
    match: str = "any",
    recency: float = 0.0,
    now: str = "",
    filters: Filters | None = None,
    path_of: PathOf | None = None,
) -> SearchResult:
    """Find records.

    Args:
        records: every record of the project's scopes.
        problems: what could not be read; handed on.
        query: words in any language.
        scope: only this one.
        topic: only this one.
        type: only this one.
        page: 1-based.
        state: ``auto`` searches active records, and archived ones only where no active one matches.
        limit: cards a page.
        match: ``any`` word of the query, or ``all``.
        recency: weight of newness (``cam.core.ranking``); needs ``now``.
        now: ISO-8601 UTC; records not valid then are left out.
        filters: further conditions; ``scope``, ``topic``, ``type`` and ``now`` above go before its own.
        path_of: a record's file, for its card.

    Raises:
        InvalidInputError: the query or a number is out of bounds, or an option has no such value.
    """
    own = filters or Filters()
    asked = replace(
        own,
        scope=scope or own.scope,
        topic=topic or own.topic,
        type=type or own.type,
        now=now or own.now,
    )
    return search_in(
        RecordsInMemory(records),
        query,
        asked,
        state=state,
        limit=limit,
        page=page,
        match=match,
        recency=recency,
        problems=problems,
        path_of=path_of,
    )


def search_in(
    source: Searchable,
    query: str,
    filters: Filters,
    *,
    state: str = "auto",
    limit: int = 8,
    page: int = 1,
    match: str = "any",
    recency: float = 0.0,
    problems: Sequence[Problem] = (),
    path_of: PathOf | None = None,
) -> SearchResult:
    """``search`` over any source; the options are the same.

    Raises:
        InvalidInputError: the query or a number is out of bounds, or an option has no such value.
    """
    check_query(query)
    _check_options(state, match, limit, page, recency)
    hits: list[Hit] = []
    total, searched = 0, state
    for searched in ("active", "archived") if state == "auto" else (state,):
        chosen = source.select(None if searched == "all" else MemoryState(searched), filters)
        hits, total = best_in(
            query,
            chosen.postings,
            top=page * limit,
            every=match == "all",
            recency=recency,
            now=filters.now,
        )
        if hits:
            break
    else:
        searched = "active" if state == "auto" else state
    cards, cut, masked = [], 0, 0
    for hit in hits[(page - 1) * limit :]:
        record, is_clean = chosen.record(hit.number), chosen.is_clean(hit.number)
        card, spans, secrets = _card(record, hit, path_of, is_clean=is_clean)
        cards.append(card)
        cut, masked = cut + spans, masked + secrets
    return SearchResult(query, searched, tuple(cards), total, page, limit, tuple(problems), cut, masked)


def check_query(query: str) -> None:
    """Refuse a query that nothing could answer, or that is longer than a question.

    Raises:
        InvalidInputError: fewer than 1 or more than 64 terms, or more than 2,048 UTF-16 code units.
    """
    units = len(query.encode("utf-16-le", "surrogatepass")) // 2
    if units > MAX_QUERY_UNITS:
        raise InvalidInputError(
            f"the query has {units:,} characters; at most {MAX_QUERY_UNITS:,} are searched"
        )
    terms = count_terms(query)
    if not terms:
        raise InvalidInputError("the query has no word to search for")
    if terms > MAX_QUERY_TERMS:
        raise InvalidInputError(f"the query has {terms} words; at most {MAX_QUERY_TERMS} are searched")


def _check_options(state: str, match: str, limit: int, page: int, recency: float) -> None:
    if state not in STATES:
        raise InvalidInputError(f"no state {state!r}; states are {', '.join(STATES)}")
    if match not in {"any", "all"}:
        raise InvalidInputError(f"no match {match!r}; it is 'any' or 'all'")
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise InvalidInputError(f"limit {limit} is not within 1 and {MAX_PAGE_SIZE}")
    if page < 1:
        raise InvalidInputError(f"page {page} is below 1")
    if not 0 <= recency < float("inf"):
        raise InvalidInputError(f"recency {recency} is not a finite number of 0 or more")


def _card(record: MemoryRecord, hit: Hit, path_of: PathOf | None, *, is_clean: bool) -> tuple[Card, int, int]:
    """A card, and how many private spans and secrets its record lost."""
    text, spans, secrets = (record.text, 0, 0) if is_clean else _screened(record.text)
    newest = record.sources[-1] if record.sources else None
    session = next((s.session for s in reversed(record.sources) if s.session), None)
    summary = text.partition("\n")[0].strip()
    card = Card(
        record.ref,
        record.type,
        summary or "[private]",
        record.created_at,
        record.updated_at,
        CardProvenance(newest.kind if newest else "", session, path_of(record) if path_of else ""),
        hit.score,
        hit.fields,
        hit.terms,
        estimate_tokens(text),
    )
    return card, spans, secrets


def _screened(text: str) -> tuple[str, int, int]:
    from cam.core.private import strip  # noqa: PLC0415 - only what nobody has looked at
    from cam.core.secrets import mask  # noqa: PLC0415

    stripped = strip(text)
    masked = mask(stripped.text)
    return masked.text, stripped.count, masked.count
