"""cam stats."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.context import Context
from cam.render.stats import stats_data, stats_text
from cam.startup.flow import memory_stats, rebuild_receipts


def stats_command(
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="First read again every session of this project without a receipt."),
    ] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """What memory cost and gave here: sessions told, tokens, rules you repeated, records never used."""
    respond("stats", as_json, Access.READS, lambda: _stats(rebuild, cwd))


def _stats(rebuild: bool, cwd: str | None) -> Answer:
    context = enter_context(cwd)
    notes = (f"cam: receipts made from rollouts: {_rebuild(context)}",) if rebuild else ()
    stats = memory_stats(context.layout)
    return Answer(stats_data(stats), stats_text(stats), notes)


def _rebuild(context: Context) -> int:
    import os

    from cam.store.identity import resolve_project

    sessions = context.sessions()
    home = context.environment.home

    def owns(folder: str) -> bool:
        project = resolve_project(folder, home) if os.path.isdir(folder) else None
        return project is not None and context.project is not None and project.id == context.project.id

    return rebuild_receipts(context.layout, sessions, owns)
