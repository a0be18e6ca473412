"""What is searched, as a protocol: the index on disk is behind it, and records in memory in the tests."""

from collections.abc import Sequence
from typing import Protocol

from cam.core.problems import Problem
from cam.core.ranking import Document, Postings, document_of
from cam.core.records import MemoryRecord, MemoryRef, MemoryState
from cam.core.times import sortable
from cam.recall.request import Filters

Moment = tuple[str, str]
"""A place in time: ``cam.core.times.sortable``, then the ref; that of a date alone has the ref ""."""


class Selection(Protocol):
    """The records that a question is put to; statistics come from them alone."""

    @property
    def postings(self) -> Postings:
        """Their tokens."""

    def found(self, number: int) -> tuple[MemoryRecord, bool]:
        """The record behind a number, and whether it is known to hold nothing private and no secret."""

    def around(self, moment: Moment, before: int, after: int) -> Sequence[int]:
        """The last ``before`` records created before ``moment`` and the first ``after`` from it on."""


class Searchable(Protocol):
    """Where records can be found.

    Attributes:
        problems: what could not be read of what was looked at so far.
    """

    problems: list[Problem]

    def select(self, state: MemoryState | None, filters: Filters, now: str) -> Selection:
        """Records in ``state`` (None for any) that ``filters`` admit and that hold at ``now``, "" for any."""

    def find(self, ref: MemoryRef) -> Sequence[tuple[MemoryRecord, bool]]:
        """The records of exactly this ref; more than one where an id stands twice."""


def moment_of(record: MemoryRecord) -> Moment:
    """Where a record stands in time."""
    return sortable(record.created_at), str(record.ref)


def visible_document(record: MemoryRecord) -> Document:
    """What of a record may be found: its text without private spans.

    A span may begin in the summary and end in the details, so both are read as one text.
    """
    from cam.core.private import strip  # noqa: PLC0415 - a warm search builds no document

    document = document_of(record)
    visible = strip(record.text).text
    if visible == record.text:
        return document
    summary, _, details = visible.partition("\n")
    return document._replace(fields=(("summary", summary), ("details", details), *document.fields[2:]))
