"""Sync: every unsynced session, of one project or of all, oldest first, each in one transaction.

select → read → extract → review → plan → commit (topics, MEMORY.md, history, audit line, processed mark).
A session belongs to the projects that its turns ran in; each project learns from its own turns alone.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cam.core.errors import CamError, DoubledIdError, InvalidInputError, NotFoundError
from cam.core.evidence import RolloutEvidence, RolloutMeta
from cam.core.operations import MemoryPlan, build_plan, doubled
from cam.core.problems import Problem
from cam.core.records import MemoryScope, MemoryState
from cam.core.seams import Attachment, MemoryExtractor, SessionSource, Snapshot
from cam.formats.audit import render_audit
from cam.store.identity import Project
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.processed import Mark, mark_line, read_marks
from cam.store.session_index import SessionIndex
from cam.store.tombstones import read_tombstones
from cam.sync.capture import captured
from cam.sync.places import Places, folders_of
from cam.sync.result import Pending, SessionReport, Step, SyncReport
from cam.system.clock import now_stamp
from cam.system.files import explain
from cam.system.rollout_files import last_time

_SAMPLE = 12  # sessions that are looked into for an estimate
_SAMPLE_BYTES = 5_000_000  # longer ones are not

Extractor = MemoryExtractor | Callable[[], MemoryExtractor]


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What to sync.

    Attributes:
        rollout: one file instead of all unsynced sessions of the project.
        force: read again what was read before.
        force_project: take ``rollout`` although it belongs to another project.
        dry_run: plan, write nothing.
        since: only sessions in which something was said at or after this time (ISO-8601 UTC); "" for all.
        also: ids of sessions that are known to have worked here, wherever they began.
    """

    rollout: str | None = None
    force: bool = False
    force_project: bool = False
    dry_run: bool = False
    since: str = ""
    also: tuple[str, ...] = ()


def sync_project(
    store: MarkdownStore,
    sessions: SessionSource,
    extractor: Extractor,
    project: Project | None,
    home: str,
    request: SyncRequest | None = None,
    progress: Callable[[Step], None] | None = None,
) -> SyncReport:
    """Sync what is unsynced of one project.

    Args:
        store: of the project.
        sessions: where rollouts are.
        extractor: what finds candidates, or what makes it when the first session is to be read.
        project: None in ``$HOME`` and ``/``, where there is nothing to sync.
        home: the user's home folder.
        request: which sessions, and how.
        progress: told before each session and once at the end.

    Raises:
        NotFoundError: the rollout named does not exist.
        InvalidInputError: it is no rollout, or belongs to another project.
    """
    request = request or SyncRequest()
    if project is None:
        return SyncReport(note="there is no project here (the home folder and / have none): nothing to sync")
    run = _Run(store.layout.root, sessions, extractor, Places(store.layout.root, home, project), request)
    if request.rollout is not None:
        meta = _named(sessions, request, run.places, project)
        waiting = [run.pending(meta, (run.place(meta, project),))]
    else:
        waiting = [run.pending(*one) for one in run.selected(project)]
    return run.all([p for p in waiting if p is not None], progress)


def sync_all(
    root: str,
    sessions: SessionSource,
    extractor: Extractor,
    home: str,
    request: SyncRequest | None = None,
    *,
    here: Project | None = None,
    is_off: Callable[[Project], bool] = lambda _: False,
    progress: Callable[[Step], None] | None = None,
) -> SyncReport:
    """Sync what is unsynced of every project.

    Args:
        root: the store.
        sessions: where rollouts are.
        extractor: what finds candidates, or what makes it when the first session is to be read.
        home: the user's home folder.
        request: how; ``rollout`` and ``also`` mean nothing here.
        here: the project that is worked in; the store need not know it yet.
        is_off: projects in which cam is off: nothing of them is read.
        progress: told before each session and once at the end.
    """
    run = _Run(
        root, sessions, extractor, Places(root, home, here), request or SyncRequest(), is_off, everywhere=True
    )
    waiting, unassigned = run.everything()
    return replace(run.all(waiting, progress), unassigned=unassigned)


