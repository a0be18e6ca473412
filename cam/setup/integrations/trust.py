"""Does Codex itself trust cam's hooks? Asked of Codex, never guessed."""

import os
from collections.abc import Mapping
from typing import Any

from cam.formats.codex_hooks import our_hooks
from cam.setup.integrations.result import Places
from cam.system.files import read_bytes
from cam.system.json_rpc import ask_app_server


def doubts(program: str, cwd: str, places: Places) -> tuple[str, ...] | None:
    """Events whose hook Codex would not run.

    Args:
        program: Codex's path.
        cwd: folder to ask in.
        places: whose hooks file.

    Returns:
        Empty where all are trusted; None where this release does not say.

    Raises:
        CamError: the hooks file cannot be read.
    """
    (answer,) = ask_app_server(program, [("hooks/list", {"cwds": [cwd]})], cwd)
    listed = listed_hooks(answer)
    if listed is None:
        return None
    text = (read_bytes(os.path.realpath(places.hooks)) or b"{}").decode("utf-8", "replace")
    path = os.path.realpath(places.hooks)
    return tuple(
        hook.event for hook in our_hooks(text, places.hooks) if not is_trusted(listed.get(hook.key(path), {}))
    )


def listed_hooks(answer: Any) -> dict[str, Mapping[str, Any]] | None:
    """The hooks of a ``hooks/list`` answer by key; None where it is none."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        return None
    return {str(h.get("key")): h for entry in data for h in entry.get("hooks", []) if isinstance(h, dict)}


def is_trusted(hook: Mapping[str, Any]) -> bool:
    """Whether Codex would run it."""
    return hook.get("trustStatus") in ("trusted", "managed") and bool(hook.get("enabled", True))
