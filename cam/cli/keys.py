"""Who writes, and the item that an agent hands in: from a word, a file or stdin. Light: nothing of Typer."""

import os
import sys

from cam.core.errors import InvalidInputError, StoreUnavailableError, WriteRefusedError
from cam.core.items import MAX_PAYLOAD, authorise, read_payload
from cam.system.environment import Environment

_MCP = "it calls the MCP tools remember and propose (cam mcp serve --allow-write)"


def who_writes(environment: Environment, actor: str | None, *, allow_write: bool) -> str:
    """An agent's name, "" for a person.

    Raises:
        WriteRefusedError: one of the two keys is missing; or an agent runs this and gives neither.
        InvalidInputError: there is no such agent.
    """
    if actor is not None or allow_write:
        return authorise(actor, allow_write)
    shown = environment.agent_variable
    if shown:
        raise WriteRefusedError(
            f"an agent runs this ({shown} is set): it gives --actor NAME and --allow-write, or {_MCP}"
        )
    return ""


def read_item(text: str | None, file: str | None) -> object:
    """The one item of a command: its word if that is JSON, a file, or stdin.

    Raises:
        InvalidInputError: none or several, too much, or no JSON.
    """
    if (text is None) is (file is None):
        raise InvalidInputError("give one item: TEXT, or --file FILE")
    if file is None:
        assert text is not None
        return read_payload(text)
    if file == "-":
        data = sys.stdin.buffer.read(MAX_PAYLOAD + 1)
    else:
        if not os.path.isfile(file):
            raise InvalidInputError(f"there is no file {file}")
        with open(file, "rb") as opened:
            data = opened.read(MAX_PAYLOAD + 1)
    if len(data) > MAX_PAYLOAD:
        raise InvalidInputError(f"an item has {MAX_PAYLOAD >> 10} KiB at most")
    try:
        return read_payload(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise InvalidInputError("the item is not UTF-8") from None


def is_item(text: str | None) -> bool:
    """Whether an agent's word is an item rather than a text: JSON of any kind that is no word in itself."""
    if text is None or not text.lstrip().startswith(("{", "[")):
        return False
    if text.lstrip().startswith("{"):
        return True
    try:
        read_payload(text)
    except InvalidInputError:
        return False  # "[docs] The API is at 8080" is a text
    return True


def in_a_sandbox(error: StoreUnavailableError, environment: Environment) -> StoreUnavailableError:
    """The same failure, with the way that is open where an agent's sandbox keeps its shell out."""
    if not environment.agent_variable:
        return error
    return StoreUnavailableError(f"{error}; a sandbox keeps an agent's shell out; {_MCP} instead")
