"""cam sync."""

from typing import Annotated

import typer

from cam.cli.answer import Answer, respond
from cam.cli.app import global_cwd
from cam.cli.options import Cwd, Json
from cam.cli.project import offer_notes
from cam.context import open_context
from cam.render.sync import sync_data, sync_text
from cam.setup.projects import note_project
from cam.store.sessions import CodexSessions
from cam.sync.extractors import choose_extractor
from cam.sync.flow import SyncRequest, sync_project


def sync_command(
    rollout: Annotated[
        str | None, typer.Option("--rollout", metavar="PATH", help="Only this session's file.")
    ] = None,
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
    request = SyncRequest(rollout, force, force_project, dry_run)
    respond("sync", as_json, lambda: _sync(request, cwd))


def _sync(request: SyncRequest, cwd: str | None) -> Answer:
    context = open_context(global_cwd(cwd))
    if context.environment.is_off:
        return Answer(
            {"sessions": [], "note": "CAM_OFF is set", "problems": []}, "CAM_OFF is set: nothing was read."
        )
    report = sync_project(
        context.store,
        CodexSessions(context.codex_home),
        choose_extractor(context.settings, context.environment),
        context.project,
        context.environment.home,
        request,
    )
    notes = tuple(f"cam: {p}" for p in report.problems)
    if not request.dry_run:
        note_project(context.layout.root, context.project)
    notes += offer_notes(context)
    code = 1 if report.failed else 0
    return Answer(sync_data(report), sync_text(report, dry_run=request.dry_run), notes, code)
