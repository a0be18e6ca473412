"""cam propose."""

from typing import Annotated, Any

import typer

from cam.cli.agent_options import Actor, AllowWrite, ItemFile
from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.keys import in_a_sandbox, is_item, read_item, who_writes
from cam.cli.options import Cwd, Json
from cam.core.errors import InvalidInputError, StoreUnavailableError
from cam.core.items import TARGETS, authorise, proposal_item
from cam.render.review import proposed_data, proposed_text


def propose_command(
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What to add, or the item as JSON.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="FILE", help=f"One of {', '.join(TARGETS)}.")
    ] = None,
    old: Annotated[
        str | None,
        typer.Option("--instead-of", metavar="TEXT", help="What it replaces; stands once in the file."),
    ] = None,
    why: Annotated[str | None, typer.Option("--why", metavar="TEXT", help="The reason.")] = None,
    file: ItemFile = None,
    actor: Actor = None,
    allow_write: AllowWrite = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Propose a change to an instruction file; it waits in 'cam review', and the file is not touched."""
    options = {"target": target, "old": old, "rationale": why}
    respond(
        "propose", as_json, Access.WITH_KEYS, lambda: _propose(text, file, options, actor, allow_write, cwd)
    )


def _propose(
    text: str | None,
    file: str | None,
    options: dict[str, str | None],
    actor: str | None,
    allow_write: bool,
    cwd: str | None,
) -> Answer:
    from cam.memory.agents import propose_for

    context = enter_context(cwd)
    name = who_writes(context.environment, actor, allow_write=allow_write) or authorise(
        actor, allow_write
    )  # a person edits the file
    given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    if file is not None or is_item(text):
        if given:
            raise InvalidInputError("an item says its target, old text and rationale itself")
        item = proposal_item(read_item(text, file))
    else:
        item = proposal_item({**given, "edit": text or ""})
    try:
        done = propose_for(context.store, context.project, item, name)
    except StoreUnavailableError as error:
        raise in_a_sandbox(error, context.environment) from None
    return Answer(proposed_data(done), proposed_text(done), tuple(f"cam: {w}" for w in done.warnings))
