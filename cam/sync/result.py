"""What a sync did, session by session."""

from dataclasses import dataclass

from cam.core.evidence import RolloutMeta
from cam.core.extraction import Conflict, Rejection
from cam.core.operations import Change, MemoryPlan
from cam.core.problems import Problem
from cam.store.identity import Project

_NOTHING = MemoryPlan()


@dataclass(frozen=True, slots=True)
class Pending:
    """A session that is to be read.

    Attributes:
        meta: the session.
        projects: those that have not read it as it is.
        size: bytes of its file, -1 where it cannot be looked at.
    """

    meta: RolloutMeta
    projects: tuple[Project, ...]
    size: int


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would read.

    Attributes:
        waiting: sessions, oldest first.
        unassigned: sessions whose folder is gone and that no project can claim.
        expected: about how many records they will give, reckoned from some of them.
    """

    waiting: tuple[Pending, ...]
    unassigned: tuple[RolloutMeta, ...] = ()
    expected: int = 0

    @property
    def own(self) -> tuple[Pending, ...]:
        """The sessions in which a person talks."""
        return tuple(p for p in self.waiting if p.meta.is_primary)

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(max(0, p.size) for p in self.own)


@dataclass(frozen=True, slots=True)
class Step:
    """How far a sync is.

    Attributes:
        done: sessions behind it.
        total: sessions in all.
        bytes_done: of their files.
        bytes_total: of all files.
        meta: the session that is read now, None at the end.
    """

    done: int
    total: int
    bytes_done: int
    bytes_total: int
    meta: RolloutMeta | None = None


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What one session taught.

    Attributes:
        meta: the session.
        project: id of the project it belongs to.
        status: ``synced``, ``nothing`` (read, nothing durable in it), ``planned`` (dry run),
            ``skipped`` (not a person's own session) or ``failed``.
        plan: what was, or would be, done.
        conflicts: what was suppressed.
        rejections: what was not kept.
        problems: what could not be read.
        transaction: its id, "" where nothing was written.
        error: why it failed, "" otherwise; the next sync tries again.
        extractor: what found the candidates; not what was asked for where that fell back.
        fallback_reason: why the extractor that was asked for did not do it, or not all of it; "" otherwise.
    """

    meta: RolloutMeta
    project: str
    status: str
    plan: MemoryPlan = _NOTHING
    conflicts: tuple[Conflict, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    problems: tuple[Problem, ...] = ()
    transaction: str = ""
    error: str = ""
    extractor: str = "heuristic"
    fallback_reason: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did.

    Attributes:
        sessions: those that were unsynced, oldest first; empty when there was nothing to do.
        note: why nothing could be done at all, "" otherwise.
        problems: sessions that could not be listed.
        unassigned: sessions whose folder is gone and that no project can claim.
    """

    sessions: tuple[SessionReport, ...] = ()
    note: str = ""
    problems: tuple[Problem, ...] = ()
    unassigned: tuple[RolloutMeta, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Everything that was learned, changed or archived."""
        return tuple(change for session in self.sessions for change in session.plan.changes)

    @property
    def failed(self) -> tuple[SessionReport, ...]:
        """Sessions that could not be synced."""
        return tuple(s for s in self.sessions if s.status == "failed")
