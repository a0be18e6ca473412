"""Finding memory again: filter, rank, page, and only then look at what may be shown.

Everything comes in as values; nothing is read or written here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cam.core.errors import InvalidInputError
from cam.core.private import strip
from cam.core.problems import Problem
from cam.core.ranking import Document, Hit, count_terms, document_of, query_terms, rank
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, RecordType, is_valid_at
from cam.core.secrets import mask
from cam.core.tokens import estimate_tokens
from cam.recall.result import Card, CardProvenance, SearchResult

MAX_QUERY_TERMS = 64
MAX_QUERY_UNITS = 2048
"""UTF-16 code units: what other hosts of this contract count in."""
MAX_PAGE_SIZE = 100
STATES = ("auto", "active", "archived", "all")

PathOf = Callable[[MemoryRecord], str]


@dataclass(frozen=True, slots=True)
class Filters:
    """What a record must be to be searched at all; None and "" ask for nothing.

    Attributes:
        source: kind of one of its sources.
        session: a Codex session that said it.
        since: not created before; ``YYYY-MM-DD`` or ISO-8601 UTC.
        until: not created after; a date alone includes that day.
        now: records not valid at this time are left out; "" leaves validity aside.
    """

    scope: MemoryScope | None = None
    topic: str | None = None
    type: RecordType | None = None
    source: str | None = None
    session: str | None = None
    since: str | None = None
    until: str | None = None
    now: str = ""

    def admit(self, record: MemoryRecord) -> bool:
        """Whether ``record`` is searched."""
        return (
            self.scope in (None, record.scope)
            and self.topic in (None, record.topic)
            and self.type in (None, record.type)
            and (self.source is None or any(s.kind == self.source for s in record.sources))
            and (self.session is None or any(s.session == self.session for s in record.sources))
            and (self.since is None or record.created_at >= self.since)
            and (self.until is None or record.created_at[: len(self.until)] <= self.until)
            and (not self.now or is_valid_at(record, self.now))
        )


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
    check_query(query)
    _check_options(state, match, limit, page, recency)
    asked = filters or Filters()
    asked = replace(
        asked,
        scope=scope or asked.scope,
        topic=topic or asked.topic,
        type=type or asked.type,
        now=now or asked.now,
    )
    admitted = [record for record in records if asked.admit(record)]
    for searched in ("active", "archived") if state == "auto" else (state,):
        chosen = admitted if searched == "all" else [r for r in admitted if r.state == MemoryState(searched)]
        hits = _matching(chosen, query, match, recency, now)
        if hits:
            break
    else:
        searched = "active" if state == "auto" else state
    shown = hits[(page - 1) * limit : page * limit]
    cards, cut, masked = [], 0, 0
    for hit in shown:
        card, spans, secrets = _card(chosen[hit.number], hit, path_of)
        cards.append(card)
        cut, masked = cut + spans, masked + secrets
    return SearchResult(query, searched, tuple(cards), len(hits), page, limit, tuple(problems), cut, masked)


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


def _matching(records: Sequence[MemoryRecord], query: str, match: str, recency: float, now: str) -> list[Hit]:
    hits = rank(query, [_visible_document(record) for record in records], recency=recency, now=now)
    if match == "all":
        words = {term.word for term in query_terms(query)}
        hits = [hit for hit in hits if words <= set(hit.terms)]
    return hits


def _visible_document(record: MemoryRecord) -> Document:
    """What of a record may be found: its text without private spans.

    A span may begin in the summary and end in the details, so both are read as one text.
    """
    document = document_of(record)
    visible = strip(record.text).text
    if visible == record.text:
        return document
    summary, _, details = visible.partition("\n")
    return replace(document, fields=(("summary", summary), ("details", details), *document.fields[2:]))


def _card(record: MemoryRecord, hit: Hit, path_of: PathOf | None) -> tuple[Card, int, int]:
    """A card, and how many private spans and secrets its record lost."""
    stripped = strip(record.text)
    masked = mask(stripped.text)
    newest = record.sources[-1] if record.sources else None
    session = next((s.session for s in reversed(record.sources) if s.session), None)
    summary = masked.text.partition("\n")[0].strip()
    card = Card(
        record.ref,
        record.type,
        summary or "[private]",
        record.created_at,
        record.updated_at,
        CardProvenance(newest.kind if newest else "", session, path_of(record) if path_of else ""),
        hit.score,
        hit.fields,
        tuple(mask(term).text for term in hit.terms),
        estimate_tokens(masked.text),
    )
    return card, stripped.count, masked.count
