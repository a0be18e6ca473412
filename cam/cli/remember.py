"""cam remember, for agents and for whatever is no plain line."""

from typing import Annotated, Any

import typer

from cam.cli.agent_options import Actor, AllowWrite, ItemFile
from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.keys import in_a_sandbox, is_item, read_item, who_writes
from cam.cli.options import Cwd, Json, Scope
from cam.cli.plain_remember import remember_answer, remembered_answer
from cam.context import Context
from cam.core.errors import InvalidInputError, StoreUnavailableError
from cam.core.items import MemoryItem, authorise, memory_item
from cam.core.records import parse_scope


def remember_command(
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The fact, in your own words.", show_default=False)
    ] = None,
    scope: Scope = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="Found from the words if not given.")
    ] = None,
    detail: Annotated[
        list[str] | None, typer.Option("--detail", metavar="LINE", help="A further line; may be repeated.")
    ] = None,
    file: ItemFile = None,
    actor: Actor = None,
    allow_write: AllowWrite = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Remember a fact, verbatim.

    An agent gives --actor and --allow-write; its TEXT may be an item in JSON. It may add and repeat, but what
    contradicts a person's word waits in 'cam review'.
    """
    details = detail or []

    def work() -> Answer:
        context = enter_context(cwd)
        name = who_writes(context.environment, actor, allow_write=allow_write)
        if file is not None:
            name = name or authorise(actor, allow_write)  # an item is an agent's
        if name:
            return _remember_for(name, context, _item(text, file, scope, topic, details))
        if text is None:
            raise InvalidInputError("say what to remember: cam remember TEXT")
        return remember_answer(context, text, scope, topic, details)

    respond("remember", as_json, Access.WITH_KEYS, work)


def _item(
    text: str | None, file: str | None, scope: str | None, topic: str | None, details: list[str]
) -> MemoryItem:
    options: dict[str, Any] = {"scope": scope, "topic": topic}
    given = {key: value for key, value in options.items() if value is not None}
    if file is None and not is_item(text):
        return memory_item({**given, "content": "\n".join((text or "", *details))})
    if given or details:
        raise InvalidInputError("an item says its scope, topic and details itself")
    return memory_item(read_item(text, file))


def _remember_for(name: str, context: Context, item: MemoryItem) -> Answer:
    from cam.memory.agents import remember_for

    scope = parse_scope(context.settings["default_scope"])
    try:
        return remembered_answer(remember_for(context.store, item, name, scope))
    except StoreUnavailableError as error:
        raise in_a_sandbox(error, context.environment) from None
