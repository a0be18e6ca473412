"""cam help [COMMAND]."""

from typing import Annotated

import typer

from cam.cli.answer import emit
from cam.cli.entry import PASS_THROUGH, GlobalOptions
from cam.core.errors import NotFoundError

SESSION_PAGE = """\
Usage: cam [--cwd DIR] [--no-inject] [--no-sync] {verb} [CODEX ARGUMENTS]

{what}

Everything behind the verb goes to Codex untouched, --help, --json, -c and -- included. cam's own
options stand before the verb:

  --cwd DIR     work in DIR
  --no-inject   Codex is told nothing
  --no-sync     nothing is learned now; a later run or sync reads the session

Before Codex starts, what is remembered is put in front of the model. When it has ended, the session is
read, what is durable in your own words is kept, and one short report says so on stderr. The exit code is
Codex's own. CAM_OFF=1, 'cam off' and the setting off_folders switch all of it off.
"""

_WHAT = {
    "run": "Start Codex in the terminal with memory.",
    "exec": 'Run one prompt without the terminal UI: cam exec "run the tests".',
    "resume": "Resume a session; it is told what changed since it was last told.",
    "fork": "Fork a session; the fork is told what its parent lacked.",
}


def help_command(
    command: Annotated[list[str] | None, typer.Argument(metavar="[COMMAND]", help="Which command.")] = None,
) -> None:
    """Help on cam, or on one command."""
    from cam.cli.app import COMMANDS, run_app
    from cam.cli.recall import run_recall

    words = command or []
    if words and words[0] in PASS_THROUGH:
        emit(SESSION_PAGE.format(verb=words[0], what=_WHAT[words[0]]).rstrip("\n"))
        return
    if words and words[0] == "recall":
        run_recall([*words[1:], "--help"], GlobalOptions())
    if words and words[0] not in COMMANDS:
        raise NotFoundError(f"there is no command {words[0]!r}")
    raise typer.Exit(run_app([*words, "--help"], GlobalOptions()))
