"""The strict grammar of the hot commands: an option once, no unknown one, values checked, words counted.

``--x=y``, ``--`` and ``--help`` are understood too.
"""

from collections.abc import Callable, Mapping, Sequence

from cam.cli.answer import Answer
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


ADAPTERS = ("claude", "hermes", "codex", "subagent")

COMMON = (
    Option("--memory-root", "DIR", "The store's folder, instead of the one that settings name."),
    Option("--adapter", "NAME", "Which host asks: claude, hermes, codex or subagent."),
    Option("--json", "", "Print one JSON object instead of text."),
    Option("--cwd", "DIR", "Work in DIR instead of the current folder."),
    Option("--help", "", "Show this page."),
)


def parse(command: Command, name: str, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Words and options of a command line; a switch has the value "".

    Raises:
        InvalidInputError: an unknown or repeated option, a missing value, too few or too many words.
    """
    known = {option.name: option for option in (*command.options, *COMMON)}
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
        adapter = options.get("--adapter")
        if adapter is not None and adapter not in ADAPTERS:
            raise InvalidInputError(f"no adapter {adapter!r}; adapters are {', '.join(ADAPTERS)}")
        _check_count(command, name, words)
    return words, options


def page(name: str, command: Command) -> str:
    """The help of a command."""
    options = [*command.options, *COMMON]
    width = max(len(f"{o.name} {o.value}") for o in options) + 2
    rows = [
        f"  {f'{o.name} {o.value}':<{width}}{o.help}" + (f" [default: {o.default}]" if o.default else "")
        for o in options
    ]
    return "\n".join(
        [f"Usage: cam recall {name} [OPTIONS] {command.words}".rstrip(), "", command.help, "", *rows]
    )


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
    if not command.most:
        raise InvalidInputError(f"recall {name} takes no words, not {words[0]!r}")
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
