"""cam import: memory from the sessions before cam, and what other tools remember, as proposals."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cam.cli.answer import Answer, emit, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.long_work import Since, bar, is_off_in, since_stamp
from cam.cli.options import Cwd, Json, Yes
from cam.context import Context
from cam.core.errors import WriteRefusedError
from cam.core.records import MemoryScope
from cam.core.seams import MemoryExtractor
from cam.render.sync import import_data, import_text, plan_text, sync_data
from cam.setup.projects import note_project
from cam.sync.flow import SyncRequest, expected_records, pending_everywhere, sync_all
from cam.sync.result import ImportPlan

if TYPE_CHECKING:
    from cam.memory.others import Found

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what there is, write nothing.")]

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _group() -> None:
    """Learn from the time before cam: Codex's sessions, and what other tools remember, as proposals."""


@app.command("codex")
def codex_command(
    since: Since = None,
    yes: Yes = False,
    dry_run: DryRun = False,
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

    respond("import.codex", as_json, writes_unless(dry_run), work)


def _import(context: Context, since: str, *, yes: bool, dry_run: bool, as_json: bool) -> Answer:
    root, home = context.layout.root, context.environment.home
    sessions = context.sessions()
    folders = tuple(context.environment.expand(f) for f in context.settings["off_folders"])
    how: dict[str, Any] = {"here": context.project, "is_off": is_off_in(context.layout, folders)}
    request = SyncRequest(since=since)
    waiting, unassigned = pending_everywhere(root, sessions, home, request, **how)
    plan = ImportPlan(waiting, unassigned, expected_records(root, sessions, home, waiting, **how))
    if dry_run or not plan.own:
        return Answer(import_data(plan), plan_text(plan, dry_run=dry_run))
    if not as_json:
        emit(plan_text(plan, dry_run=False))
    if not yes and not _agreed(as_json, "Import them?"):
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


def _agreed(as_json: bool, question: str) -> bool:
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@app.command("agents-md")
def agents_md_command(
    yes: Yes = False, dry_run: DryRun = False, as_json: Json = False, cwd: Cwd = None
) -> None:
    """Propose what this project's AGENTS.md files and your own say; each item waits in 'cam review'."""

    def files(context: Context) -> "tuple[Found, ...]":
        from cam.memory.others import instruction_files_as
        from cam.setup.instruction_files import fallback_names, instruction_files

        environment = context.environment
        found = instruction_files(
            environment.cwd, context.project, environment.home, context.codex_home,
            fallback_names(context.codex_home),
        )  # fmt: skip
        read = [f for f in found if f.agent == "codex" and f.is_read]
        return instruction_files_as(
            [(f.path, MemoryScope.GLOBAL if f.level == "user" else MemoryScope.PROJECT) for f in read]
        )

    respond(
        "import.agents-md",
        as_json,
        writes_unless(dry_run),
        lambda: _propose(cwd, "agents-md", files, yes, dry_run, as_json),
    )


@app.command("claude")
def claude_command(yes: Yes = False, dry_run: DryRun = False, as_json: Json = False, cwd: Cwd = None) -> None:
    """Propose what Claude Code remembers of this project; each note waits in 'cam review'."""

    def files(context: Context) -> "tuple[Found, ...]":
        from cam.memory.others import claude_files

        root = context.project.root if context.project else context.environment.cwd
        return claude_files(context.environment.home, (root, os.path.realpath(context.environment.cwd)))

    respond(
        "import.claude",
        as_json,
        writes_unless(dry_run),
        lambda: _propose(cwd, "claude", files, yes, dry_run, as_json),
    )


@app.command("native")
def native_command(yes: Yes = False, dry_run: DryRun = False, as_json: Json = False, cwd: Cwd = None) -> None:
    """Propose what Codex's own memory says of this project; each note waits in 'cam review'."""

    def files(context: Context) -> "tuple[Found, ...]":
        from cam.memory.others import native_files

        root = context.project.root if context.project else context.environment.cwd
        return native_files(context.codex_home, root)

    respond(
        "import.native",
        as_json,
        writes_unless(dry_run),
        lambda: _propose(cwd, "native", files, yes, dry_run, as_json),
    )


def _propose(
    cwd: str | None,
    kind: str,
    files: "Callable[[Context], tuple[Found, ...]]",
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> Answer:
    """Say what there is, ask, and let what is new wait in the review queue."""
    from cam.memory.others import plan_others, propose_others
    from cam.render.others import others_data, others_text

    context = enter_context(cwd)
    if context.off_reason:
        return Answer({"note": context.off_reason}, f"{context.off_reason}: nothing was read.")
    plan = plan_others(context.store, kind, files(context))
    report = others_text(plan)
    if dry_run or not plan.items:
        return Answer(others_data(plan, done=False), report)
    if not as_json:
        emit(report)
    if not yes and not _agreed(as_json, "Propose them?"):
        raise WriteRefusedError("nothing was proposed; say --yes to propose without being asked")
    propose_others(context.store, plan)
    count = f"{len(plan.items)} {'waits' if len(plan.items) == 1 else 'wait'} for you: cam review"
    return Answer(others_data(plan, done=True), count)
