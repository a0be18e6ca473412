"""Asking as tests do: records in memory, options by their names."""

from collections.abc import Callable, Sequence
from typing import Any

from cam.core.problems import Problem
from cam.core.records import MemoryRecord
from cam.recall.request import Filters, SearchRequest
from cam.recall.result import SearchResult
from cam.recall.search import search as search_in
from cam.recall.source import RecordsInMemory

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
