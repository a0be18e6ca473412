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
from cam.startup.flow import hints_file, run_data, startup_payload
from cam.startup.ready import SECONDS, ready_root, stamps_of, write_ready
from cam.store.hook_notes import log_line
from cam.store.settings import LOCAL_FILE, SHARED_FILE
from cam.store.start_index import StartIndex
from cam.system.files import walk_files

_ROOMS = ("core", "formats", "store", "startup", "continuity")
"""Where the rules are by which a start is compiled; another cam compiles anew."""


def compile_start(cwd: str) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """What a session in ``cwd`` is to be told, as plain data, and the keys of all records that hold.

    Returns:
        None where cam is off. The data: ``cache``, ``project``, ``run`` (``startup.handoff``) and ``said``,
        the records' texts by key.

    Raises:
        CamError: memory cannot be read.
    """
    context = open_context(cwd)
    return None if context.off_reason else _compile(context)


def make_ready(cwd: str) -> bool:
    """Keep the start of the next session in ``cwd`` ready, where it can be known what it depends on.

    Returns:
        Whether it can.

    Raises:
        CamError: memory cannot be read, or nothing can be written.
    """
    context = open_context(cwd)
    root = context.project.root if context.project is not None else ""
    local = os.path.join(root, LOCAL_FILE)
    asks_git = root and any(os.path.lexists(p) for p in (local, local.removesuffix(".yaml") + ".json"))
    if context.off_reason or context.layout.root != ready_root() or asks_git:
        return False  # whether git tracks the local file is no stamp's business
    stamps = stamps_of(_watched(context))
    start, active = _compile(context)
    until = min(time.time() + SECONDS, _next_bound(context))
    write_ready(cwd, start, active, stamps, context.layout.journal_folder, until)
    return True


def _compile(context: Context) -> tuple[dict[str, Any], tuple[str, ...]]:
    settings, layout = context.settings, context.layout
    lines = start_lines(context, context.project, settings)
    payload, problems = startup_payload(layout, settings, lines)
    if problems:
        log_line(layout.cache_file(), f"session-start: {problems[0]} ({len(problems)} in all)")
    run = run_data(payload)
    active = tuple(run.pop("active"))
    limits = [settings["max_startup_lines"], settings["max_startup_tokens"]]
    run["budget"] = limits if settings["session_continuity"] == AUTO else None
    said = {e.key: e.said for e in payload.entries}
    return {"cache": layout.cache_file(), "project": layout.project or "", "run": run, "said": said}, active


def _next_bound(context: Context) -> float:
    """The day on which a record begins or ceases to hold next, seconds since the epoch."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    bounds = (day for c in StartIndex(context.layout).candidates for day in (c.valid_from, c.valid_until))
    days = [day[:10] for day in bounds if day >= today]
    return timegm(time.strptime(min(days), "%Y-%m-%d")) if days else float("inf")


def _watched(context: Context) -> Iterator[str]:
    """Every file that decides what is told, those included that are not there."""
    environment, layout, project = context.environment, context.layout, context.project
    yield environment.settings_file
    yield environment.settings_file.removesuffix(".yaml") + ".json"
    yield hints_file(layout)
    for scope in layout.scopes:
        folder = layout.topics_folder(scope, MemoryState.ACTIVE)
        yield folder
        if os.path.isdir(folder):
            yield from (os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".md"))
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
