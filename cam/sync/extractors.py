"""The one place that chooses what decides which words are durable."""

from cam.core.seams import MemoryExtractor
from cam.core.settings import Settings
from cam.sync.heuristic import HeuristicExtractor
from cam.system.environment import Environment


def choose_extractor(settings: Settings, environment: Environment) -> MemoryExtractor:
    """The extractor that the settings ask for.

    A Codex that cannot be found is no error: its extractor says so with every session and falls back.
    """
    if settings["extractor"] != "codex":
        return HeuristicExtractor()
    from cam.sync.codex_extractor import CodexExtractor  # noqa: PLC0415 - processes are seldom needed here
    from cam.system.codex_exec import asking_for  # noqa: PLC0415

    return CodexExtractor(asking_for(settings, environment))
