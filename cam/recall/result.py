"""What recall answers: cards first, whole records only where they are asked for.

Types here are tuples: a search in a new process would feel what frozen dataclasses cost to make.
"""

from typing import TYPE_CHECKING, NamedTuple

from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState, RecordType

if TYPE_CHECKING:  # the history costs a search more than all the rest
    from cam.store.story import Step


class CardProvenance(NamedTuple):
    """Where a record comes from.

    Attributes:
        source: kind of its newest source (``session``, ``person``, ``file`` …), "" where it has none.
        session: the Codex session that said it last, None where no session did.
        path: the file it stands in, relative to the store.
    """

    source: str = ""
    session: str | None = None
    path: str = ""


class Card(NamedTuple):
    """One record, enough to decide whether to ask for details.

    Attributes:
        ref: what ``recall details`` takes.
        summary: one line, private spans cut and secrets masked; ``[private]`` where nothing is left.
        created_at: ISO-8601 UTC.
        updated_at: ISO-8601 UTC.
        score: of a search, six decimals, only its order means something; 0 elsewhere.
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


class Shown(NamedTuple):
    """A record as it may be seen.

    Attributes:
        record: private spans cut and secrets masked in every text; a summary of which nothing is left is
            ``[private]``.
        path: the file it stands in, relative to the store.
        est_tokens: what summary and details cost.
        cut: private spans that were cut.
        masked: secrets that were masked.
    """

    record: MemoryRecord
    path: str
    est_tokens: int
    cut: int = 0
    masked: int = 0


class Expanded(NamedTuple):
    """What a record is linked to.

    Attributes:
        cards: breadth first, the start before all.
        est_tokens: of their records together.
        is_cut: whether a budget kept something out.
    """

    cards: tuple[Card, ...]
    est_tokens: int
    is_cut: bool


class SearchResult(NamedTuple):
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
        expanded: what was linked, where that was asked for.
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
    expanded: Expanded | None = None


class Timeline(NamedTuple):
    """A record's own life, and what stands around it in time.

    Attributes:
        ref: of the anchor as it is now; None where the anchor is a date.
        date: when the anchor was created, or the date as asked.
        life: every event of the anchor, oldest first, with before and after; texts as they may be seen.
        cards: this page of the window, by creation and ref; the anchor is among them where filters admit it.
        total: cards on all pages of the window.
        page: 1-based.
        page_size: cards a page holds at most.
        problems: what of the store could not be read.
        cut: private spans cut from what is shown.
        masked: secrets masked in what is shown.
    """

    ref: str | None
    date: str
    life: tuple["Step", ...] = ()
    cards: tuple[Card, ...] = ()
    total: int = 0
    page: int = 1
    page_size: int = 20
    problems: tuple[Problem, ...] = ()
    cut: int = 0
    masked: int = 0


class Details(NamedTuple):
    """Whole records.

    Attributes:
        items: in the order they were asked for; one asked for twice stands twice.
        problems: what of the store could not be read.
    """

    items: tuple[Shown, ...]
    problems: tuple[Problem, ...] = ()
