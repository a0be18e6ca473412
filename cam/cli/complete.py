"""What may stand next on a command line: asked by the shell at every tab, so without Typer.

The shape of all commands is worked out once and kept in the store's cache, until a file of the program
changes. Nothing here may disturb a person who types: what goes wrong completes nothing.
"""

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from cam.cli.answer import emit
from cam.cli.app import COMMANDS
from cam.cli.entry import PASS_THROUGH

_CHOICES = {
    "SCOPE": ("global", "project", "project-local"),
    "STATE": ("active", "archived", "all"),
    "TYPE": ("memory", "idea", "knowledge"),
    "SHELL": ("bash", "zsh", "fish"),
}
_GLOBAL = ("--cwd", "--no-inject", "--no-sync", "--version", "--help")
_MOST = 400
"""Refs that are offered; nobody looks through more."""


def run_complete(words: Sequence[str], cwd: str | None) -> int:
    """Print a line ``value<TAB>description`` for each word that fits.

    Args:
        words: those behind ``cam`` up to the cursor; the last one is being typed, and may be empty.
        cwd: folder whose memory is meant.
    """
    try:
        found = [f"{value}\t{about}" for value, about in candidates(words or ("",), cwd)]
    except Exception:  # a shell has no place for a message
        found = []
    emit("\n".join(found))
    return 0


def candidates(words: Sequence[str], cwd: str | None) -> Iterator[tuple[str, str]]:
    """What may stand in place of the last word, each with a few words about it."""
    *before, typed = words
    if before and before[0] in PASS_THROUGH:
        return
    offered = _offered(before, typed, cwd)
    yield from (row for row in offered if row[0].startswith(typed))


def _offered(before: Sequence[str], typed: str, cwd: str | None) -> Iterator[tuple[str, str]]:
    if not before:
        if typed.startswith("-"):
            yield from ((option, "") for option in _GLOBAL)
        else:
            yield from ((name, entry.help) for name, entry in COMMANDS.items())
        return
    shape = _shape(cwd)
    name = " ".join(before[:2]) if " ".join(before[:2]) in shape else before[0]
    depth = len(name.split())
    own = shape.get(name, {"options": {}, "arguments": []})
    inner = {
        words.split()[-1]: row["help"] for words, row in shape.items() if words.startswith(f"{before[0]} ")
    }
    if depth == 1 and len(before) == 1 and inner and not typed.startswith("-"):
        yield from inner.items()
        return
    if own["options"].get(before[-1]):
        yield from _values(own["options"][before[-1]], cwd)
    elif typed.startswith("-"):
        yield from (
            (option, stands_for) for option, stands_for in own["options"].items() if option not in before
        )
    else:
        given = _positional(before[depth:], own["options"])
        if own["arguments"]:
            yield from _values(own["arguments"][min(given, len(own["arguments"]) - 1)], cwd)


def _positional(words: Sequence[str], options: dict[str, str]) -> int:
    """How many of the words are neither options nor their values."""
    count, is_value = 0, False
    for word in words:
        if not is_value and not word.startswith("-"):
            count += 1
        is_value = not is_value and bool(options.get(word))
    return count


def _values(stands_for: str, cwd: str | None) -> Iterator[tuple[str, str]]:
    kind = stands_for.strip("[]{}.… ").partition(" ")[0].partition("|")[0]
    if kind in _CHOICES:
        yield from ((value, "") for value in _CHOICES[kind])
    elif kind == "COMMAND":
        from cam.cli.help import topics

        yield from ((name, entry.help) for name, entry in COMMANDS.items())
        yield from ((topic, "") for topic in topics())
    elif kind == "NAME":
        from cam.core.settings import SETTINGS

        yield from ((setting.name, setting.help) for setting in SETTINGS)
    elif "|" in stands_for and stands_for.strip("[]").islower():
        yield from ((value, "") for value in stands_for.strip("[]").split("|"))
    elif kind in ("REF", "TOPIC"):
        yield from _remembered(kind, cwd)


def _remembered(kind: str, cwd: str | None) -> Iterator[tuple[str, str]]:
    from cam.context import open_context
    from cam.core.display import one_line, shortened
    from cam.core.records import TOPICS
    from cam.store.start_index import StartIndex

    index = StartIndex(open_context(cwd).layout)
    if kind == "TOPIC":
        yield from ((topic, "") for topic in sorted({*TOPICS, *(row.topic for row in index.candidates)}))
        return
    newest = sorted(index.candidates, key=lambda row: row.updated_at, reverse=True)
    for row in newest[:_MOST]:
        yield str(row.ref), shortened(one_line(row.summary), 60)


def _shape(cwd: str | None) -> dict[str, dict[str, Any]]:
    from cam.context import open_context
    from cam.system.files import read_bytes, write_quick

    folder = os.path.dirname(os.path.abspath(__file__))
    with os.scandir(folder) as entries:
        stamp = str(sorted((e.name, e.stat().st_mtime_ns) for e in entries if e.name.endswith(".py")))
    path = open_context(cwd).layout.cache_file("completion.json")
    try:
        kept = json.loads(read_bytes(path) or b"{}")
        if kept.get("of") == stamp:
            return dict(kept["shape"])
    except (ValueError, AttributeError, KeyError):
        pass  # made anew below
    from cam.cli.tree import shape

    made = shape()
    write_quick(path, json.dumps({"of": stamp, "shape": made}).encode())
    return made
