"""Records found through the sidecar: the same answers as from the files, without reading them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Any

from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.recall.flow import search_in
from cam.recall.result import SearchResult
from cam.recall.source import Filters, visible_document
from cam.store.layout import StoreLayout
from cam.store.sidecar import DamagedError, Part, Shard, drop_indexes, open_shard


def search_store(layout: StoreLayout, query: str, filters: Filters, **options: Any) -> SearchResult:
    """``flow.search_in`` over a store; an index that turns out damaged is dropped and does not count.

    Raises:
        InvalidInputError: as ``flow.search_in``.
    """
    for trust in (True, False):
        source = RecordsOnDisk(layout, trust=trust)
        try:
            result = search_in(source, query, filters, **options)
        except (DamagedError, ValueError):
            if not trust:
                raise
            drop_indexes(layout)
        else:
            return replace(result, problems=tuple(source.problems))
    raise AssertionError("the second try answers or raises")


class RecordsOnDisk:
    """Implements ``cam.recall.source.Searchable`` over a store's topic files.

    Attributes:
        problems: what could not be read of the files looked at so far.
    """

    def __init__(self, layout: StoreLayout, *, trust: bool = True) -> None:
        """``trust``: whether indexes on disk are used."""
        self._layout = layout
        self._trust = trust
        self._shards: dict[tuple[MemoryScope, MemoryState], Shard] = {}
        self.problems: list[Problem] = []

    def select(self, state: MemoryState | None, filters: Filters) -> "SelectedOnDisk":
        """See ``Searchable``."""
        shards = [
            self._shard(scope, each)
            for scope in self._layout.scopes
            if filters.scope in (None, scope)
            for each in MemoryState
            if state in (None, each)
        ]
        return SelectedOnDisk([part for shard in shards for part in shard.parts], filters)

    def _shard(self, scope: MemoryScope, state: MemoryState) -> Shard:
        if (scope, state) not in self._shards:
            shard = open_shard(self._layout, scope, state, visible_document, trust=self._trust)
            self._shards[scope, state] = shard
            self.problems += shard.problems
        return self._shards[scope, state]


class SelectedOnDisk:
    """Implements ``Selection`` and ``Postings`` over parts of the sidecar; documents are numbered through."""

    def __init__(self, parts: Sequence[Part], filters: Filters) -> None:
        self._parts = parts
        self._offsets: list[int] = []
        self._lengths: list[float] = []
        for part in parts:
            self._offsets.append(len(self._lengths))
            self._lengths += part.lengths
        self._left_out = self._excluded(filters)
        gone = {o + n for part, o in zip(parts, self._offsets, strict=True) for n in part.dead}
        gone |= self._left_out
        self.count = len(self._lengths) - len(gone)
        self.total_length = sum(self._lengths) - sum(self._lengths[n] for n in gone)

    @property
    def postings(self) -> "SelectedOnDisk":
        """See ``Selection``."""
        return self

    def record(self, number: int) -> MemoryRecord:
        """See ``Selection``."""
        part, local = self._place(number)
        return part.record(local)

    def is_clean(self, number: int) -> bool:
        """See ``Selection``."""
        part, local = self._place(number)
        return bool(part.clean[local])

    def find(self, token: str) -> Iterable[tuple[int, float, int]]:
        """See ``Postings``."""
        found = [
            (number + offset, weight, fields)
            for part, offset in zip(self._parts, self._offsets, strict=True)
            for number, weight, fields in part.find(token)
        ]
        return found if not self._left_out else [hit for hit in found if hit[0] not in self._left_out]

    def length(self, number: int) -> float:
        """See ``Postings``."""
        return self._lengths[number]

    def key(self, number: int) -> str:
        """See ``Postings``."""
        return str(self.record(number).ref)

    def at(self, number: int) -> str:
        """See ``Postings``."""
        return self.record(number).updated_at

    def smallest(self, numbers: Sequence[int], count: int) -> Sequence[int]:
        """See ``Postings``; of each part the first by its own order, and of those the first by their keys."""
        first: list[int] = []
        for part, offset in zip(self._parts, self._offsets, strict=True):
            own = (n - offset for n in numbers if offset <= n < offset + len(part.lengths))
            first += [offset + n for n in nsmallest(count, own, key=part.order.__getitem__)]
        return sorted(first, key=self.key)[:count]

    def vocabulary(self) -> Sequence[str]:
        """See ``Postings``."""
        return sorted({token for part in self._parts for token in part.tokens})

    def _place(self, number: int) -> tuple[Part, int]:
        for part, offset in zip(self._parts, self._offsets, strict=True):
            if offset <= number < offset + len(part.lengths):
                return part, number - offset
        raise IndexError(number)

    def _excluded(self, filters: Filters) -> set[int]:
        """Numbers of live documents that the filters do not admit."""
        excluded: set[int] = set()
        for part, offset in zip(self._parts, self._offsets, strict=True):
            # A record's own fields are looked at only where a filter asks for them.
            numbers = range(len(part.lengths)) if filters.look_inside else part.bounds if filters.now else ()
            excluded |= {
                offset + n for n in numbers if n not in part.dead and not filters.admit(part.record(n))
            }
        return excluded
