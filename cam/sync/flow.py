"""Sync: every unsynced session of the project, oldest first, each in one transaction.

select → read → extract → review → plan → commit (topics, MEMORY.md, history, audit line, processed mark).
"""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from cam.core.errors import CamError, InvalidInputError, NotFoundError
from cam.core.evidence import RolloutEvidence, RolloutMeta
from cam.core.operations import MemoryPlan, build_plan
from cam.core.seams import Attachment, MemoryExtractor, SessionSource, Snapshot
from cam.formats.audit import render_audit
from cam.store.identity import Project, resolve_project
from cam.store.memory_store import MarkdownStore, transact
from cam.store.processed import Mark, mark_line, read_marks
from cam.store.tombstones import read_tombstones
from cam.sync.result import SessionReport, SyncReport
from cam.sync.review import review
from cam.system.clock import now_stamp
from cam.system.files import explain
from cam.system.git import find_repository, remotes


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What to sync.

    Attributes:
        rollout: one file instead of all unsynced sessions of the project.
        force: read again what was read before.
        force_project: take ``rollout`` although it belongs to another project.
        dry_run: plan, write nothing.
    """

    rollout: str | None = None
    force: bool = False
    force_project: bool = False
    dry_run: bool = False


def sync_project(
    store: MarkdownStore,
    sessions: SessionSource,
    extractor: MemoryExtractor,
    project: Project | None,
    home: str,
    request: SyncRequest | None = None,
) -> SyncReport:
    """Sync what is unsynced.

    Args:
        store: of the project.
        sessions: where rollouts are.
        extractor: what finds candidates.
        project: None in ``$HOME`` and ``/``, where there is nothing to sync.
        home: the user's home folder.
        request: which sessions, and how.

    Raises:
        NotFoundError: the rollout named does not exist.
        InvalidInputError: it is no rollout, or belongs to another project.
    """
    request = request or SyncRequest()
    if project is None:
        return SyncReport(note="there is no project here (the home folder and / have none): nothing to sync")
    marks = read_marks(store.layout)
    belongs = _Membership(project, home)
    if request.rollout is not None:
        metas: Iterable[RolloutMeta] = [_named(sessions, request, belongs, project)]
    else:
        metas = (meta for meta in sessions.sessions() if belongs(meta))
    reports: list[SessionReport] = []
    for meta in metas:
        mark = marks.get(meta.session)
        if mark and not request.force and _size(meta.path) == mark.size:
            continue
        after = 0 if request.force or mark is None else mark.messages
        reports.append(_sync_session(store, sessions, extractor, project, belongs, meta, after, request))
    return SyncReport(tuple(reports), problems=tuple(sessions.problems))


def pending_sessions(
    store: MarkdownStore, sessions: SessionSource, project: Project, home: str
) -> tuple[tuple[RolloutMeta, int], ...]:
    """Unsynced sessions of the project and the bytes of their rollouts, oldest first."""
    marks = read_marks(store.layout)
    belongs = _Membership(project, home)
    sized = ((meta, _size(meta.path)) for meta in sessions.sessions() if belongs(meta))
    return tuple((m, size) for m, size in sized if m.session not in marks or marks[m.session].size != size)


def _sync_session(
    store: MarkdownStore,
    sessions: SessionSource,
    extractor: MemoryExtractor,
    project: Project,
    belongs: "_Membership",
    meta: RolloutMeta,
    after: int,
    request: SyncRequest,
) -> SessionReport:
    """One session, whole or not at all; a failure is reported and the next sync tries again."""
    started = time.perf_counter()
    asked = extractor.name
    report = SessionReport(meta, project.id, "skipped")
    try:
        evidence = sessions.read(meta)
        if not request.force_project:
            evidence = belongs.own_part(evidence)
        tombstones = read_tombstones(store)

        def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment | None]:
            nonlocal report
            if not meta.is_primary:
                return MemoryPlan(), _attachment(store, report, evidence, asked, started)
            extraction = extractor.extract(evidence, snapshot.records, after=after)
            decided = review(extraction, snapshot.records, tombstones)
            made = build_plan(decided.operations, snapshot.records)
            report = SessionReport(
                meta, project.id, "synced" if made.changes else "nothing", made, decided.conflicts,
                decided.rejections, evidence.problems,
                extractor=extraction.extractor, fallback_reason=extraction.fallback_reason,
            )  # fmt: skip
            return made, _attachment(store, report, evidence, asked, started)

        if request.dry_run:
            plan(store.snapshot())
            return replace(report, status="planned" if meta.is_primary else "skipped")
        _, transaction = transact(store, plan)
        return replace(report, transaction=transaction)
    except CamError as error:
        return replace(report, status="failed", error=str(error))
    except OSError as error:
        return replace(report, status="failed", error=explain(error, meta.path))


def _attachment(
    store: MarkdownStore, report: SessionReport, evidence: RolloutEvidence, asked: str, started: float
) -> Attachment:
    """The audit line and the processed mark; a session that is skipped leaves the mark alone."""
    layout, now = store.layout, now_stamp()
    messages = max((m.ordinal for m in evidence.user_messages), default=0)
    mark = Mark(report.meta.session, evidence.size, messages)
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


class _Membership:
    """Whether a session, or one turn of it, belongs to the project; each folder is looked at once."""

    def __init__(self, project: Project, home: str) -> None:
        self.project = project
        self.home = home
        self._known: dict[str, bool] = {}
        self._remotes: frozenset[str] | None = None

    def __call__(self, meta: RolloutMeta) -> bool:
        if meta.cwd is not None:
            return self.holds(meta.cwd)
        return meta.git_remote is not None and meta.git_remote in self._own_remotes()

    def holds(self, folder: str) -> bool:
        """Whether ``folder`` is in the project; one that is gone counts if it lay below the root."""
        if folder not in self._known:
            if os.path.isdir(folder):
                found = resolve_project(folder, self.home)
                self._known[folder] = found is not None and found.id == self.project.id
            else:
                self._known[folder] = folder.startswith(self.project.root.rstrip("/") + "/")
        return self._known[folder]

    def own_part(self, evidence: RolloutEvidence) -> RolloutEvidence:
        """The evidence without turns that ran in another project."""
        items = tuple(i for i in evidence.items if i.cwd is None or self.holds(i.cwd))
        return evidence if len(items) == len(evidence.items) else replace(evidence, items=items)

    def _own_remotes(self) -> frozenset[str]:
        if self._remotes is None:
            repository = find_repository(self.project.root)
            self._remotes = remotes(repository) if repository else frozenset()
        return self._remotes


def _named(
    sessions: SessionSource, request: SyncRequest, belongs: _Membership, project: Project
) -> RolloutMeta:
    path = str(request.rollout)
    if not os.path.isfile(path):
        raise NotFoundError(f"there is no rollout {path}")
    meta = sessions.header(path)
    if meta is None or not (meta.started_at or meta.cwd or meta.git_remote):
        raise InvalidInputError(f"{path} is no rollout: its first line is no session header")
    if not belongs(meta) and not request.force_project:
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
