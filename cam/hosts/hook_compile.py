"""Compile what a session in a folder is to be told, and keep it ready for the next one."""

import os
import time
from calendar import timegm
from collections.abc import Iterator
from typing import Any

import cam
from cam.context import Context, open_context
from cam.continuity.start import AUTO, open_continuity, start_lines
from cam.core.records import MemoryState
from cam.hosts.hook_recipe import SETTINGS, compile_recipe
from cam.startup.flow import hints_file
from cam.startup.ready import SECONDS, ready_root, stamps_of, write_ready
from cam.startup.result import StartupPayload
from cam.store.settings import LOCAL_FILE, SHARED_FILE
from cam.store.start_index import StartIndex
from cam.system.files import walk_files

_ROOMS = ("core", "formats", "store", "startup", "continuity", "hosts")
"""Where the rules are by which a start is compiled; another cam compiles anew."""


def compile_start(cwd: str) -> tuple[dict[str, Any], StartupPayload] | None:
    """What a session in ``cwd`` is to be told, as ``compile_recipe`` says it; None where cam is off.

    Raises:
        CamError: memory cannot be read.
    """
    context = open_context(cwd)
    if context.off_reason:
        return None
    return compile_recipe(_recipe(context), keep=not _can_stand(context))


def make_ready(cwd: str) -> bool:
    """Keep the start of the next session in ``cwd`` ready, where it can be known what it depends on.

    Returns:
        Whether it can.

    Raises:
        CamError: memory cannot be read, or nothing can be written.
    """
    context = open_context(cwd)
    if context.off_reason or not _can_stand(context):
        return False
    records = list(_records(context))
    stamps = stamps_of((*records, *_watched(context)))
    recipe = _recipe(context)
    start, payload = compile_recipe(recipe, keep=True)
    until = min(time.time() + SECONDS, _next_bound(context))
    of_records = len(dict.fromkeys(records))
    write_ready(
        cwd, start, recipe, payload.active, stamps[of_records:], stamps[:of_records],
        context.layout.journal_folder, until,
    )  # fmt: skip
    return True


def _can_stand(context: Context) -> bool:
    root = context.project.root if context.project is not None else ""
    local = os.path.join(root, LOCAL_FILE)
    # Whether git tracks the local file is no stamp's business.
    asks_git = root and any(os.path.lexists(p) for p in (local, local.removesuffix(".yaml") + ".json"))
    return context.layout.root == ready_root() and not asks_git


def _recipe(context: Context) -> dict[str, Any]:
    settings, layout = context.settings, context.layout
    limits = [settings["max_startup_lines"], settings["max_startup_tokens"]]
    return {
        "root": layout.root,
        "project": layout.project,
        "worktree": layout.worktree,
        "settings": {name: settings[name] for name in SETTINGS},
        "continuity": start_lines(context, context.project, settings),
        "budget": limits if settings["session_continuity"] == AUTO else None,
    }


def _next_bound(context: Context) -> float:
    """The day on which a record begins or ceases to hold next, seconds since the epoch."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    bounds = (day for c in StartIndex(context.layout).candidates for day in (c.valid_from, c.valid_until))
    days = [day[:10] for day in bounds if day >= today]
    return timegm(time.strptime(min(days), "%Y-%m-%d")) if days else float("inf")


def _records(context: Context) -> Iterator[str]:
    """Files and folders that hold records and notes, and what is known of their use."""
    layout = context.layout
    yield hints_file(layout)
    for scope in layout.scopes:
        folder = layout.topics_folder(scope, MemoryState.ACTIVE)
        yield folder
        if os.path.isdir(folder):
            yield from (os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".md"))


def _watched(context: Context) -> Iterator[str]:
    """Every other file that decides what is told, those included that are not there."""
    environment, layout, project = context.environment, context.layout, context.project
    for name in (environment.settings_file, environment.settings_file.removesuffix(".yaml") + ".json"):
        yield name
        yield os.path.realpath(name)  # it may be a link
    if project is not None:
        for name in (SHARED_FILE, LOCAL_FILE):
            yield os.path.join(project.root, name)
            yield os.path.join(project.root, name.removesuffix(".yaml") + ".json")
        yield layout.off_file
        layers = open_continuity(context, project, context.settings)
        yield from (layers.project_file, os.path.dirname(layers.project_file), layers.local_folder)
        yield from layers.local_files()
        yield from map(layers.note_file, ("project", "project-local"))
    here = os.path.realpath(environment.cwd)
    while here != os.path.dirname(here):  # a repository made here or above is another project
        yield os.path.join(here, ".git")
        here = os.path.dirname(here)
    rooms = os.path.dirname(os.path.abspath(cam.__file__))
    for room in _ROOMS:
        yield from (
            os.path.join(rooms, room, n) for n in walk_files(os.path.join(rooms, room)) if n.endswith(".py")
        )
