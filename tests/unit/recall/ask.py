"""Asking as tests do: records in memory, which are what the index must agree with; options by their names."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cam.core.problems import Problem
from cam.core.ranking import Index
from cam.core.records import MemoryRecord, MemoryRef, MemoryState, is_valid_at
from cam.recall.request import Filters, SearchRequest
from cam.recall.result import SearchResult
from cam.recall.search import search as search_in
from cam.recall.source import Moment, moment_of, visible_document

_FILTERS = ("scope", "topic", "type", "source", "session", "since", "until")


def request(query: str, **options: Any) -> SearchRequest:
    """A request; filters stand among the options."""
    filters = Filters(**{name: options.pop(name) for name in _FILTERS if name in options})
    return SearchRequest(query, filters, **options)


def search(
    records: Sequence[MemoryRecord],
    query: str,
    *,
    problems: Sequence[Problem] = (),
    now: str = "",
    path_of: Callable[[MemoryRecord], str] = lambda _: "",
    **options: Any,
) -> SearchResult:
    """Search records in memory."""
    source = RecordsInMemory(records, problems)
    return search_in(source, request(query, **options), now=now, path_of=path_of)


class RecordsInMemory:
    """Implements ``Searchable`` over records that were read."""

    def __init__(self, records: Iterable[MemoryRecord], problems: Iterable[Problem] = ()) -> None:
        self._records = tuple(records)
        self.problems = list(problems)

    def select(self, state: MemoryState | None, filters: Filters, now: str) -> "SelectedRecords":
        """See ``Searchable``."""
        return SelectedRecords(
            [
                r
                for r in self._records
                if state in (None, r.state) and filters.admit(r) and (not now or is_valid_at(r, now))
            ]
        )

    def find(self, ref: MemoryRef) -> Sequence[tuple[MemoryRecord, bool]]:
        """See ``Searchable``."""
        return [(record, False) for record in self._records if record.ref == ref]


class SelectedRecords:
    """Implements ``Selection`` over records in memory."""

    def __init__(self, records: Sequence[MemoryRecord]) -> None:
        self._records = records

    @property
    def postings(self) -> Index:
        """See ``Selection``."""
        return Index(visible_document(record) for record in self._records)

    def found(self, number: int) -> tuple[MemoryRecord, bool]:
        """See ``Selection``."""
        return self._records[number], False

    def around(self, moment: Moment, before: int, after: int) -> Sequence[int]:
        """See ``Selection``."""
        order = sorted(range(len(self._records)), key=lambda n: moment_of(self._records[n]))
        at = sum(moment_of(self._records[n]) < moment for n in order)
        return order[max(0, at - before) : at + after]
