"""What is searched: records in memory or the sidecar on disk, behind one protocol; both answer alike."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cam.core.ranking import Document, Index, Postings, document_of
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, RecordType, is_valid_at

Admit = Callable[[MemoryRecord], bool]


@dataclass(frozen=True, slots=True)
class Filters:
    """What a record must be to be searched at all; None and "" ask for nothing.

    Attributes:
        source: kind of one of its sources.
        session: a Codex session that said it.
        since: not created before; ``YYYY-MM-DD`` or ISO-8601 UTC.
        until: not created after; a date alone includes that day.
        now: records not valid at this time are left out; "" leaves validity aside.
    """

    scope: MemoryScope | None = None
    topic: str | None = None
    type: RecordType | None = None
    source: str | None = None
    session: str | None = None
    since: str | None = None
    until: str | None = None
    now: str = ""

    @property
    def look_inside(self) -> bool:
        """Whether a record's own fields decide, beyond its scope and validity."""
        asked = (self.topic, self.type, self.source, self.session, self.since, self.until)
        return any(value is not None for value in asked)

    def admit(self, record: MemoryRecord) -> bool:
        """Whether ``record`` is searched."""
        return (
            self.scope in (None, record.scope)
            and self.topic in (None, record.topic)
            and self.type in (None, record.type)
            and (self.source is None or any(s.kind == self.source for s in record.sources))
            and (self.session is None or any(s.session == self.session for s in record.sources))
            and (self.since is None or record.created_at >= self.since)
            and (self.until is None or record.created_at[: len(self.until)] <= self.until)
            and (not self.now or is_valid_at(record, self.now))
        )


class Selection(Protocol):
    """The documents that a query is put to; statistics come from them alone."""

    @property
    def postings(self) -> Postings:
        """Their tokens."""

    def record(self, number: int) -> MemoryRecord:
        """The record behind a hit."""

    def is_clean(self, number: int) -> bool:
        """Whether it is known that the record holds neither a private span nor a secret."""


class Searchable(Protocol):
    """Where records can be found."""

    def select(self, state: MemoryState | None, filters: Filters) -> Selection:
        """Records in ``state`` (None for any) that ``filters`` admit."""


class RecordsInMemory:
    """Implements ``Searchable`` over records that were read."""

    def __init__(self, records: Iterable[MemoryRecord]) -> None:
        self._records = tuple(records)

    def select(self, state: MemoryState | None, filters: Filters) -> "SelectedRecords":
        """See ``Searchable``."""
        return SelectedRecords([r for r in self._records if state in (None, r.state) and filters.admit(r)])


class SelectedRecords:
    """Implements ``Selection`` over records in memory."""

    def __init__(self, records: Sequence[MemoryRecord]) -> None:
        self._records = records
        self.postings = Index(visible_document(record) for record in records)

    def record(self, number: int) -> MemoryRecord:
        """See ``Selection``."""
        return self._records[number]

    def is_clean(self, number: int) -> bool:  # noqa: ARG002 - nobody has looked
        """See ``Selection``."""
        return False


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
    return replace(document, fields=(("summary", summary), ("details", details), *document.fields[2:]))
