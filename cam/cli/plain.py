"""Plain command lines, read without Typer, whose import costs as much as many a command's work."""

from collections.abc import Collection, Mapping, Sequence

Plain = Mapping[str, Sequence[str]]
"""Values by option, those of a switch empty; ``text`` for the words beside them."""


def read_plain(arguments: Sequence[str], values: Collection[str]) -> Plain | None:
    """A line of words, ``--json`` and options with a value; None for any other, which Typer reads.

    Args:
        arguments: behind the command's own words.
        values: options that may stand there, each with a value.
    """
    found: dict[str, list[str]] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--json":
            found["--json"] = []
        elif name in values and (equals or rest):
            found.setdefault(name, []).append(value if equals else rest.pop(0))
        elif word.startswith("-"):
            return None
        else:
            found.setdefault("text", []).append(word)
    return found


def last(options: Plain, name: str) -> str | None:
    """The value of an option; the last one where it was given twice."""
    return options[name][-1] if name in options else None
