"""cam init: the settings file and the store's folders; nothing that is there is touched."""

import os
from dataclasses import dataclass

from cam.setup.settings import ensure_settings, settings_path
from cam.store.identity import Project
from cam.store.layout import StoreLayout
from cam.system.environment import Environment
from cam.system.files import make_folder


@dataclass(frozen=True, slots=True)
class Step:
    """One path, and whether it was made now."""

    path: str
    done: bool


def initialise(
    environment: Environment, project: Project | None, layout: StoreLayout, *, with_project: bool
) -> tuple[Step, ...]:
    """Create what is missing.

    Args:
        environment: where the user's file is.
        project: for the repository's file.
        layout: the store.
        with_project: also the file that the repository shares.

    Raises:
        CamError: something cannot be created.
    """
    steps = [Step(path := settings_path(environment, project, "user"), ensure_settings(path, "user"))]
    if with_project:
        shared = settings_path(environment, project, "project")
        steps.append(Step(shared, ensure_settings(shared, "project")))
    for folder in (layout.root, *(layout.scope_folder(scope) for scope in layout.scopes)):
        missing = not os.path.isdir(folder)
        make_folder(folder)
        steps.append(Step(folder, missing))
    return tuple(steps)
