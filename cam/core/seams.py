"""The four seams: each a protocol, with one place that chooses the implementation.

Another host, a native memory of Codex or another extractor is put in here without touching the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # hot paths need the store's types alone, and these cost 8 ms
    from cam.core.evidence import RolloutEvidence, RolloutMeta
    from cam.core.extraction import Extraction
    from cam.core.operations import MemoryPlan
    from cam.core.problems import Problem
    from cam.core.records import MemoryRecord


class SessionSource(Protocol):
    """Where evidence comes from.

    Attributes:
        problems: what could not be looked into so far.
    """

    problems: list[Problem]

    def sessions(self) -> Iterable[RolloutMeta]:
        """Headers of all sessions that can be found, oldest first."""

    def header(self, path: str) -> RolloutMeta | None:
        """The header of one file, None if it is no session."""

    def find(self, session_id: str) -> RolloutMeta | None:
        """The session with this id."""

    def read(self, meta: RolloutMeta) -> RolloutEvidence:
        """Everything one session says.

        Raises:
            OSError: it cannot be read to its end; nothing of it may pass for read.
        """


class MemoryExtractor(Protocol):
    """What decides which words are durable."""

    name: str

    def extract(
        self, evidence: RolloutEvidence, records: Sequence[MemoryRecord], *, after: int = 0
    ) -> Extraction:
        """Find candidates in ``evidence``.

        Args:
            evidence: one session, whole.
            records: what is known already.
            after: user messages up to this ordinal were read before; they are context, not news.
        """


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The records of the project's scopes, as read at one moment.

    Attributes:
        records: in file order.
        problems: what could not be read.
        has_edits: whether people edited files since they were written; the next commit notes what.
    """

    records: tuple[MemoryRecord, ...] = ()
    problems: tuple[Problem, ...] = ()
    has_edits: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """What is written in the same transaction as a plan, besides records and history.

    Attributes:
        appends: (path relative to the store's root, line to append), in order.
        files: whole new content, by path relative to the store's root.
    """

    appends: tuple[tuple[str, str], ...] = ()
    files: dict[str, str] = field(default_factory=dict)


class MemoryStore(Protocol):
    """Where memory is kept."""

    def snapshot(self) -> Snapshot:
        """Read every record of the project's scopes, active and archived."""

    def commit(self, plan: MemoryPlan, attachment: Attachment | None = None) -> str:
        """Carry out ``plan``, whole or not at all; return the transaction's id, "" if nothing was written.

        Raises:
            StalePlanError: a record is not as the plan expects.
            StoreUnavailableError: the machine refused; nothing was written.
        """


@dataclass(frozen=True, slots=True)
class Injection:
    """How the payload reaches Codex.

    Attributes:
        strategy: ``session-flag-hook``, ``developer-instructions`` or ``none``.
        arguments: to put before the user's own, or ``replace`` them.
        replace: the whole argument list, where the user's own flags had to be merged.
        warning: one line for the person, "" if all is well.
    """

    strategy: str
    arguments: tuple[str, ...] = ()
    replace: tuple[str, ...] | None = None
    warning: str = ""


class RuntimeInjector(Protocol):
    """What puts the payload in front of the model."""

    strategy: str

    def inject(self, arguments: Sequence[str]) -> Injection:
        """Arguments for Codex such that the payload reaches the model; ``arguments`` are the user's own."""
