"""The one place that chooses what decides which words are durable."""

import os
from typing import TYPE_CHECKING

from cam.core.seams import MemoryExtractor
from cam.core.settings import Settings
from cam.sync.heuristic import HeuristicExtractor
from cam.system.environment import Environment

if TYPE_CHECKING:
    from cam.system.codex_exec import Asking


def choose_extractor(settings: Settings, environment: Environment) -> MemoryExtractor:
    """The extractor that the settings ask for.

    A Codex that cannot be found is no error: its extractor says so with every session and falls back.
    """
    if settings["extractor"] != "codex":
        return HeuristicExtractor()
    from cam.sync.codex_extractor import CodexExtractor  # noqa: PLC0415 - processes are seldom needed here

    return CodexExtractor(_asking(settings, environment))


def _asking(settings: Settings, environment: Environment) -> "Asking | str":
    from cam.system.codex import find_codex  # noqa: PLC0415
    from cam.system.codex_exec import Asking  # noqa: PLC0415

    name = settings["codex_binary"]
    name = environment.expand(name) if name.startswith("~") else name
    found = find_codex(name, environment.variables.get("PATH", os.defpath), environment.cwd)
    if found is None or not found.executable:
        return f"there is no Codex {name!r} that could be asked"
    # Hooks of cam that the user installed must not run inside cam's own question.
    variables = {**environment.variables, "CAM_OFF": "1"}
    return Asking(found.path, environment.codex_home, variables, float(settings["extractor_seconds"]))
