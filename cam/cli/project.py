"""cam project: list, show, move, merge, purge."""

import sys
from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json, Yes
from cam.context import Context
from cam.core.display import counted
from cam.core.errors import InvalidInputError, WriteRefusedError
from cam.render.projects import (
    attached_data,
    attached_text,
    project_data,
    project_text,
    projects_text,
    worktree_notes,
)
from cam.setup.projects import (
    find_project,
    list_projects,
    merge_projects,
    move_project,
    note_project,
    project_at,
    purge_project,
    recognise,
    show_project,
)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_ID = typer.Argument(metavar="ID", help="As 'cam project list' prints it, or the folder it stood in.")
_OLD = typer.Argument(
    metavar="ID", help="Of a project, the folder it stood in, or of a worktree that is gone."
)


@app.command("list")
def list_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Every project that the store remembers, and whether its folder is still there."""

    def work() -> Answer:
        context = enter_context(cwd)
        rows = list_projects(context.layout.root, context.project)
        data = {"projects": [project_data(row) for row in rows]}
        return Answer(data, projects_text(rows), offer_notes(context))

    respond("project.list", as_json, Access.READS, work)


@app.command("show")
def show_command(
    name: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The current project if not given.")
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """What is known of one project: root, remotes, first commit, worktrees, records."""

    def work() -> Answer:
        context = enter_context(cwd)
        root = context.layout.root
        if name is None and context.project is None:
            raise InvalidInputError("there is no project here (the home folder and / have none); name one")
        wanted = find_project(root, name) if name else context.project.id if context.project else ""
        row = show_project(root, wanted, context.project)
        return Answer(project_data(row), project_text(row), worktree_notes(row))

    respond("project.show", as_json, Access.READS, work)


@app.command("move")
def move_command(
    old: Annotated[str, _OLD],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="DIR", help="The repository that gets it; this one if not given."),
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Attach the memory of a repository that moved or was cloned anew, or of a lost worktree."""

    def work() -> Answer:
        context = enter_context(cwd)
        root = context.layout.root
        environment = context.environment
        project = project_at(environment.expand(to), environment.home) if to else context.project
        done = move_project(root, old, project)
        note_project(root, project)
        return Answer(attached_data(done), attached_text(done))

    respond("project.move", as_json, Access.WRITES, work)


@app.command("merge")
def merge_command(
    old: Annotated[str, _ID], new: Annotated[str, _ID], as_json: Json = False, cwd: Cwd = None
) -> None:
    """Give the memory of project OLD to project NEW, record by record; a copy of both is kept."""

    def work() -> Answer:
        root = enter_context(cwd).layout.root
        done = merge_projects(root, old, new)
        return Answer(attached_data(done), attached_text(done))

    respond("project.merge", as_json, Access.WRITES, work)


@app.command("purge")
def purge_command(
    name: Annotated[str, _ID], yes: Yes = False, as_json: Json = False, cwd: Cwd = None
) -> None:
    """Take a project out of the store for good: records, history, audit."""

    def work() -> Answer:
        context = enter_context(cwd)
        root = context.layout.root
        row = show_project(root, find_project(root, name), context.project)
        count = f"{row.active:,} active and {counted(row.archived, 'archived record')}"
        if not yes and not _agreed(f"purge {row.known.id} with {count}, for good?", as_json):
            raise WriteRefusedError(f"nothing was purged; --yes takes {row.known.id} out with {count}")
        purge_project(root, row.known.id)
        data = {"id": row.known.id, "active": row.active, "archived": row.archived}
        return Answer(data, f"Purged {row.known.id}: {count}.")

    respond("project.purge", as_json, Access.WRITES, work)


def offer_notes(context: Context) -> tuple[str, ...]:
    """One line where this repository seems to have its memory under another name; empty otherwise."""
    known = recognise(context.layout.root, context.project)
    if known is None:
        return ()
    where = f" (was in {known.root})" if known.root else ""
    take = f"take its memory along: cam project move {known.id}"
    return (f"cam: this repository is known as {known.id}{where}; {take}",)


def _agreed(question: str, as_json: bool) -> bool:
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
