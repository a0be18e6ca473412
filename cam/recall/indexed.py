"""Records found through the sidecar: the same answers as from the files, without reading them."""

from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest, nsmallest
from typing import TypeVar

from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState, is_valid_at
from cam.recall.request import Filters
from cam.recall.source import Moment, moment_of, visible_document
from cam.store.layout import StoreLayout
from cam.store.sidecar import DamagedError, Part, Shard, drop_indexes, open_shard

_T = TypeVar("_T")


def ask_disk(layout: StoreLayout, ask: Callable[["RecordsOnDisk"], _T]) -> _T:
    """What ``ask`` answers; an index that turns out damaged is dropped and does not count."""
    try:
        return ask(RecordsOnDisk(layout))
    except (DamagedError, ValueError):
        drop_indexes(layout)
        return ask(RecordsOnDisk(layout, trust=False))


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

    def select(self, state: MemoryState | None, filters: Filters, now: str) -> "SelectedOnDisk":
        """See ``Searchable``."""
        shards = [
            self._shard(scope, each)
            for scope in self._layout.scopes
            if filters.scope in (None, scope)
            for each in MemoryState
            if state in (None, each)
        ]
        return SelectedOnDisk([part for shard in shards for part in shard.parts], filters, now)

    def find(self, ref: MemoryRef) -> Sequence[tuple[MemoryRecord, bool]]:
        """See ``Searchable``."""
        if ref.scope not in self._layout.scopes:
            return []
        found = []
        for part in self._shard(ref.scope, ref.state).parts:
            file = part.files.get(f"{ref.topic}.md")
            numbers = file.documents if file and f"{ref.topic}.md" not in part.dead_files else ()
            records = [(part.record(n), bool(part.clean[n])) for n in numbers]
            found += [each for each in records if each[0].ref == ref]
        return found

    def _shard(self, scope: MemoryScope, state: MemoryState) -> Shard:
        if (scope, state) not in self._shards:
            shard = open_shard(self._layout, scope, state, visible_document, trust=self._trust)
            self._shards[scope, state] = shard
            self.problems += shard.problems
        return self._shards[scope, state]


class SelectedOnDisk:
    """Implements ``Selection`` and ``Postings`` over parts of the sidecar; documents are numbered through."""

    def __init__(self, parts: Sequence[Part], filters: Filters, now: str) -> None:
        self._parts = parts
        self._offsets: list[int] = []
        self._lengths: list[float] = []
        for part in parts:
            self._offsets.append(len(self._lengths))
            self._lengths += part.lengths
        self._left_out = self._excluded(filters, now)
        gone = {o + n for part, o in zip(parts, self._offsets, strict=True) for n in part.dead}
        self._gone = gone | self._left_out
        self.count = len(self._lengths) - len(self._gone)
        self.total_length = sum(self._lengths) - sum(self._lengths[n] for n in self._gone)

    @property
    def postings(self) -> "SelectedOnDisk":
        """See ``Selection``."""
        return self

    def found(self, number: int) -> tuple[MemoryRecord, bool]:
        """See ``Selection``."""
        part, local = self._place(number)
        return part.record(local), bool(part.clean[local])

    def around(self, moment: Moment, before: int, after: int) -> Sequence[int]:
        """See ``Selection``."""
        moments = [(moment_of(self.found(n)[0]), n) for n in range(len(self._lengths)) if n not in self._gone]
        earlier = nlargest(before, (m for m in moments if m[0] < moment))[::-1]
        later = nsmallest(after, (m for m in moments if m[0] >= moment))
        return [n for _, n in (*earlier, *later)]

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
        return str(self.found(number)[0].ref)

    def at(self, number: int) -> str:
        """See ``Postings``."""
        return self.found(number)[0].updated_at

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

    def _excluded(self, filters: Filters, now: str) -> set[int]:
        """Numbers of live documents that the filters do not admit or that do not hold."""
        excluded: set[int] = set()
        for part, offset in zip(self._parts, self._offsets, strict=True):
            # A record's own fields are looked at only where a filter asks for them.
            numbers = range(len(part.lengths)) if filters.look_inside else part.bounds if now else ()
            for n in numbers:
                record = part.record(n)
                if n not in part.dead and not (filters.admit(record) and is_valid_at(record, now)):
                    excluded.add(offset + n)
        return excluded
