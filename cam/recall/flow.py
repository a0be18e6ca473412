"""Recall over a store: what hosts and commands call. Read-only but for the sidecar, which is derived.

recall = Recall(layout, now=now_stamp())
recall.search(SearchRequest("how do I run the tests"))
recall.timeline(TimelineRequest("project:active:commands:run-tests-1a2b3c"))
recall.details(["project:active:commands:run-tests-1a2b3c"])
"""

import os
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from cam.core.errors import IntegrityError, NotFoundError
from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryRef, is_valid_at
from cam.core.settings import Settings
from cam.recall.cards import shown
from cam.recall.indexed import RecordsOnDisk, ask_disk
from cam.recall.request import SearchRequest, TimelineRequest, read_refs
from cam.recall.result import Details, SearchResult, Timeline
from cam.recall.search import search
from cam.recall.source import Searchable, visible_document
from cam.store.layout import StoreLayout
from cam.store.sidecar import DocumentOf

if TYPE_CHECKING:
    from cam.recall.status import Rebuilt, Status
    from cam.store.story import Story

_T = TypeVar("_T")


def open_recall(
    layout: StoreLayout,
    settings: Settings,
    *,
    now: str,
    strict: bool = False,
    document_of: DocumentOf = visible_document,
) -> "Recall":
    """Recall as the settings want it.

    Args:
        layout: of the store.
        settings: ``recall_index`` counts.
        now: ISO-8601 UTC.
        strict: as for ``Recall``.
        document_of: as for ``Recall``.
    """
    return Recall(layout, now=now, use_index=settings.keeps_index, strict=strict, document_of=document_of)


class Recall:
    """Finding what one project's view of one store remembers.

    Args:
        layout: of the store.
        now: ISO-8601 UTC; what does not hold then is not found.
        use_index: whether the sidecar is used and kept; the answers are the same.
        strict: fail where anything of the store cannot be read, instead of saying so beside the answer.
        document_of: what of a record that must be read from its file may be found; called once for each.
    """

    def __init__(
        self,
        layout: StoreLayout,
        *,
        now: str,
        use_index: bool = True,
        strict: bool = False,
        document_of: DocumentOf = visible_document,
    ) -> None:
        self._layout = layout
        self._now = now
        self._use_index = use_index
        self._strict = strict
        self._document_of = document_of

    def search(self, request: SearchRequest) -> SearchResult:
        """One page of cards, best first.

        Raises:
            InvalidInputError: the request is out of bounds.
            NotFoundError: links are to be followed from a record that is not there.
            IntegrityError: a limit is broken; or ``strict``, and something cannot be read.
        """
        request.check()
        return self._answer(lambda source: search(source, request, now=self._now, path_of=self._path_of))

    def answer(self, request: SearchRequest, *, adapter: str = "") -> SearchResult:
        """``search``, and evidence of it for ``cam doctor health``: never the query, and never a failure.

        Args:
            request: what is looked for.
            adapter: the host that asks, "" for a person.

        Raises:
            CamError: as ``search``.
        """
        from cam.store.recall_evidence import note_search  # noqa: PLC0415

        begun = perf_counter()
        found = self.search(request)
        seconds = perf_counter() - begun
        note_search(
            self._layout, found.query, at=self._now, count=found.total, seconds=seconds, adapter=adapter
        )
        return found

    def timeline(self, request: TimelineRequest) -> Timeline:
        """A record's own life and its neighbours in time, or what stands around a date.

        Raises:
            InvalidInputError: the request is out of bounds.
            NotFoundError: the anchor is no date, and nothing is known of it or it does not hold now.
            IntegrityError: as ``search``.
        """
        request.check()
        from cam.recall.timeline import timeline  # noqa: PLC0415 - a search needs none of it

        return self._answer(
            lambda source: timeline(
                source,
                request,
                now=self._now,
                path_of=self._path_of,
                story_of=lambda ref: self._story(source, ref),
            )
        )

    def details(self, refs: Sequence[str]) -> Details:
        """Whole records, all of them or none.

        Args:
            refs: 1 to 100; what is asked for twice is given twice. Their state counts.

        Raises:
            InvalidInputError: too few, too many, or a text that is no ref.
            NotFoundError: one of them is not there or does not hold now.
            IntegrityError: as ``search``.
        """
        wanted = read_refs(tuple(refs))
        return self._answer(lambda source: self._details(source, wanted))

    def status(self) -> "Status":
        """What there is to find, and what the sidecar has of it; the sidecar is left as it is.

        Raises:
            IntegrityError: as ``search``.
        """
        from cam.recall.rebuild import status  # noqa: PLC0415

        return self._answer(lambda source: status(source, self._layout, use_index=self._use_index))

    def rebuild(self, progress: Callable[[int, int], None] = lambda *_: None) -> "Rebuilt":
        """Read memory twice, compare both with the sidecar, and build that anew.

        Args:
            progress: takes how many records were indexed, and how many there are to index.

        Raises:
            IntegrityError: as ``search``.
            StoreUnavailableError: the store cannot be read.
        """
        from cam.recall.rebuild import rebuild  # noqa: PLC0415

        rebuilt = rebuild(self._layout, use_index=self._use_index, progress=progress)
        self._check_strict(rebuilt.problems)
        return rebuilt

    def _details(self, source: Searchable, refs: Sequence[MemoryRef]) -> Details:
        found = {ref: [f for f in source.find(ref) if is_valid_at(f[0], self._now)] for ref in refs}
        missing = [str(ref) for ref, records in found.items() if not records]
        if missing:
            raise NotFoundError(
                f"there is no record {', '.join(missing)}; 'cam recall search' gives refs that can be pasted"
            )
        items = tuple(shown(each, self._path_of) for ref in refs for each in found[ref])
        return Details(items, tuple(source.problems))

    def _story(self, source: Searchable, ref: MemoryRef) -> "Story":
        from cam.store.life import story_of  # noqa: PLC0415

        def find(refs: Iterable[MemoryRef]) -> list[MemoryRecord]:
            return [record for each in refs for record, _ in source.find(each)]

        return story_of(self._layout, ref, find, self._now)

    def _path_of(self, record: MemoryRecord) -> str:
        if record.topic == "memory":  # the person's own text
            path = self._layout.index_file(record.scope)
        else:
            path = self._layout.topic_file(record.scope, record.state, record.topic)
        return os.path.relpath(path, self._layout.root)

    def _answer(self, ask: Callable[[RecordsOnDisk], _T]) -> _T:
        """``ask`` the store; what cannot be read ends it where that is asked for."""

        def strictly(source: RecordsOnDisk) -> _T:
            answer = ask(source)
            self._check_strict(source.problems)
            return answer

        return ask_disk(self._layout, strictly, use_index=self._use_index, document_of=self._document_of)

    def _check_strict(self, problems: Sequence[Problem]) -> None:
        if self._strict and problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise IntegrityError(f"{problems[0]}{more}")
