"""cam off and cam on."""

import os

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.errors import InvalidInputError
from cam.system.files import remove_file, write_atomic


def off_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Switch cam off for this project: Codex is told nothing and nothing is read until it is on again."""
    respond("off", as_json, Access.WRITES, lambda: _switch(is_on=False, cwd=cwd))


def on_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Switch cam on again for this project."""
    respond("on", as_json, Access.WRITES, lambda: _switch(is_on=True, cwd=cwd))


def _switch(*, is_on: bool, cwd: str | None) -> Answer:
    context = enter_context(cwd)
    if context.project is None:
        raise InvalidInputError(
            "there is no project here (the home folder and / have none); go into a project's folder, or "
            f"'cam config set enabled {str(is_on).lower()}' for all of them"
        )
    path = context.layout.off_file
    was_on = not os.path.exists(path)
    if is_on:
        remove_file(path)
    else:
        write_atomic(path, b"cam is off for this project; 'cam on' takes this file away\n")
    root = context.project.root
    state = "on" if is_on else "off"
    text = f"cam is {state} for {root}." if was_on != is_on else f"cam was {state} for {root} already."
    return Answer({"project": root, "on": is_on, "changed": was_on != is_on}, text)
