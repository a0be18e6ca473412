"""cam remember."""

from typing import Annotated

import typer

from cam.cli.answer import respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json, Scope
from cam.cli.plain_remember import remember_answer


def remember_command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The fact, in your own words.")],
    scope: Scope = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="Found from the words if not given.")
    ] = None,
    detail: Annotated[
        list[str] | None, typer.Option("--detail", metavar="LINE", help="A further line; may be repeated.")
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Remember a fact, verbatim."""
    respond(
        "remember", as_json, lambda: remember_answer(enter_context(cwd), text, scope, topic, detail or [])
    )