def pending_everywhere(
    root: str,
    sessions: SessionSource,
    home: str,
    request: SyncRequest | None = None,
    *,
    here: Project | None = None,
    is_off: Callable[[Project], bool] = lambda _: False,
) -> tuple[tuple[Pending, ...], tuple[RolloutMeta, ...]]:
    """What ``sync_all`` would read, oldest first, and the sessions that nobody can place; reads nothing."""
    run = _Run(
        root, sessions, None, Places(root, home, here), request or SyncRequest(), is_off, everywhere=True
    )
    waiting, unassigned = run.everything()
    return tuple(waiting), unassigned


def expected_records(
    root: str,
    sessions: SessionSource,
    home: str,
    waiting: Sequence[Pending],
    *,
    here: Project | None = None,
    is_off: Callable[[Project], bool] = lambda _: False,
) -> int:
    """About how many records some waiting sessions will give, by a dry run over a few that lie apart.

    Args:
        root: the store.
        sessions: where rollouts are.
        home: the user's home folder.
        waiting: what is to be read.
        here: the project that is worked in.
        is_off: projects in which cam is off.
    """
    from cam.sync.heuristic import HeuristicExtractor  # noqa: PLC0415 - no model is asked for an estimate

    own = [p for p in waiting if p.meta.is_primary and 0 <= p.size <= _SAMPLE_BYTES]
    sample = own[:: max(1, len(own) // _SAMPLE)][:_SAMPLE]
    if not sample:
        return 0
    request = SyncRequest(dry_run=True)
    run = _Run(root, sessions, HeuristicExtractor(), Places(root, home, here), request, is_off)
    found = sum(len(session.plan.changes) for session in run.all(sample, None).sessions)
    return round(found * sum(p.meta.is_primary for p in waiting) / len(sample))


def pending_sessions(
    store: MarkdownStore, sessions: SessionSource, project: Project, home: str, also: tuple[str, ...] = ()
) -> tuple[tuple[RolloutMeta, int], ...]:
    """Unsynced sessions of the project and the bytes of their rollouts, oldest first."""
    places = Places(store.layout.root, home, project)
    run = _Run(store.layout.root, sessions, None, places, SyncRequest(also=also))
    waiting = (run.pending(*one) for one in run.selected(project))
    return tuple((p.meta, p.size) for p in waiting if p is not None)


class _Run:
    """One sync: what is asked once and needed for every session."""

    def __init__(
        self,
        root: str,
        sessions: SessionSource,
        extractor: Extractor | None,
        places: Places,
        request: SyncRequest,
        is_off: Callable[[Project], bool] = lambda _: False,
        *,
        everywhere: bool = False,
    ) -> None:
        self.places = places
        self._root = root
        self._sessions = sessions
        self._extractor = extractor
        self._request = request
        self._is_off = is_off
        self._everywhere = everywhere
        self._index: SessionIndex | None = getattr(sessions, "index", None)
        self._stores: dict[tuple[str, str], MarkdownStore] = {}
        self._marks: dict[str, dict[str, Mark]] = {}

    def selected(self, project: Project) -> Iterator[tuple[RolloutMeta, tuple[Project]]]:
        """Sessions of one project, oldest first, each with the place in it that it ran in."""
        for meta in self._sessions.sessions():
            is_known = meta.session in self._request.also or project.id in self.places.all_of(meta)
            if is_known and self._recent(meta):
                yield meta, (self.place(meta, project),)

    def place(self, meta: RolloutMeta, project: Project) -> Project:
        """The worktree of the project that the session ran in, which need not be the one that syncs."""
        return self.places.all_of(meta).get(project.id, project)

    def everything(self) -> tuple[list[Pending], tuple[RolloutMeta, ...]]:
        """Unsynced sessions of all projects, and those that nobody can place."""
        waiting: list[Pending] = []
        unassigned: list[RolloutMeta] = []
        for meta in self._sessions.sessions():
            if not self._recent(meta):
                continue
            projects = tuple(p for p in self.places.all_of(meta).values() if not self._is_off(p))
            if meta.is_primary and not projects and self.places.is_unknown(meta):
                unassigned.append(meta)
            found = self.pending(meta, projects) if projects else None
            if found is not None:
                waiting.append(found)
        return waiting, tuple(unassigned)

    def pending(self, meta: RolloutMeta, projects: tuple[Project, ...]) -> Pending | None:
        """The session with those of the projects that have not read it as it is; None if all have."""
        size = _size(meta.path)
        if not self._request.force:
            projects = tuple(p for p in projects if not self._is_read(meta, p, size))
        return Pending(meta, projects, size) if projects else None

    def all(self, waiting: list[Pending], progress: Callable[[Step], None] | None) -> SyncReport:
        """Sync session by session."""
        total, done = sum(max(0, p.size) for p in waiting), 0
        reports: list[SessionReport] = []
        for number, pending in enumerate(waiting):
            if progress is not None:
                progress(Step(number, len(waiting), done, total, pending.meta))
            reports += self._session(pending)
            done += max(0, pending.size)
        if progress is not None and waiting:
            progress(Step(len(waiting), len(waiting), done, total))
        return SyncReport(tuple(reports), problems=tuple(self._sessions.problems))

    def _session(self, pending: Pending) -> Iterator[SessionReport]:
        """One session in each of its projects; read once."""
        meta = pending.meta
        try:
            grown = self._grown(pending)
            if grown is not None:
                evidence = grown
            elif meta.is_primary:
                evidence = self._sessions.read(meta)
            else:
                evidence = RolloutEvidence(meta, size=pending.size)  # no source of rules: its size is enough
            if self._everywhere and grown is not None:
                there = self.places.all_of(meta, folders_of(evidence))
                if there.keys() - {p.id for p in pending.projects}:
                    evidence = self._sessions.read(meta)  # new to a project: it needs the whole
        except (CamError, OSError) as error:
            why = explain(error, meta.path) if isinstance(error, OSError) else str(error)
            yield from (SessionReport(meta, p.id, "failed", error=why) for p in pending.projects)
            return
        size = max(pending.size, evidence.size) if not meta.path.endswith(".zst") else pending.size
        projects = {p.id: p for p in pending.projects}
        if self._everywhere:
            for project in self.places.all_of(meta, folders_of(evidence)).values():
                if project.id not in projects and not self._is_off(project):
                    again = self.pending(meta, (project,))
                    projects |= {project.id: project} if again is not None else {}
        for project in projects.values():
            yield self._learn(project, evidence, size)

    def _grown(self, pending: Pending) -> RolloutEvidence | None:
        """What was added since all of its projects read the session; None where it must be read whole."""
        read_on = getattr(self._sessions, "read_on", None)
        marks = [self._marks_of(p).get(pending.meta.session) for p in pending.projects]
        if read_on is None or self._request.force or not pending.meta.is_primary or None in marks:
            return None
        after = min(m.messages for m in marks if m is not None)
        evidence: RolloutEvidence | None = read_on(pending.meta, after)
        return evidence

    def _learn(self, project: Project, evidence: RolloutEvidence, size: int) -> SessionReport:
        """One session in one project, whole or not at all; after a failure the next sync tries again."""
        meta, request, extractor = evidence.meta, self._request, self._the_extractor()
        started, store = time.perf_counter(), self._store(project)
        report = SessionReport(meta, project.id, "skipped")
        mark = self._marks_of(project).get(meta.session)
        after = 0 if request.force or mark is None else mark.messages
        try:
            if not request.force_project:
                evidence = self.places.part_of(evidence, project)
            evidence = captured(evidence, now_stamp())
            messages = max((m.ordinal for m in evidence.user_messages), default=0)
            read = size, max(messages, after)
            from cam.sync.review import review  # noqa: PLC0415 - most syncs find nothing to review

            tombstones = read_tombstones(store)
            twice: frozenset[tuple[str, str, str]] = frozenset()
            rewritten = mark is not None and messages <= mark.messages and not request.force

            def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment | None]:
                nonlocal report
                if not meta.is_primary:
                    return MemoryPlan(), _attachment(store, report, evidence, read, extractor.name, started)
                extraction = extractor.extract(evidence, snapshot.records, after=after)
                decided = review(extraction, snapshot.records, tombstones)
                made = build_plan(decided.operations, snapshot.records, twice)
                report = SessionReport(
                    meta, project.id, "synced" if made.changes else "nothing", made, decided.conflicts,
                    decided.rejections, (*evidence.problems, *_left_out(store, made, twice)),
                    extractor=extraction.extractor, fallback_reason=extraction.fallback_reason,
                )  # fmt: skip
                if rewritten and not made.changes:
                    return MemoryPlan(), None  # the same words in another file: nothing to note
                return made, _attachment(store, report, evidence, read, extractor.name, started)

            if request.dry_run:
                snapshot = store.snapshot()
                twice = doubled(snapshot.records)
                plan(snapshot)
                return replace(report, status="planned" if meta.is_primary else "skipped")
            try:
                _, transaction = transact(store, plan)
            except DoubledIdError as error:
                twice = error.keys  # what else the session says is learned all the same
                _, transaction = transact(store, plan)
            if rewritten and not transaction and self._index is not None:
                self._index.note_read(meta, project.id)
            return replace(report, transaction=transaction)
        except CamError as error:
            return replace(report, status="failed", error=str(error))
        except OSError as error:
            return replace(report, status="failed", error=explain(error, meta.path))

    def _the_extractor(self) -> MemoryExtractor:
        assert self._extractor is not None
        if callable(self._extractor):
            self._extractor = self._extractor()
        return self._extractor

    def _is_read(self, meta: RolloutMeta, project: Project, size: int) -> bool:
        mark = self._marks_of(project).get(meta.session)
        if mark is None:
            return False
        return mark.size == size or (self._index is not None and self._index.is_read(meta, project.id))

    def _recent(self, meta: RolloutMeta) -> bool:
        since = self._request.since
        return not since or meta.started_at >= since or last_time(meta.path, since) >= since

    def _store(self, project: Project) -> MarkdownStore:
        key = project.id, project.worktree
        if key not in self._stores:
            self._stores[key] = MarkdownStore(StoreLayout(self._root, *key))
        return self._stores[key]

    def _marks_of(self, project: Project) -> dict[str, Mark]:
        if project.id not in self._marks:
            self._marks[project.id] = read_marks(self._store(project).layout)
        return self._marks[project.id]


def _left_out(
    store: MarkdownStore, plan: MemoryPlan, twice: frozenset[tuple[str, str, str]]
) -> Iterator[Problem]:
    """What the session says about ids that stand twice, which is not learned."""
    for key in dict.fromkeys(noop.record.key for noop in plan.noops if noop.record.key in twice):
        scope, topic, name = key
        path = store.layout.topic_file(MemoryScope(scope), MemoryState.ACTIVE, topic)
        reason = f"the id {name} stands twice; what the session says about it was not learned"
        yield Problem(path, 0, reason, "take one out, and forget the other if it holds no longer")


def _attachment(
    store: MarkdownStore,
    report: SessionReport,
    evidence: RolloutEvidence,
    read: tuple[int, int],
    asked: str,
    started: float,
) -> Attachment:
    """The audit line and the processed mark; a session that is skipped leaves the mark alone.

    Args:
        store: where they go.
        report: what the session taught.
        evidence: what it said.
        read: bytes and user messages that were read.
        asked: name of the extractor that was asked for.
        started: when the work on it began.
    """
    layout, now = store.layout, now_stamp()
    mark = Mark(report.meta.session, *read)
    lines = [(os.path.relpath(layout.processed_file, layout.root), mark_line(mark, now))]
    if report.meta.is_primary:
        more: dict[str, Any] = {
            "session": report.meta.session,
            "rollout": report.meta.path,
            "codex": report.meta.cli_version,
            "extractor_asked": asked,
            "extractor": report.extractor,
            **({"fallback_reason": report.fallback_reason} if report.fallback_reason else {}),
            "skipped_lines": evidence.skipped,
            "ms": round((time.perf_counter() - started) * 1000),
        }
        audit = render_audit(
            at=now, kind="sync", actor="sync", plan=report.plan, conflicts=report.conflicts,
            rejections=report.rejections, problems=report.problems, more=more,
        )  # fmt: skip
        lines.append((os.path.relpath(layout.audit_file, layout.root), audit))
    return Attachment(tuple(lines))


def _named(sessions: SessionSource, request: SyncRequest, places: Places, project: Project) -> RolloutMeta:
    path = str(request.rollout)
    if not os.path.isfile(path):
        raise NotFoundError(f"there is no rollout {path}")
    meta = sessions.header(path)
    if meta is None or not (meta.started_at or meta.cwd or meta.git_remote):
        raise InvalidInputError(f"{path} is no rollout: its first line is no session header")
    if project.id not in places.all_of(meta) and not request.force_project:
        raise InvalidInputError(
            f"{path} belongs to another project ({meta.cwd or meta.git_remote or 'unknown'}), not to "
            f"{project.root}; run cam there, or take it all the same with --force-project"
        )
    return meta


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1
