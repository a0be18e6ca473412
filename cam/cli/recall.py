"""cam recall: finding memory again, read without Typer, which costs more to import than a search takes.

One table says what each command takes; the grammar is strict: an option once, no unknown one, values checked.
``--x=y``, ``--`` and ``--help`` are understood too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from cam.cli.answer import Answer, respond
from cam.cli.entry import GlobalOptions
from cam.core.errors import InvalidInputError


class Option:
    """One option.

    Attributes:
        name: with its dashes.
        value: what stands for its value in the help, "" for a switch.
        help: one line.
        default: shown in the help.
    """

    def __init__(self, name: str, value: str, text: str, default: str = "") -> None:
        self.name, self.value, self.help, self.default = name, value, text, default


class Command:
    """One command of the group.

    Attributes:
        words: name of its positional words in the help.
        least: how many of them at least.
        most: how many at most.
        options: what it takes.
        help: one line.
        run: does it.
    """

    def __init__(
        self,
        words: str,
        counts: tuple[int, int],
        options: Sequence[Option],
        text: str,
        run: Callable[[Sequence[str], Mapping[str, str]], Answer],
    ) -> None:
        self.words, (self.least, self.most), self.options, self.help, self.run = (
            words,
            counts,
            options,
            text,
            run,
        )


_COMMON = (
    Option("--memory-root", "DIR", "The store's folder, instead of the one that settings name."),
    Option("--json", "", "Print one JSON object instead of text."),
    Option("--cwd", "DIR", "Work in DIR instead of the current folder."),
    Option("--help", "", "Show this page."),
)
_FILTERS = (
    Option("--scope", "SCOPE", "global, project or project-local."),
    Option("--topic", "TOPIC", "Only this topic."),
    Option("--type", "TYPE", "memory, idea or knowledge."),
    Option("--source", "KIND", "session, person, file, agent or import."),
    Option("--session", "ID", "Only what this Codex session said."),
    Option("--from", "DATE", "Not created before (YYYY-MM-DD or ISO-8601 UTC)."),
    Option("--to", "DATE", "Not created after; a date alone includes that day."),
)


def run_recall(arguments: Sequence[str], given: GlobalOptions) -> NoReturn:
    """Run a command of the group; the process ends with its exit code.

    Args:
        arguments: behind ``recall``.
        given: cam's own options before the verb.
    """
    name = next((word for word in arguments if word != "--json"), "--help")
    page = _group_page() if name in ("--help", "-h") else ""
    command = COMMANDS.get(name)

    def work() -> Answer:
        if page:
            return Answer({"help": page}, page)
        if command is None:
            raise InvalidInputError(
                f"no command {name!r}; there are {', '.join(COMMANDS)} (cam recall --help)"
            )
        words, options = parse(command, name, arguments[list(arguments).index(name) + 1 :])
        if "--help" in options:
            return Answer({"help": _page(name, command)}, _page(name, command))
        if given.cwd is not None:
            options.setdefault("--cwd", given.cwd)
        return command.run(words, options)

    respond(f"recall.{name}" if command else "recall", "--json" in arguments, work)


def parse(command: Command, name: str, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Words and options of a command line; a switch has the value "".

    Raises:
        InvalidInputError: an unknown or repeated option, a missing value, too few or too many words.
    """
    known = {option.name: option for option in (*command.options, *_COMMON)}
    words: list[str] = []
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if word != "-h" and not word.startswith("--"):
            words.append(word)
            continue
        key, equals, value = ("--help" if word == "-h" else word).partition("=")
        option = known.get(key)
        if option is None:
            raise InvalidInputError(f"no option {key}; 'cam recall {name} --help' names them all")
        if key in options:
            raise InvalidInputError(f"{key} stands twice")
        options[key] = _value(option, value if equals else None, rest)
    if "--help" not in options:
        _check_count(command, name, words)
    return words, options


def _value(option: Option, given: str | None, rest: list[str]) -> str:
    """The value of an option: behind its ``=``, or the next word, which is taken from ``rest``."""
    if not option.value:
        if given is not None:
            raise InvalidInputError(f"{option.name} takes no value")
        return ""
    if given is None and rest and not rest[0].startswith("--"):
        given = rest.pop(0)
    if not given and option.name != "--memory-root":
        raise InvalidInputError(f"{option.name} needs a value: {option.name} {option.value}")
    return given or ""


def _check_count(command: Command, name: str, words: Sequence[str]) -> None:
    if command.least <= len(words) <= command.most:
        return
    wanted = (
        f"{command.least} to {command.most}" if command.least < command.most else f"exactly {command.least}"
    )
    advice = ": put several words in quotes" if command.words == "QUERY" and len(words) > 1 else ""
    raise InvalidInputError(f"recall {name} takes {wanted} {command.words}, not {len(words)}{advice}")


