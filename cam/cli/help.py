"""cam help [COMMAND|TOPIC]."""

import os
import sys
from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, columns, emit, respond
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
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND|TOPIC]", help="Which command, or what to read about."),
    ] = None,
) -> None:
    """Help on cam, on a command, or on a topic: without a word it names them all."""
    from cam.cli.app import COMMANDS, overview, run_app
    from cam.cli.recall import run_recall

    words = words or []
    if not words:
        emit(f"{overview()}\n\nTopics: {', '.join(topics())}")
        return
    if words[0] in PASS_THROUGH:
        emit(SESSION_PAGE.format(verb=words[0], what=_WHAT[words[0]]).rstrip("\n"))
        return
    if words[0] == "recall":
        run_recall([*words[1:], "--help"], GlobalOptions())
    if words[0] in COMMANDS:
        raise typer.Exit(run_app([*words, "--help"], GlobalOptions()))
    if words[0] in topics():
        respond("help", as_json=False, access=Access.READS, work=lambda: _page(words[0]))
    raise NotFoundError(f"there is no command or topic {words[0]!r}; 'cam help' names them all")


def topics() -> list[str]:
    """Pages of the documentation, by name."""
    return sorted(name.removesuffix(".md") for name in os.listdir(_folder()) if name.endswith(".md"))


def _page(topic: str) -> Answer:
    from cam.render.page import page_text

    with open(os.path.join(_folder(), f"{topic}.md"), encoding="utf-8") as file:
        page = file.read()
    is_seen = sys.stdout is not None and sys.stdout.isatty()
    text = page_text(page, columns() if is_seen else 80)
    return Answer({"topic": topic, "text": text}, text, verbatim=True)


def _folder() -> str:
    """Where the documentation is: in the package, or beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "docs")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "docs")
