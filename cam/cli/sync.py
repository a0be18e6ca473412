"""cam sync."""

import signal
import threading
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from cam.cli.answer import Answer, emit, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.long_work import Since, bar, is_off_in, since_stamp
from cam.cli.options import Cwd, Json
from cam.cli.project import offer_notes
from cam.context import Context
from cam.core.errors import InvalidInputError
from cam.core.seams import MemoryExtractor
from cam.render.continuity import saved_line
from cam.render.sync import sync_data, sync_text
from cam.setup.projects import note_project
from cam.sync.flow import SyncRequest, sync_all, sync_project
from cam.sync.result import SyncReport

PAUSE = 2.0
"""Seconds without a new line after which a watched session is read."""


@dataclass(frozen=True, slots=True)
class _Asked:
    request: SyncRequest
    everywhere: bool
    watch: bool
    as_json: bool


def sync_command(
    rollout: Annotated[
        str | None, typer.Option("--rollout", metavar="PATH", help="Only this session's file.")
    ] = None,
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="Sessions of every project, each into its own memory.")
    ] = False,
    since: Since = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and read each session when it pauses; Ctrl-C ends it.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be learned, write nothing.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Read again what was read before.")] = False,
    force_project: Annotated[
        bool, typer.Option("--force-project", help="With --rollout: take another project's session.")
    ] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Learn from every session of this project that was not read yet, oldest first."""

    def work() -> Answer:
        if rollout is not None and (all_projects or watch or since):
            raise InvalidInputError(
                "--rollout names one session: it goes with no --all-projects, --since, --watch"
            )
        if watch and (dry_run or force):
            raise InvalidInputError("--watch reads what is new: it goes with no --dry-run, --force")
        request = SyncRequest(rollout, force, force_project, dry_run, since_stamp(since))
        asked = _Asked(request, all_projects, watch, as_json)
        context = enter_context(cwd)
        off = context.off_reason
        if off and (context.environment.is_off or not all_projects):
            data = {"sessions": [], "note": off, "problems": [], "unassigned": []}
            return Answer(data, f"{off}: nothing was read.")
        return _watch(context, asked) if watch else _once(context, asked)

    respond("sync", as_json, writes_unless(dry_run), work)


def _once(context: Context, asked: _Asked) -> Answer:
    report = _sync(context, asked)
    notes = tuple(f"cam: {p}" for p in report.problems)
    notes += _note_left(context, asked)
    if not asked.request.dry_run:
        note_project(context.layout.root, context.project)
    notes += offer_notes(context)
    text = sync_text(report, dry_run=asked.request.dry_run, everywhere=asked.everywhere)
    return Answer(sync_data(report), text, notes, 1 if report.failed else 0)


def _note_left(context: Context, asked: _Asked) -> tuple[str, ...]:
    """Save where the newest session stopped, if no wrapper did; what there is to say of it."""
    if asked.everywhere or asked.request.dry_run or asked.request.rollout is not None:
        return ()
    from cam.wrapper.stopped import note_left

    sessions = context.sessions()
    saved, trouble = note_left(context, sessions)
    line = saved_line(saved)
    return tuple(f"cam: {text}" for text in (line, trouble) if text)


def _sync(context: Context, asked: _Asked) -> SyncReport:
    sessions = context.sessions()
    home = context.environment.home

    def extractor() -> MemoryExtractor:
        from cam.sync.extractors import choose_extractor

        return choose_extractor(context.settings, context.environment)

    with bar(show=not asked.as_json) as progress:
        if asked.everywhere:
            folders = tuple(context.environment.expand(f) for f in context.settings["off_folders"])
            return sync_all(
                context.layout.root, sessions, extractor, home, asked.request,
                here=context.project, is_off=is_off_in(context.layout, folders), progress=progress,
            )  # fmt: skip
        return sync_project(
            context.store, sessions, extractor, context.project, home, asked.request, progress
        )


def _watch(context: Context, asked: _Asked) -> Answer:
    """Sync now and after each pause, until Ctrl-C or ``kill``."""
    import os

    from cam.system.watching import pauses

    if context.project is None and not asked.everywhere:
        return _once(context, asked)
    stop = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    total = SyncReport()
    try:
        folders = [os.path.join(context.codex_home, name) for name in ("sessions", "archived_sessions")]
        total = _told(total, _sync(context, asked), asked)
        if not asked.as_json:
            emit("", (f"cam: watching {folders[0]}; Ctrl-C ends it",))
        for _ in pauses(folders, PAUSE, stop):
            total = _told(total, _sync(context, asked), asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    note_project(context.layout.root, context.project)
    return Answer(sync_data(total), "", (), 1 if total.failed else 0)


def _told(total: SyncReport, report: SyncReport, asked: _Asked) -> SyncReport:
    """Say what one sync did, and add it to what the others did."""
    if report.sessions and not asked.as_json:
        emit(
            sync_text(report, dry_run=False, everywhere=asked.everywhere),
            tuple(f"cam: {p}" for p in report.problems),
        )
    return replace(
        total,
        sessions=(*total.sessions, *report.sessions),
        problems=tuple(dict.fromkeys((*total.problems, *report.problems))),
        unassigned=report.unassigned,
    )
