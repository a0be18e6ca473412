"""All commands by one line each; a command's module, and Typer, are imported only when it is called."""

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from cam.cli.answer import describe, emit
from cam.cli.entry import GlobalOptions
from cam.cli.other_words import what_to_type
from cam.core.errors import InvalidInputError
from cam.render.answer import failure, to_json

if TYPE_CHECKING:
    from cam.context import Context


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
    "import": Entry("import_", "Learn from before cam: codex, agents-md, claude, native.", _SESSIONS),
    "session": Entry(
        "session_continuity",
        "Where the last session stopped: status, save, load, refresh, clear, open.",
        _SESSIONS,
    ),
    "off": Entry("switch", "Switch cam off for this project.", _SESSIONS),
    "on": Entry("switch", "Switch cam on again for this project.", _SESSIONS),
    "memory": Entry("memory", "What is remembered: overview, list, show, edit, move, merge, diff …", _MEMORY),
    "remember": Entry("remember", "Remember a fact.", _MEMORY),
    "propose": Entry("propose", "An agent proposes a change to an instruction file.", _MEMORY),
    "forget": Entry("forget", "Archive or delete what is remembered.", _MEMORY),
    "undo": Entry("undo", "Take back the last change of memory.", _MEMORY),
    "log": Entry("log", "What each session taught, corrected and forgot, newest first.", _MEMORY),
    "why": Entry("why", "Who said it, when, and what it replaced.", _MEMORY),
    "review": Entry("review", "What sync left to you: list, accept, reject.", _MEMORY),
    "recall": Entry("recall", "Find memory again: search, timeline, details, export …", _MEMORY),
    "integrations": Entry("integrations", "Memory in plain codex: install, apply, remove, doctor.", _SETUP),
    "hooks": Entry("hooks", "Codex's hooks alone: install, remove, status.", _SETUP),
    "skills": Entry("skills", "The skill alone: install, remove.", _SETUP),
    "mcp": Entry("mcp", "Memory for agents over MCP: serve, install, remove, doctor …", _SETUP),
    "uninstall": Entry(
        "uninstall", "Take cam out of everything; the memory stays unless you say so.", _SETUP
    ),
    "report": Entry("report", "What cam remembers, as one HTML page.", _MEMORY),
    "project": Entry("project", "Projects of the store: list, show, move, merge, purge.", _SETUP),
    "store": Entry("store", "The store itself: verify, git, restore-ts.", _SETUP),
    "stats": Entry("stats", "What memory cost and gave: tokens, receipts, what you repeated.", _MEMORY),
    "gc": Entry("gc", "Clear what is old: history, audit, archive, leftovers.", _SETUP),
    "init": Entry("init", "Create the settings file and the store.", _SETUP),
    "config": Entry("config", "Settings: list, get, set, edit.", _SETUP),
    "doctor": Entry("doctor", "Check that memory reaches Codex, and what is wrong.", _SETUP),
    "audit": Entry("audit", "Look for secrets and personal paths in store and repository.", _SETUP),
    "completion": Entry("completion", "Completion for bash, zsh or fish.", _SETUP),
    "help": Entry("help", "Help on a command: cam help run", _SETUP),
}

_GROUPS = (
    "import",
    "integrations",
    "hooks",
    "skills",
    "mcp",
    "memory",
    "recall",
    "config",
    "project",
    "session",
    "store",
    "review",
)

_WHAT = "Memory for the Codex CLI: what you said once, Codex knows in the next session."
_OPTIONS = """\
Options, before the command:
  --cwd DIR    work in DIR
  --no-inject  Codex is told nothing
  --no-sync    nothing is learned now; a later run or sync does
  --version    print the version

Every command has a page: cam COMMAND --help; cam help TOPIC explains more."""

_given = GlobalOptions()


def global_cwd(cwd: str | None) -> str | None:
    """``--cwd`` of the command, or the one given before the verb."""
    return cwd if cwd is not None else _given.cwd


def enter_context(cwd: str | None) -> "Context":
    """The context of a command; settings that could not be taken are said at once, a line each.

    Raises:
        InvalidInputError: ``cwd`` is no folder.
        NotFoundError: the current folder is gone.
    """
    from cam.context import open_context

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
    name = arguments[0] if arguments else "--help"
    if name in ("--help", "-h"):
        emit(overview())
        return 0
    try:
        if name not in COMMANDS:
            raise InvalidInputError(_unknown(name))
        from cam.cli.tree import build_app

        code: Any = build_app(name)(arguments, standalone_mode=False, prog_name="cam")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if type(error).__name__ == "Abort":
            return 130
        if type(error).__name__ == "NoArgsIsHelpError":  # a group's name alone asks for its page
            emit(str(error).rstrip("\n"))
            return 0
        word, message, exit_code = describe(error)
        is_unknown = name not in COMMANDS or message.startswith("No such command")
        instead = what_to_type(arguments, COMMANDS, is_unknown=is_unknown)
        if "--json" in takewhile(lambda word: word != "--", arguments):
            emit(to_json(failure(_dotted(arguments), word, instead or message)))
        else:
            emit("", (f"cam: {instead}" if instead else f"cam: {message} (see '{_page(arguments)}')",))
        return exit_code
    return code if isinstance(code, int) else 0


def overview() -> str:
    """The help of ``cam`` itself."""
    lines = [f"Usage: cam [OPTIONS] COMMAND …\n\n{_WHAT}"]
    width = max(map(len, COMMANDS)) + 2
    for panel in (_SESSIONS, _MEMORY, _SETUP):
        rows = [f"  {name:<{width}}{e.help}" for name, e in COMMANDS.items() if e.panel == panel]
        lines.append("\n".join([f"{panel}:", *rows]))
    return "\n\n".join([*lines, _OPTIONS])


def _unknown(name: str) -> str:
    if name.startswith("-"):
        return f"no option {name!r} stands before a command"
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, 1)
    return f"there is no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _dotted(arguments: list[str]) -> str:
    return ".".join(_words(arguments))


def _page(arguments: list[str]) -> str:
    """The page that says more: of the command, else of its group, else of all."""
    words = _words(arguments) if arguments and arguments[0] in COMMANDS else []
    if len(words) > 1:
        from cam.cli.tree import names_in

        words = words if words[1] in names_in(words[0]) else words[:1]
    return " ".join(["cam", *words, "--help"])


def _words(arguments: list[str]) -> list[str]:
    """The command's own words: the verb, and for a group the command in it."""
    if not arguments or arguments[0].startswith("-"):
        return []
    if arguments[0] not in _GROUPS or len(arguments) < 2 or arguments[1].startswith("-"):
        return arguments[:1]
    return arguments[:2]
