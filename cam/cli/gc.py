"""cam gc."""

from typing import Annotated

import typer

from cam.cli.answer import Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.render.gc import gc_data, gc_text
from cam.store.gc import Keep, clear, find_waste


def gc_command(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Clear it; otherwise it is only shown.")] = False,
    keep_history: Annotated[
        int,
        typer.Option("--keep-history", metavar="DAYS", min=0, help="Events: what undo and timelines need."),
    ] = 365,
    keep_audit: Annotated[
        int, typer.Option("--keep-audit", metavar="DAYS", min=0, help="What each sync and command did.")
    ] = 180,
    keep_archive: Annotated[
        int | None,
        typer.Option("--keep-archive", metavar="DAYS", min=0, help="Archived records; else they stay."),
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Clear what is old in the whole store; an active record never goes. Shows only, unless --yes."""

    def work() -> Answer:
        root = enter_context(cwd).layout.root
        keep = Keep(keep_history, keep_audit, keep_archive)
        waste = clear(root, keep) if yes else find_waste(root, keep)
        return Answer(gc_data(waste, done=yes), gc_text(waste, done=yes))

    respond("gc", as_json, work)
