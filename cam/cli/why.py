"""cam why."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.records import MemoryRef
from cam.memory.flow import told_of
from cam.render.history import story_data, story_text


def why_command(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Of a record that is there, archived or gone.")],
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Who said it and when, in which words, what it replaced and what replaced it."""
    respond("why", as_json, Access.READS, lambda: _why(ref, cwd))


def _why(ref: str, cwd: str | None) -> Answer:
    told = told_of(enter_context(cwd).store, MemoryRef.parse(ref))
    return Answer(story_data(told), story_text(told))
