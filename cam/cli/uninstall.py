"""cam uninstall."""

import sys
from typing import Annotated

import typer

from cam.cli.answer import Answer, emit, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.integrate import DryRun
from cam.cli.options import Cwd, Json, Yes
from cam.core.errors import WriteRefusedError
from cam.render.integrations import plan_data, plan_lines
from cam.setup.integrations.uninstall import remove_store, uninstall
from cam.store.layout import StoreLayout


def uninstall_command(
    delete_memory: Annotated[
        bool, typer.Option("--delete-memory", help="Delete the store too; asked twice, it cannot be undone.")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take out all that cam put into Codex, in every place that it knows; the memory stays."""

    def work() -> Answer:
        context = enter_context(cwd)
        layout = context.layout
        if delete_memory and not dry_run:
            _ask_twice(layout, given=yes)
        plans = uninstall(context.environment, context.project, layout.root, dry_run=dry_run)
        lines = dict.fromkeys(line for plan in plans for line in plan_lines(plan, dry_run=dry_run))
        told = list(lines) or ["Nothing of cam is installed anywhere."]
        text = "\n".join([*told, "Nothing was written (--dry-run)."] if dry_run else told)
        data = {
            "dry_run": dry_run,
            "removed": [plan_data(plan, dry_run=dry_run) for plan in plans],
            "store": layout.root,
            "store_deleted": delete_memory and not dry_run,
        }
        if delete_memory and not dry_run:
            remove_store(layout.root)
            kept = f"The memory in {layout.root} is deleted."
        else:
            kept = f"The memory stays in {layout.root}."
        note = "cam: the program goes with the installer that brought it (pip uninstall codex-auto-memory)"
        return Answer(data, f"{text}\n{kept}", (note,))

    respond("uninstall", as_json, writes_unless(dry_run), work)


def _ask_twice(layout: StoreLayout, *, given: bool) -> None:
    """The person's yes, twice; ``--yes`` is the first, the folder's name always has to be typed.

    Raises:
        WriteRefusedError: there is nobody to ask, or the answer is no.
    """
    if not sys.stdin.isatty():
        raise WriteRefusedError(
            "deleting the memory needs a terminal: somebody has to be asked twice; nothing was done"
        )
    if not given and not typer.confirm(f"Delete all memory in {layout.root}?", default=False, err=True):
        raise WriteRefusedError("nothing was done")
    emit("", ("cam: this cannot be undone",))
    if (
        typer.prompt("Type the folder's path to go on", err=True, default="", show_default=False)
        != layout.root
    ):
        raise WriteRefusedError("that is not the folder's path; nothing was done")
