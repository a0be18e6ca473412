"""Context: environment, project, settings and stores, built once per process and passed down."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.settings import Settings
from cam.store.identity import Project, resolve_project
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.settings import load_settings
from cam.system.environment import Environment, read_environment


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a command needs to know about where it runs.

    Attributes:
        environment: home, folder, variables.
        project: None in ``$HOME`` and ``/``.
        settings: with their sources and warnings.
        layout: where the store's files are.
        store: the memory.
    """

    environment: Environment
    project: Project | None
    settings: Settings
    layout: StoreLayout
    store: MarkdownStore

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
    try:
        environment = read_environment(cwd)
    except NotADirectoryError:
        raise InvalidInputError(f"--cwd: there is no folder {cwd}") from None
    except FileNotFoundError:
        raise NotFoundError("the current folder is gone; change into one that exists") from None
    project = resolve_project(environment.cwd, environment.home)
    settings = load_settings(environment, project, flags)
    root = environment.expand(memory_root or settings["memory_dir"])
    layout = StoreLayout(root, project.id if project else None, project.worktree if project else None)
    return Context(environment, project, settings, layout, MarkdownStore(layout))
