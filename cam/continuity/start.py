"""What a session is told at its start, read from disk. Light: it runs before Codex starts."""

from cam.continuity.brief import brief
from cam.core.errors import InvalidInputError
from cam.core.settings import Settings
from cam.store.continuity import ContinuityStore, StoreWithLock
from cam.store.identity import Project

AUTO, MANUAL, OFF = "auto", "manual", "off"


def open_continuity(store: StoreWithLock, project: Project | None, settings: Settings) -> ContinuityStore:
    """The project's layers.

    Raises:
        InvalidInputError: there is no project here.
    """
    if project is None:
        raise InvalidInputError(
            "there is no project here (the home folder and / have none), so there is no session to continue; "
            "go into a project's folder"
        )
    return ContinuityStore(store, project, settings["session_continuity_path_style"])


def start_lines(store: StoreWithLock, project: Project | None, settings: Settings) -> tuple[str, ...]:
    """What a session is told at its start; nothing where that is not wanted or not known."""
    if project is None or settings["session_continuity"] != AUTO:
        return ()
    return brief(open_continuity(store, project, settings).read())
