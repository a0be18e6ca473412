"""What a search answers: cards, never bodies."""

from dataclasses import dataclass

from cam.core.problems import Problem
from cam.core.records import MemoryRef, MemoryScope, MemoryState, RecordType


@dataclass(frozen=True, slots=True)
class CardProvenance:
    """Where a record comes from.

    Attributes:
        source: kind of its newest source (``session``, ``person``, ``file`` …), "" where it has none.
        session: the Codex session that said it last, None where no session did.
        path: the file it stands in, relative to the store; "" where the caller does not know.
    """

    source: str = ""
    session: str | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One match, enough to decide whether to ask for details.

    Attributes:
        ref: what ``recall details`` takes.
        summary: one line, private spans cut and secrets masked; ``[private]`` where nothing is left.
        created_at: ISO-8601 UTC.
        updated_at: ISO-8601 UTC.
        score: above 0, six decimals; only its order means something.
        fields: where the query matched: ``summary``, ``details``, ``topic``, ``id``.
        terms: the query's words that matched.
        est_tokens: what summary and details together cost.
    """

    ref: MemoryRef
    type: RecordType
    summary: str
    created_at: str
    updated_at: str
    provenance: CardProvenance
    score: float
    fields: tuple[str, ...]
    terms: tuple[str, ...]
    est_tokens: int

    @property
    def scope(self) -> MemoryScope:
        """The record's scope."""
        return self.ref.scope

    @property
    def state(self) -> MemoryState:
        """The record's state."""
        return self.ref.state

    @property
    def topic(self) -> str:
        """The record's topic."""
        return self.ref.topic


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page of matches.

    Attributes:
        query: as asked.
        state: the state that was searched: ``active``, ``archived`` or ``all``; what ``auto`` came to.
        cards: this page, best first.
        total: matches on all pages.
        page: 1-based.
        page_size: cards a page holds at most.
        problems: what of the store could not be read.
        cut: private spans cut from this page's records.
        masked: secrets masked in this page's records.
    """

    query: str
    state: str
    cards: tuple[Card, ...] = ()
    total: int = 0
    page: int = 1
    page_size: int = 8
    problems: tuple[Problem, ...] = ()
    cut: int = 0
    masked: int = 0
