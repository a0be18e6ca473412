"""What a person asks an edit for."""

from dataclasses import dataclass

from cam.core.records import MemoryRecord, RecordType


@dataclass(frozen=True, slots=True)
class Wish:
    """What an edit sets; None leaves a field as it is.

    Attributes:
        summary: the fact; further lines are details.
        details: further lines; blank ones do not count, so that one of them alone clears them.
        type: what kind of note it is.
        valid_from: a date or time, "" for always.
        valid_until: a date or time, "" for ever; a date alone means that day is the last.
        seen: the record as the person saw it when they wrote the text.
    """

    summary: str | None = None
    details: tuple[str, ...] | None = None
    type: RecordType | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    seen: MemoryRecord | None = None

    @property
    def has_text(self) -> bool:
        """Whether the words change."""
        return self.summary is not None or self.details is not None
