"""cam import: memory from the sessions of the time before cam."""

import sys
from typing import Annotated, Any

import typer

from cam.cli.answer import Answer, emit, respond
from cam.cli.app import enter_context
from cam.cli.long_work import Since, bar, is_off_in, since_stamp
from cam.cli.options import Cwd, Json, Yes
from cam.context import Context
from cam.core.errors import WriteRefusedError
from cam.core.seams import MemoryExtractor
from cam.render.sync import import_data, import_text, plan_text, sync_data
from cam.setup.projects import note_project
from cam.store.sessions import CodexSessions
from cam.sync.flow import SyncRequest, expected_records, pending_everywhere, sync_all
from cam.sync.result import ImportPlan

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _group() -> None:
    """A group, so that other sources can stand beside Codex."""


@app.command("codex")
def codex_command(
    since: Since = None,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what there is, write nothing.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Learn from every session that Codex ever kept, of all projects, oldest first.

    Says first what there is. Stopped at any moment, it goes on where it stopped.
    """

    def work() -> Answer:
        context = enter_context(cwd)
        if context.environment.is_off:
            return Answer({"note": "CAM_OFF is set"}, "CAM_OFF is set: nothing was read.")
        return _import(context, since_stamp(since), yes=yes, dry_run=dry_run, as_json=as_json)

    respond("import.codex", as_json, work)


def _import(context: Context, since: str, *, yes: bool, dry_run: bool, as_json: bool) -> Answer:
    root, home = context.layout.root, context.environment.home
    sessions = CodexSessions(context.codex_home, context.layout.cache_file("sessions.json"))
    folders = tuple(context.environment.expand(f) for f in context.settings["off_folders"])
    how: dict[str, Any] = {"here": context.project, "is_off": is_off_in(context.layout, folders)}
    request = SyncRequest(since=since)
    waiting, unassigned = pending_everywhere(root, sessions, home, request, **how)
    plan = ImportPlan(waiting, unassigned, expected_records(root, sessions, home, waiting, **how))
    if dry_run or not plan.own:
        return Answer(import_data(plan), plan_text(plan, dry_run=dry_run))
    if not as_json:
        emit(plan_text(plan, dry_run=False))
    if not yes and not _agreed(as_json):
        raise WriteRefusedError("nothing was written; say --yes to import without being asked")

    def extractor() -> MemoryExtractor:
        from cam.sync.extractors import choose_extractor

        return choose_extractor(context.settings, context.environment)

    with bar(show=not as_json) as progress:
        report = sync_all(root, sessions, extractor, home, request, progress=progress, **how)
    projects = {p.id: p for pending in waiting for p in pending.projects}
    for project in projects.values():
        note_project(root, project)
    data = import_data(plan) | sync_data(report)
    notes = tuple(f"cam: {p}" for p in report.problems)
    return Answer(data, import_text(report, projects), notes, 1 if report.failed else 0)


def _agreed(as_json: bool) -> bool:
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write("Import them? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
