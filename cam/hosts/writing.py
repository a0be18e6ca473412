"""How hosts other than the command line come in: the project's memory, and an agent's writes to it."""

from collections.abc import Mapping
from typing import Any

from cam.context import Context, open_context
from cam.core.errors import NotFoundError
from cam.core.items import authorise, memory_item, proposal_item
from cam.core.records import parse_scope
from cam.memory.result import Proposed, Remembered


def enter(folder: str | None, memory_root: str | None = None) -> Context:
    """The memory of the project that ``folder`` belongs to.

    Raises:
        NotFoundError: cam is switched off there.
        CamError: it is no folder.
    """
    context = open_context(folder, memory_root=memory_root)
    if context.off_reason:
        raise NotFoundError(f"there is no memory here: {context.off_reason}")
    return context


def remember_item(
    context: Context, data: Mapping[str, Any], actor: object, allow_write: object
) -> Remembered:
    """Keep an agent's item (``cam.core.items``), under both keys.

    Raises:
        CamError: a key is missing, the item is not of the schema, or it may not be written.
    """
    name = authorise(actor, allow_write)
    item = memory_item(data)
    from cam.memory.agents import remember_for  # noqa: PLC0415 - reading needs none of it

    return remember_for(context.store, item, name, parse_scope(context.settings["default_scope"]))


def propose_item(context: Context, data: Mapping[str, Any], actor: object, allow_write: object) -> Proposed:
    """Leave an agent's change to an instruction file to the person, under both keys.

    Raises:
        CamError: a key is missing, the item is not of the schema, or it may not be proposed.
    """
    name = authorise(actor, allow_write)
    item = proposal_item(data)
    from cam.memory.agents import propose_for  # noqa: PLC0415

    return propose_for(context.store, context.project, item, name)
