"""cam gc."""

from typing import Annotated

import typer

from cam.cli.answer import Answer, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.long_work import counting_bar
from cam.cli.options import Cwd, Json
from cam.core.errors import InvalidInputError
from cam.render.gc import gc_data, gc_text
from cam.store.gc import Keep, clear, find_waste


def gc_command(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Clear it; otherwise it is only shown.")] = False,
    keep_history: Annotated[
        str, typer.Option("--keep-history", metavar="DAYS", help="Events: what undo and timelines need.")
    ] = "365",
    keep_audit: Annotated[
        str, typer.Option("--keep-audit", metavar="DAYS", help="What each sync and command did.")
    ] = "180",
    keep_archive: Annotated[
        str | None, typer.Option("--keep-archive", metavar="DAYS", help="Archived records; else they stay.")
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Clear what is old in the whole store; an active record never goes. Shows only, unless --yes."""

    def work() -> Answer:
        root = enter_context(cwd).layout.root
        archive = None if keep_archive is None else _days("--keep-archive", keep_archive)
        keep = Keep(_days("--keep-history", keep_history), _days("--keep-audit", keep_audit), archive)
        work = clear if yes else find_waste
        with counting_bar("looking through the store", is_bytes=True, show=not as_json) as progress:
            waste = work(root, keep, progress=progress)
        return Answer(gc_data(waste, done=yes), gc_text(waste, done=yes))

    respond("gc", as_json, writes_unless(not yes), work)


def _days(option: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise InvalidInputError(f"{option} takes a number of days, 0 or more, not {text!r}")
    return int(text)
