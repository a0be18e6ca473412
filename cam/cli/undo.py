"""cam undo."""

from typing import Annotated

import typer

from cam.cli.answer import Answer, respond
from cam.cli.app import global_cwd
from cam.cli.options import Cwd, Json
from cam.context import open_context
from cam.memory.flow import undo
from cam.render.records import printable


def undo_command(
    steps: Annotated[int, typer.Argument(metavar="[N]", min=1, help="How many changes to take back.")] = 1,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take back the last change of memory (a sync, a remember, a forget); again for the one before."""
    respond("undo", as_json, lambda: _undo(steps, cwd))


def _undo(steps: int, cwd: str | None) -> Answer:
    done = undo(open_context(global_cwd(cwd)).store, steps)
    lines, notes = [], []
    for step in done:
        for change in step.changes:
            record = change.after or change.before
            assert record is not None
            sign = "-" if change.after is None else "+"
            lines.append(f"{sign} {printable(record.summary)}\n    {record.ref}")
        notes += [f"cam: {ref} was changed since and stays as it is" for ref in step.kept]
    data = {
        "steps": [
            {"undoes": s.undoes, "refs": [str(c.ref) for c in s.changes], "kept": list(s.kept)} for s in done
        ]
    }
    return Answer(data, "\n".join(["Taken back:", *lines]), tuple(notes))
