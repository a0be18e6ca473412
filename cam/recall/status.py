"""What there is to find, and whether it reads the same twice: the types."""

from dataclasses import dataclass

from cam.core.problems import Problem
from cam.core.records import MemoryScope, MemoryState


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """One index of the sidecar.

    Attributes:
        scope: whose records it holds.
        state: in which state.
        bytes: on disk.
        records: that it answers for.
        is_fresh: whether every file is as it was indexed.
    """

    scope: MemoryScope
    state: MemoryState
    bytes: int
    records: int
    is_fresh: bool


@dataclass(frozen=True, slots=True)
class Status:
    """What there is to find.

    Attributes:
        root: the store's real path.
        policy: ``auto`` or ``off``, the setting ``recall_index``.
        records: all, whatever their state and validity.
        active: of these, the active ones.
        notes: pieces of the person's own text in MEMORY.md.
        files: topic files and MEMORY.md.
        bytes: of these.
        indexes: of the sidecar, as they are on disk.
        problems: what could not be read.
    """

    root: str
    policy: str
    records: int
    active: int
    notes: int
    files: int
    bytes: int
    indexes: tuple[IndexStatus, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Whether memory reads the same twice, and whether the sidecar says the same.

    Attributes:
        canonical: SHA-256 of all records as the store reads them.
        rebuilt: of the same read once more, record by record, by recall's own way.
        indexed: of what the sidecar held before, None where there was none.
        records: how many there are.
        difference: the first record in which two of them differ, "" where none does.
        problems: what could not be read.
    """

    canonical: str
    rebuilt: str
    indexed: str | None
    records: int
    difference: str
    problems: tuple[Problem, ...]

    @property
    def is_equivalent(self) -> bool:
        """Whether all that was compared is the same."""
        return not self.difference
