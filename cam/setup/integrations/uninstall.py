"""cam uninstall: the way back of everything that was ever put in, wherever it was."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from cam.setup.integrations.commit import forget_installation, read_manifest
from cam.setup.integrations.flow import carry_out, plan_remove
from cam.setup.integrations.places import find_places
from cam.setup.integrations.result import STACK, SURFACES, IntegrationPlan, Piece
from cam.store.identity import Project, resolve_project
from cam.system.environment import Environment
from cam.system.files import remove_folder, unlink_quietly


def uninstall(
    environment: Environment, project: Project | None, store: str, *, dry_run: bool
) -> tuple[IntegrationPlan, ...]:
    """Take out what is in the user's place and in each project that cam was put into.

    Args:
        environment: of this process.
        project: the one that is worked in, None in ``$HOME`` and ``/``.
        store: the store's folder.
        dry_run: plan, write nothing.

    Returns:
        What was done, one plan for each place; each was carried out whole.

    Raises:
        CamError: a file of the user's cannot be read as what it is, or may not be written.
    """
    pieces = (*STACK, Piece.GUIDANCE, Piece.BRIDGE)
    plans = []
    for scope, place, surface in list(_everywhere(environment, project, store)):
        wanted = pieces if surface == "runtime" else (Piece.SKILL,)
        plan = plan_remove(find_places(environment, place, store, scope, surface), store, wanted)
        if plan.changes:
            told = tuple(note for note in plan.notes if note.action != "absent")
            plans.append(replace(plan, notes=told))
        if not dry_run:
            carry_out(plan, store)
    if not dry_run:
        forget_installation(store)
        unlink_quietly(environment.settings_cache)
        with suppress(OSError):  # others may keep something there
            os.rmdir(os.path.dirname(environment.settings_cache))
    return tuple(plans)


def remove_store(store: str) -> None:
    """Delete the memory.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    remove_folder(store)


def _everywhere(
    environment: Environment, project: Project | None, store: str
) -> Iterator[tuple[str, Project | None, str]]:
    """Scopes, projects and surfaces; projects are known by the files that were written into them."""
    yield from (("user", None, surface) for surface in SURFACES[:2])
    roots: dict[str, Project] = {}
    for path in read_manifest(store):
        folder = os.path.dirname(path)
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        found = resolve_project(folder, environment.home)
        if found is not None:
            roots[found.root] = found
    if project is not None:
        roots[project.root] = project
    for found in roots.values():
        yield "project", found, "runtime"
        yield "project", found, "official-project"
