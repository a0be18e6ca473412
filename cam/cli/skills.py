"""cam skills: the skill that teaches an agent to search memory."""

from typing import Annotated

import typer

from cam.cli.answer import respond, writes_unless
from cam.cli.integrate import DryRun, put_in, take_out
from cam.cli.options import Cwd, Json
from cam.setup.integrations.result import Piece

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Surface = Annotated[
    str,
    typer.Option("--surface", metavar="SURFACE", help="runtime, official-user or official-project."),
]


@app.command("install")
def install_command(
    surface: Surface = "runtime", dry_run: DryRun = False, as_json: Json = False, cwd: Cwd = None
) -> None:
    """Put the skill where agents find it."""
    respond(
        "skills.install",
        as_json,
        writes_unless(dry_run),
        lambda: put_in(cwd, "user", surface, (Piece.SKILL,), trust=False, dry_run=dry_run),
    )


@app.command("remove")
def remove_command(
    surface: Surface = "runtime", dry_run: DryRun = False, as_json: Json = False, cwd: Cwd = None
) -> None:
    """Take it out again, unless somebody changed it."""
    respond(
        "skills.remove",
        as_json,
        writes_unless(dry_run),
        lambda: take_out(cwd, "user", surface, (Piece.SKILL,), dry_run=dry_run),
    )
