"""What can be asked of memory. ``check`` refuses a request out of bounds, before anything is read.

Types here are tuples: a search in a new process would feel what frozen dataclasses cost to make.
"""

from typing import NamedTuple

from cam.core.errors import InvalidInputError
from cam.core.ranking import count_terms
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, RecordType
from cam.core.times import instant, sortable

MAX_QUERY_TERMS = 64
MAX_QUERY_UNITS = 2048
"""UTF-16 code units: what other hosts of this contract count in."""
MAX_PAGE_SIZE = 100
MAX_AROUND = 100
MAX_REFS = 100
MAX_NODES = 100
MAX_TOKENS = 50_000
MAX_RECENCY = 1_000_000.0
"""A weight beyond all use; much more would make scores that are no numbers."""
STATES = ("auto", "active", "archived", "all")


class Filters(NamedTuple):
    """What a record must be to be looked at at all; None asks for nothing.

    Attributes:
        source: kind of one of its sources.
        session: a Codex session that said it.
        since: not created before; ``YYYY-MM-DD`` or ISO-8601 with a zone.
        until: not created after; a date alone includes that day.
    """

    scope: MemoryScope | None = None
    topic: str | None = None
    type: RecordType | None = None
    source: str | None = None
    session: str | None = None
    since: str | None = None
    until: str | None = None

    @property
    def span(self) -> tuple[str, str]:
        """First and last instant of creation, as ``cam.core.times.sortable``; "" where it is open.

        Raises:
            InvalidInputError: a date that is none.
        """
        return (
            instant(self.since) if self.since else "",
            instant(self.until, end_of_day=True) if self.until else "",
        )

    def admit(self, record: MemoryRecord) -> bool:
        """Whether ``record`` is looked at."""
        first, last = self.span if self.since or self.until else ("", "")
        return (
            self.scope in (None, record.scope)
            and self.topic in (None, record.topic)
            and self.type in (None, record.type)
            and (self.source is None or any(s.kind == self.source for s in record.sources))
            and (self.session is None or any(s.session == self.session for s in record.sources))
            and (not first or sortable(record.created_at) >= first)
            and (not last or sortable(record.created_at) <= last)
        )


class Expansion(NamedTuple):
    """What a record is linked to, beside the matches of a search.

    Attributes:
        ref: of an active record to start from.
        max_nodes: records at most, the start among them; 1 to 100.
        max_tokens: what their cards' records may cost together; 1 to 50,000.
    """

    ref: str
    max_nodes: int = 10
    max_tokens: int = 2000

    def check(self) -> None:
        """Refuse budgets out of bounds.

        Raises:
            InvalidInputError: one of them is, or the start is no ref.
        """
        MemoryRef.parse(self.ref)
        _check_number("max nodes", self.max_nodes, 1, MAX_NODES)
        _check_number("max tokens", self.max_tokens, 1, MAX_TOKENS)


class SearchRequest(NamedTuple):
    """A question.

    Attributes:
        query: words in any language; 1 to 64 terms, at most 2,048 UTF-16 code units.
        state: ``auto`` searches active records, and archived ones only where no active one matches.
        page: 1-based.
        page_size: cards on a page, 1 to 100.
        match: ``any`` word of the query, or ``all``.
        recency: weight of newness, 0 to 1,000,000 (``cam.core.ranking``).
        expansion: what links are followed, if any.
    """

    query: str
    filters: Filters = Filters()
    state: str = "auto"
    page: int = 1
    page_size: int = 8
    match: str = "any"
    recency: float = 0.0
    expansion: Expansion | None = None

    def check(self) -> None:
        """Refuse what is out of bounds.

        Raises:
            InvalidInputError: something is, or an option has no such value.
        """
        check_query(self.query)
        _ = self.filters.span
        _check_choice("state", self.state, STATES)
        _check_choice("match", self.match, ("any", "all"))
        if not 0 <= self.recency <= MAX_RECENCY:
            raise InvalidInputError(f"recency {self.recency} is not within 0 and {MAX_RECENCY:,.0f}")
        _check_page(self.page, self.page_size)
        if self.expansion is not None:
            self.expansion.check()


class TimelineRequest(NamedTuple):
    """What stood around a record or a moment.

    Attributes:
        anchor: a ref, whose state is only a hint, or a date or time with a zone.
        before: neighbours before it, 0 to 100.
        after: neighbours after it, 0 to 100.
        state: of the neighbours: ``active``, ``archived`` or ``all``; ``auto`` is active ones, and archived
            ones too where the anchor is archived.
        page: 1-based; pages cut the window, not memory.
        page_size: cards on a page, 1 to 100.
    """

    anchor: str
    filters: Filters = Filters()
    before: int = 5
    after: int = 5
    state: str = "auto"
    page: int = 1
    page_size: int = 20

    def check(self) -> None:
        """Refuse what is out of bounds.

        Raises:
            InvalidInputError: something is, or an option has no such value.
        """
        _ = self.filters.span
        for name, value in (("before", self.before), ("after", self.after)):
            _check_number(name, value, 0, MAX_AROUND)
        _check_choice("state", self.state, STATES)
        _check_page(self.page, self.page_size)


def read_refs(texts: tuple[str, ...]) -> tuple[MemoryRef, ...]:
    """The refs that ``details`` was asked for, repeated ones too.

    Raises:
        InvalidInputError: none, more than 100, or a text that is no ref.
    """
    if not 1 <= len(texts) <= MAX_REFS:
        raise InvalidInputError(f"give 1 to {MAX_REFS} refs, not {len(texts)}")
    return tuple(map(MemoryRef.parse, texts))


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


def _check_page(page: int, size: int) -> None:
    if page < 1:
        raise InvalidInputError(f"page {page} is below 1")
    _check_number("page size", size, 1, MAX_PAGE_SIZE)


def _check_number(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidInputError(f"{name} {value} is not within {low} and {high}")


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInputError(f"no {name} {value!r}; it is one of {', '.join(choices)}")
