"""Compile what a session is to be told by a recipe: records and notes are read, all else is in it.

The recipe is plain data: ``root``, ``project`` and ``worktree`` of the layout; ``settings``, those that a
start looks at; ``continuity``, where the last session stopped; ``budget``, where what a compaction loses is
to come back. Light beside a context, which looks for all of this.
"""

from typing import Any

from cam.startup.flow import startup_payload, told_data
from cam.startup.result import StartupPayload
from cam.store.hook_notes import log_line
from cam.store.layout import StoreLayout

SETTINGS = ("max_startup_lines", "max_startup_tokens", "max_session_continuity_lines")


def compile_recipe(recipe: dict[str, Any], *, keep: bool = False) -> tuple[dict[str, Any], StartupPayload]:
    """What a session is to be told, as plain data and as it was compiled.

    Args:
        recipe: see above.
        keep: whether the index of records is kept where it was brought up to date; else another does so.

    Returns:
        The data: ``cache``, ``project``, ``run`` (``startup.handoff``) and ``said``, the records' texts by
        key.

    Raises:
        CamError: memory cannot be read.
    """
    layout = StoreLayout(recipe["root"], recipe["project"], recipe["worktree"])
    payload, problems = startup_payload(layout, recipe["settings"], recipe["continuity"], keep=keep)
    if problems:
        log_line(layout.cache_file(), f"session-start: {problems[0]} ({len(problems)} in all)")
    run = told_data(payload) | {"budget": recipe["budget"]}
    said = {e.key: e.said for e in payload.entries}
    return {"cache": layout.cache_file(), "project": layout.project or "", "run": run, "said": said}, payload
