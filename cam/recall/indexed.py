"""Records found through the sidecar: the same answers as from the files, without reading them."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import compress
from typing import TypeVar
from zlib import crc32

from cam.core.problems import Problem
from cam.core.ranking import Classes
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState, holds
from cam.core.times import sortable
from cam.recall.request import Filters
from cam.recall.source import Moment, moment_of, visible_document
from cam.store.layout import StoreLayout
from cam.store.limits import Limits
from cam.store.sidecar import NOTES, DamagedError, DocumentOf, Part, Shard, drop_indexes, open_shard

_T = TypeVar("_T")


def ask_disk(
    layout: StoreLayout,
    ask: Callable[["RecordsOnDisk"], _T],
    *,
    use_index: bool = True,
    document_of: DocumentOf = visible_document,
) -> _T:
    """What ``ask`` answers; an index that turns out damaged is dropped and does not count."""
    try:
        return ask(RecordsOnDisk(layout, trust=use_index, document_of=document_of))
    except (DamagedError, ValueError):
        drop_indexes(layout)
        return ask(RecordsOnDisk(layout, trust=False, document_of=document_of))


class RecordsOnDisk:
    """Implements ``cam.recall.source.Searchable`` over a store's topic files.

    Attributes:
        problems: what could not be read of the files looked at so far.
    """

    def __init__(
        self, layout: StoreLayout, *, trust: bool = True, document_of: DocumentOf = visible_document
    ) -> None:
        """``trust``: whether indexes on disk are used; ``document_of``: what of a record may be found."""
        self._layout = layout
        self._trust = trust
        self._document_of = document_of
        self._limits = Limits()
        self._shards: dict[tuple[MemoryScope, MemoryState], Shard] = {}
        self.problems: list[Problem] = []

    def select(self, state: MemoryState | None, filters: Filters, now: str) -> "SelectedOnDisk":
        """See ``Searchable``."""
        shards = self.shards(filters.scope, state)
        return SelectedOnDisk([Chosen(part, filters, now) for shard in shards for part in shard.parts])

    def find(self, ref: MemoryRef) -> Sequence[tuple[MemoryRecord, bool]]:
        """See ``Searchable``."""
        if ref.scope not in self._layout.scopes:
            return []
        name, wanted = _file_of(ref.topic), crc32(ref.id.encode())
        found = [
            part.found(number)
            for part in self._shard(ref.scope, ref.state).parts
            for number in part.documents(name)
            if part.ids[number] == wanted
        ]
        return [each for each in found if each[0].ref == ref]

    def shards(self, scope: MemoryScope | None = None, state: MemoryState | None = None) -> list[Shard]:
        """The folders of a scope and a state; None for all."""
        return [
            self._shard(each, its)
            for each in self._layout.scopes
            if scope in (None, each)
            for its in MemoryState
            if state in (None, its)
        ]

    def records(self) -> Iterator[MemoryRecord]:
        """Every record, whatever its state and validity."""
        for shard in self.shards():
            for part in shard.parts:
                for name in part.names:
                    yield from (part.record(number) for number in part.documents(name))

    def _shard(self, scope: MemoryScope, state: MemoryState) -> Shard:
        if (scope, state) not in self._shards:
            shard = open_shard(
                self._layout, scope, state, self._document_of, trust=self._trust, limits=self._limits
            )
            self._shards[scope, state] = shard
            self.problems += shard.problems
        return self._shards[scope, state]


class Chosen:
    """Implements ``cam.core.ranking.Segment``: those documents of a part that filters admit."""

    def __init__(self, part: Part, filters: Filters, now: str) -> None:
        self.part = part
        self.size = part.size
        self.gone = part.gone
        for gone in _excluded(part, filters, now):
            self.gone = gone if self.gone is None else _either(self.gone, gone)
        self.find = part.find
        self.vocabulary = part.vocabulary

    @property
    def count(self) -> int:
        """See ``Segment``."""
        return self.size - sum(self.gone or b"")

    @property
    def classes(self) -> Classes:
        """See ``Segment``."""
        return self.part.classes

    @property
    def total_length(self) -> float:
        """See ``Segment``."""
        if self.gone is None:
            return self.part.all_length
        return self.part.all_length - sum(compress(self.part.lengths, self.gone))

    def around(self, moment: Moment, before: int, after: int) -> tuple[list[int], list[int]]:
        """The last ``before`` documents created before ``moment``, and the first ``after`` from it on."""
        times = self.part.times
        at = bisect_left(times, moment, key=lambda n: moment_of(self.part.record(n)))
        return (
            self._first((times[i] for i in range(at - 1, -1, -1)), before),
            self._first((times[i] for i in range(at, len(times))), after),
        )

    def _first(self, numbers: Iterator[int], count: int) -> list[int]:
        found: list[int] = []
        for number in numbers if count else ():
            if self.gone is None or not self.gone[number]:
                found.append(number)
                if len(found) == count:
                    break
        return found


class SelectedOnDisk:
    """Implements ``Selection`` and ``Postings`` over parts of the sidecar; documents are numbered through."""

    def __init__(self, segments: Sequence[Chosen]) -> None:
        self.segments = segments

    @property
    def postings(self) -> "SelectedOnDisk":
        """See ``Selection``."""
        return self

    def found(self, number: int) -> tuple[MemoryRecord, bool]:
        """See ``Selection``."""
        for at, segment in zip(self._offsets, self.segments, strict=True):
            if number < at + segment.size:
                return segment.part.found(number - at)
        raise IndexError(number)

    def around(self, moment: Moment, before: int, after: int) -> Sequence[int]:
        """See ``Selection``."""
        earlier: list[tuple[Moment, int]] = []
        later: list[tuple[Moment, int]] = []
        for at, segment in zip(self._offsets, self.segments, strict=True):
            for numbers, into in zip(segment.around(moment, before, after), (earlier, later), strict=True):
                into += [(moment_of(segment.part.record(n)), at + n) for n in numbers]
        return [n for _, n in (*nlargest(before, earlier)[::-1], *nsmallest(after, later))]

    def key(self, number: int) -> str:
        """See ``Postings``."""
        return str(self.found(number)[0].ref)

    def at(self, number: int) -> str:
        """See ``Postings``."""
        return self.found(number)[0].updated_at

    def smallest(self, numbers: Sequence[int], count: int) -> Sequence[int]:
        """See ``Postings``; of each part the first by its own order, and of those the first by their keys."""
        first: list[int] = []
        for at, segment in zip(self._offsets, self.segments, strict=True):
            own = (n - at for n in numbers if at <= n < at + segment.size)
            first += [at + n for n in nsmallest(count, own, key=segment.part.order.__getitem__)]
        return sorted(first, key=self.key)[:count]

    @cached_property
    def _offsets(self) -> list[int]:
        offsets, at = [], 0
        for segment in self.segments:
            offsets.append(at)
            at += segment.size
        return offsets


def _file_of(topic: str) -> str:
    return NOTES if topic == "memory" else f"{topic}.md"


def _excluded(part: Part, filters: Filters, now: str) -> Iterator[bytearray]:
    """1 for each document that a filter does not admit, by filter; what all admit gives nothing."""
    if filters.topic is not None:
        admitted = part.documents(_file_of(filters.topic))
        gone = bytearray(b"\x01") * part.size
        gone[admitted.start : admitted.stop] = bytes(len(admitted))
        yield gone
    if filters.type or filters.source is not None or filters.session is not None:
        known, trait_of = part.traits
        refused = [not _admits(filters, *each) for each in known]
        yield bytearray(map(refused.__getitem__, trait_of))
    first, last = filters.span
    if first or last:

        def created(number: int) -> str:
            return sortable(part.record(number).created_at)

        begin = bisect_left(part.times, first, key=created) if first else 0
        end = bisect_right(part.times, last, key=created) if last else part.size
        gone = bytearray(b"\x01") * part.size
        for number in part.times[begin:end]:
            gone[number] = 0
        yield gone
    refused_bounds = [n for low, high, numbers in part.bounds if not holds(low, high, now) for n in numbers]
    if now and refused_bounds:
        gone = bytearray(part.size)
        for number in refused_bounds:
            gone[number] = 1
        yield gone


def _admits(filters: Filters, kind: str, sources: Sequence[str], sessions: Sequence[str]) -> bool:
    return (
        filters.type in (None, kind)
        and (filters.source is None or filters.source in sources)
        and (filters.session is None or filters.session in sessions)
    )


def _either(one: bytearray, other: bytearray) -> bytearray:
    """1 where either has one."""
    both = int.from_bytes(one, "little") | int.from_bytes(other, "little")
    return bytearray(both.to_bytes(len(one), "little"))
