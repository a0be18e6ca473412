"""cam init."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.setup.init import initialise


def init_command(
    project: Annotated[
        bool, typer.Option("--project", help="Also the repository's shared file, for settings of a team.")
    ] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Create your settings file and the store; what is there already stays as it is."""

    def work() -> Answer:
        context = enter_context(cwd)
        steps = initialise(context.environment, context.project, context.layout, with_project=project)
        data = {"steps": [{"path": s.path, "done": s.done} for s in steps]}
        lines = [f"{'created' if s.done else 'there already'}  {s.path}" for s in steps]
        return Answer(data, "\n".join([*lines, 'Next: cam run, or cam exec "…"']))

    respond("init", as_json, Access.WRITES, work)