def whole_number(options: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """The value of a numeric option.

    Raises:
        InvalidInputError: no whole number, or out of bounds.
    """
    text = options.get(name)
    if text is None:
        return default
    digits = text.removeprefix("-")
    number = int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
    if number is None or not low <= number <= high:
        raise InvalidInputError(f"{name} takes a whole number from {low} to {high}, not {text!r}")
    return number


def _search(words: Sequence[str], options: Mapping[str, str]) -> Answer:
    from os.path import isdir, relpath

    from cam.core.errors import IntegrityError
    from cam.core.records import MemoryRecord, RecordType, check_topic, parse_scope
    from cam.recall.indexed import search_store
    from cam.recall.source import Filters
    from cam.render.recall import search_data, search_text
    from cam.store.locate import enter, locate
    from cam.system.clock import now_stamp

    if "--limit" in options and ("--page" in options or "--page-size" in options):
        raise InvalidInputError("--limit N is page 1 of size N: it does not go with --page and --page-size")
    size = whole_number(options, "--page-size", whole_number(options, "--limit", 8, 1, 100), 1, 100)
    kind = options.get("--type")
    if kind is not None and kind not in tuple(RecordType):
        raise InvalidInputError(f"no type {kind!r}; types are {', '.join(RecordType)}")
    filters = Filters(
        scope=parse_scope(options["--scope"]) if "--scope" in options else None,
        topic=check_topic(options["--topic"]) if "--topic" in options else None,
        type=RecordType(kind) if kind else None,
        source=options.get("--source"),
        session=options.get("--session"),
        since=_date(options, "--from"),
        until=_date(options, "--to"),
        now=now_stamp(),
    )
    root = options.get("--memory-root")
    if root and not isdir(root):
        raise IntegrityError(f"--memory-root: there is no folder {root}")
    _, settings, layout = locate(enter(options.get("--cwd")), memory_root=root)

    def path_of(record: MemoryRecord) -> str:
        return relpath(layout.topic_file(record.scope, record.state, record.topic), layout.root)

    result = search_store(
        layout,
        words[0],
        filters,
        state=options.get("--state", "auto"),
        limit=size,
        page=whole_number(options, "--page", 1, 1, 1_000_000),
        match=options.get("--match", "any"),
        recency=_weight(options),
        path_of=path_of,
    )
    notes = (*settings.warnings, *result.problems)
    return Answer(search_data(result), search_text(result), tuple(f"cam: {note}" for note in notes))


def _date(options: Mapping[str, str], name: str) -> str | None:
    from re import fullmatch

    text = options.get(name)
    if text is not None and not fullmatch(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?", text):
        raise InvalidInputError(
            f"{name} takes YYYY-MM-DD or a time such as 2026-11-30T12:00:00Z, not {text!r}"
        )
    return text


def _weight(options: Mapping[str, str]) -> float:
    text = options.get("--recency", "0")
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise InvalidInputError(f"--recency takes a number of 0 or more, not {text!r}")
    return weight


COMMANDS = {
    "search": Command(
        "QUERY",
        (1, 1),
        (
            *_FILTERS,
            Option("--state", "STATE", "auto (active, then archived), active, archived or all.", "auto"),
            Option("--limit", "N", "Cards at most, 1 to 100.", "8"),
            Option("--page", "N", "Which page, from 1.", "1"),
            Option("--page-size", "N", "Cards on a page, 1 to 100.", "8"),
            Option("--match", "HOW", "any word of the query, or all.", "any"),
            Option("--recency", "W", "Weight of newness among matches; half of it is gone in 30 days.", "0"),
        ),
        "Search what is remembered: one card per record, best first, with why it matched.",
        _search,
    ),
}


def _group_page() -> str:
    rows = [f"  {name:<10} {command.help}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: cam recall COMMAND …",
            "",
            "Find memory again.",
            "",
            *rows,
            "",
            "cam recall COMMAND --help says more.",
        ]
    )


def _page(name: str, command: Command) -> str:
    options = [*command.options, *_COMMON]
    width = max(len(f"{o.name} {o.value}") for o in options) + 2
    rows = [
        f"  {f'{o.name} {o.value}':<{width}}{o.help}" + (f" [default: {o.default}]" if o.default else "")
        for o in options
    ]
    return "\n".join([f"Usage: cam recall {name} [OPTIONS] {command.words}", "", command.help, "", *rows])
