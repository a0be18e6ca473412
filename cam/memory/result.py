"""What commands on memory answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cam.core.operations import Change, MemoryPlan
from cam.core.records import MemoryRecord

if TYPE_CHECKING:
    from cam.formats.audit import Waiting


@dataclass(frozen=True, slots=True)
class Remembered:
    """A fact that a person stated.

    Attributes:
        record: as it stands now.
        plan: what was done; a noop if it was known.
        transaction: its id.
        warnings: what was masked, and what was archived because it contradicts.
    """

    record: MemoryRecord
    plan: MemoryPlan
    transaction: str
    warnings: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether anything changed."""
        return bool(self.plan.changes)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Records that were taken out.

    Attributes:
        records: as they stood before.
        changed: how many of them changed; one that was archived already does not.
    """

    records: tuple[MemoryRecord, ...]
    changed: int


@dataclass(frozen=True, slots=True)
class Changed:
    """What was done to records that were there.

    Attributes:
        records: those that were named, as they stand afterwards.
        plan: what was done; a noop with its reason where there was nothing to do.
        transaction: its id.
        warnings: what was masked, and what contradicts.
        stated: a record that says something that did not hold before; what contradicts it is looked for.
        renamed: ``topic:id`` under which a record is found no more; links to it follow.
    """

    records: tuple[MemoryRecord, ...]
    plan: MemoryPlan
    transaction: str = ""
    warnings: tuple[str, ...] = ()
    stated: MemoryRecord | None = None
    renamed: str = ""


Edit = Callable[..., Changed]
"""From records of the store, the time and the refs to a plan and what it makes of the records so named."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What one step back did.

    Attributes:
        undoes: the transaction that was taken back.
        changes: records before and after the step.
        kept: refs that were changed since and were left as they are.
        same: refs that were already as they had been before.
        gone: those of both that are there no more.
        transaction: the step's own; taking it back is a redo. "" where nothing was to be taken back: then
            nothing was written.
        passed: newer changes that were made elsewhere and stay: the transaction, and in words what it did.
        files: instruction files that an accepted proposal changed since; they are no memory and stay.
        redo: the command that does it again.
    """

    undoes: str
    changes: tuple[Change, ...]
    kept: tuple[str, ...] = ()
    transaction: str = ""
    passed: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    redo: str = ""
    same: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person decided about something that was not kept.

    Attributes:
        item: as it waited.
        how: ``accepted`` or ``rejected``.
        plan: what that did to memory.
        transaction: its id.
        warnings: what was masked.
        kept: records that it was listed with and that stay.
    """

    item: "Waiting"
    how: str
    plan: MemoryPlan
    transaction: str
    warnings: tuple[str, ...] = ()
    kept: tuple[MemoryRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposed:
    """A change to an instruction file that waits for a person.

    Attributes:
        item: as it waits.
        diff: what it would do to the file as it is now.
        is_new: whether it did not wait already.
        warnings: what was cut and masked.
    """

    item: "Waiting"
    diff: str
    is_new: bool
    warnings: tuple[str, ...] = ()
