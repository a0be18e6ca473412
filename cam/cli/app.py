"""The Typer application; a command's module is imported only when that command is called."""

from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer

from cam.cli.answer import describe, emit
from cam.cli.entry import PASS_THROUGH, GlobalOptions
from cam.cli.predecessor import what_took_its_place
from cam.context import Context, open_context
from cam.render.answer import failure, to_json


@dataclass(frozen=True, slots=True)
class Entry:
    """One command of the top level.

    Attributes:
        module: has a Typer ``app`` (a group) or a function ``command``.
        help: one line for ``cam --help``.
        panel: heading it stands under.
    """

    module: str
    help: str
    panel: str


_SESSIONS, _MEMORY, _SETUP = "Sessions", "Memory", "Setup"

COMMANDS: dict[str, Entry] = {
    "run": Entry("session", "Start Codex with memory: cam run [CODEX ARGUMENTS]", _SESSIONS),
    "exec": Entry("session", 'One prompt: cam exec "…" [CODEX ARGUMENTS]', _SESSIONS),
    "resume": Entry("session", "Resume a session: cam resume [CODEX ARGUMENTS]", _SESSIONS),
    "fork": Entry("session", "Fork a session: cam fork [CODEX ARGUMENTS]", _SESSIONS),
    "sync": Entry("sync", "Learn from sessions that were not read yet.", _SESSIONS),
    "import": Entry("import_", "Learn from the sessions of the time before cam: import codex.", _SESSIONS),
    "session": Entry(
        "session_continuity",
        "Where the last session stopped: status, save, load, refresh, clear, open.",
        _SESSIONS,
    ),
    "off": Entry("switch", "Switch cam off for this project.", _SESSIONS),
    "on": Entry("switch", "Switch cam on again for this project.", _SESSIONS),
    "memory": Entry("memory", "What is remembered: overview, list, show, edit, move, merge, diff …", _MEMORY),
    "remember": Entry("remember", "Remember a fact.", _MEMORY),
    "forget": Entry("forget", "Archive or delete what is remembered.", _MEMORY),
    "undo": Entry("undo", "Take back the last change of memory.", _MEMORY),
    "log": Entry("log", "What each session taught, corrected and forgot, newest first.", _MEMORY),
    "why": Entry("why", "Who said it, when, and what it replaced.", _MEMORY),
    "review": Entry("review", "What sync left to you: list, accept, reject.", _MEMORY),
    "recall": Entry("recall", "Find memory again: search, timeline, details.", _MEMORY),
    "mcp": Entry("mcp", "Memory for agents over MCP: serve.", _SETUP),
    "project": Entry("project", "Projects of the store: list, show, move, merge, purge.", _SETUP),
    "store": Entry("store", "The store itself: verify, restore-ts.", _SETUP),
    "stats": Entry("stats", "What memory cost and gave: tokens, receipts, what you repeated.", _MEMORY),
    "gc": Entry("gc", "Clear what is old: history, audit, archive, leftovers.", _SETUP),
    "init": Entry("init", "Create the settings file and the store.", _SETUP),
    "config": Entry("config", "Settings: list, get, set, edit.", _SETUP),
    "doctor": Entry("doctor", "Check that memory reaches Codex, and what is wrong.", _SETUP),
    "audit": Entry("audit", "Look for secrets and personal paths in store and repository.", _SETUP),
    "help": Entry("help", "Help on a command: cam help run", _SETUP),
}

_GROUPS = ("import", "mcp", "memory", "recall", "config", "project", "session", "store", "review")

_given = GlobalOptions()


def global_cwd(cwd: str | None) -> str | None:
    """``--cwd`` of the command, or the one given before the verb."""
    return cwd if cwd is not None else _given.cwd


def enter_context(cwd: str | None) -> Context:
    """The context of a command; settings that could not be taken are said at once, a line each.

    Raises:
        InvalidInputError: ``cwd`` is no folder.
        NotFoundError: the current folder is gone.
    """
    context = open_context(global_cwd(cwd))
    emit("", tuple(f"cam: {warning}" for warning in context.settings.warnings))
    return context


def run_app(arguments: list[str], options: GlobalOptions) -> int:
    """Run a Typer command.

    Args:
        arguments: the verb and what follows it.
        options: given before the verb.

    Returns:
        The exit code; usage errors are 4.
    """
    global _given  # noqa: PLW0603 - one process runs one command; Typer has no other way to pass a value down
    _given = options
    name = next((word for word in arguments if not word.startswith("-")), None)
    try:
        app = build_app(name)
        code: Any = app(arguments or ["--help"], standalone_mode=False, prog_name="cam")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if type(error).__name__ == "Abort":
            return 130
        word, message, exit_code = describe(error)
        instead = what_took_its_place(arguments)
        message = instead or message
        if "--json" in arguments:
            emit(to_json(failure(_dotted(arguments), word, message)))
        else:
            page = " ".join(["cam", *(_words(arguments) if name in COMMANDS else ()), "--help"])
            emit("", (f"cam: {message}" if instead else f"cam: {message} (see '{page}')",))
        return exit_code
    return code if isinstance(code, int) else 0


def build_app(name: str | None) -> typer.Typer:
    """The application with the command ``name`` loaded, and the others by their one line of help."""
    app = typer.Typer(
        name="cam",
        help="Memory for the Codex CLI: what you said once, Codex knows in the next session.",
        epilog="cam's own options stand before the verb. Exit codes and more: docs/cli.md.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_root)
    for command, entry in COMMANDS.items():
        if command != name or command in PASS_THROUGH:  # an option cam does not know stood before the verb
            app.command(command, help=entry.help, rich_help_panel=entry.panel)(_stub)
            continue
        module = import_module(f"cam.cli.{entry.module}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=command, help=entry.help, rich_help_panel=entry.panel)
        else:
            function = getattr(module, f"{command}_command")
            app.command(command, rich_help_panel=entry.panel)(function)
    return app


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    cwd: Annotated[str | None, typer.Option("--cwd", metavar="DIR", help="Work in DIR.")] = None,
    no_inject: Annotated[bool, typer.Option("--no-inject", help="Codex is told nothing.")] = False,
    no_sync: Annotated[
        bool, typer.Option("--no-sync", help="Nothing is learned now; a later run or sync does.")
    ] = False,
) -> None:
    # These are taken off the line before Typer sees it; they stand here for the help page.
    del version, cwd, no_inject, no_sync


def _stub() -> None:
    """Never called: only the command that was named is, and that one is loaded."""


def _dotted(arguments: list[str]) -> str:
    return ".".join(_words(arguments))


def _words(arguments: list[str]) -> list[str]:
    """The command's own words: the verb, and for a group the command in it."""
    if not arguments or arguments[0].startswith("-"):
        return []
    if arguments[0] not in _GROUPS or len(arguments) < 2 or arguments[1].startswith("-"):
        return arguments[:1]
    return arguments[:2]
