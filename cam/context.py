"""Context: environment, project, settings and stores, built once per process and passed down."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cam.core.settings import Settings
from cam.store.identity import Project
from cam.store.layout import StoreLayout
from cam.store.locate import enter, locate
from cam.system.environment import Environment

if TYPE_CHECKING:
    from cam.store.memory_store import MarkdownStore
    from cam.store.sessions import CodexSessions


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a command needs to know about where it runs.

    Attributes:
        environment: home, folder, variables.
        project: None in ``$HOME`` and ``/``.
        settings: with their sources and warnings.
        layout: where the store's files are.
    """

    environment: Environment
    project: Project | None
    settings: Settings
    layout: StoreLayout

    @property
    def store(self) -> "MarkdownStore":
        """The memory."""
        from cam.store.memory_store import MarkdownStore  # noqa: PLC0415 - Codex must not wait for this import

        return MarkdownStore(self.layout)

    def sessions(self) -> "CodexSessions":
        """Codex's sessions, found anew, with the index of their headers."""
        from cam.store.sessions import CodexSessions  # noqa: PLC0415 - Codex must not wait for this import

        return CodexSessions(self.codex_home, self.layout.cache_file("sessions.json"))

    def locked(self) -> AbstractContextManager[None]:
        """Hold the store's lock."""
        return self.store.locked()

    @property
    def codex_home(self) -> str:
        """Codex's own folder."""
        return self.environment.codex_home

    @property
    def off_reason(self) -> str:
        """Why cam does nothing here, "" if it does."""
        if self.environment.is_off:
            return "CAM_OFF is set"
        if not self.settings["enabled"]:
            return f"enabled is false ({self.settings.sources['enabled']})"
        here = os.path.realpath(self.environment.cwd)
        for folder in self.settings["off_folders"]:
            real = os.path.realpath(self.environment.expand(folder))
            if here == real or here.startswith(real.rstrip("/") + "/"):
                return f"{folder} is in off_folders"
        if self.project is not None and os.path.exists(self.layout.off_file):
            return "cam is off for this project (cam on)"
        return ""


def open_context(
    cwd: str | None = None, *, memory_root: str | None = None, flags: Mapping[str, str] | None = None
) -> Context:
    """Read the machine and find project, settings and store.

    Args:
        cwd: folder to work in, None for the current one.
        memory_root: the store's folder, stronger than settings and variables; empty means unset.
        flags: settings given on the command line.

    Raises:
        InvalidInputError: ``cwd`` is no folder.
        NotFoundError: the current folder is gone.
    """
    environment = enter(cwd)
    project, settings, layout = locate(environment, memory_root=memory_root, flags=flags)
    return Context(environment, project, settings, layout)
