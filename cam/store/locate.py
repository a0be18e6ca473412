"""Where this process's store is, and whose: settings, project and layout, without what reads or writes."""

from collections.abc import Mapping

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.settings import Settings
from cam.store.identity import Project, resolve_project
from cam.store.layout import StoreLayout
from cam.store.settings import load_settings
from cam.system.environment import Environment, read_environment


def enter(cwd: str | None) -> Environment:
    """The environment of this process in ``cwd``, None for the current folder.

    Raises:
        InvalidInputError: ``cwd`` is no folder.
        NotFoundError: the current folder is gone.
    """
    try:
        return read_environment(cwd)
    except NotADirectoryError:
        raise InvalidInputError(f"--cwd: there is no folder {cwd}") from None
    except FileNotFoundError:
        raise NotFoundError("the current folder is gone; change into one that exists") from None


def locate(
    environment: Environment, *, memory_root: str | None = None, flags: Mapping[str, str] | None = None
) -> tuple[Project | None, Settings, StoreLayout]:
    """Project, settings and layout.

    Args:
        environment: of this process.
        memory_root: the store's folder, stronger than settings and variables; empty means unset.
        flags: settings given on the command line.
    """
    project = resolve_project(environment.cwd, environment.home)
    settings = load_settings(environment, project, flags)
    root = environment.expand(memory_root or settings["memory_dir"])
    layout = StoreLayout(root, project.id if project else None, project.worktree if project else None)
    return project, settings, layout
