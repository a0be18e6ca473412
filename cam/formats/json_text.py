"""Edits of a JSON file that keep every byte which is not meant: no re-rendering of what a person laid out.

An edit names a place by its path (member names and item numbers), finds the place's span in the text, and
puts in or takes out only that, in the indentation that stands around it. Taking out what was put in last
gives the text that was there before.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"[-+0-9.eE]+|true|false|null")

Path = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class _Node:
    """A value's span in the text; ``children`` are ``(name or number, start with name, value)``."""

    start: int
    end: int
    children: tuple[tuple[str | int, int, "_Node"], ...] = ()


def parse_json(text: str, where: str) -> Any:
    """The document.

    Args:
        text: of the file.
        where: the file's path, for the message.

    Raises:
        ValueError: it is no JSON; the message has file and line.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}:{error.lineno}: {error.msg}") from None
    except RecursionError:
        raise ValueError(f"{where}:1: nested too deeply") from None


def add(text: str, path: Path, name: str | None, value: Any) -> str:
    """Add a value behind the others of the object or array at ``path``.

    Args:
        text: valid JSON.
        path: of the object or array.
        name: the member's name; None for an array's item.
        value: what to add.

    Raises:
        KeyError: there is no such place.
    """
    node = _at(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    if node.children:
        first, last = node.children[0][1], node.children[-1][2].end
        gap = text[node.start + 1 : first]
        written = _written(name, value, unit, gap.rpartition("\n")[2], newline)
        return f"{text[:last]},{gap if newline in gap or not gap else ' '}{written}{text[last:]}"
    base = _indent_at(text, node.start)
    inner = base + unit
    written = _written(name, value, unit, inner, newline)
    return f"{text[: node.start + 1]}{newline}{inner}{written}{newline}{base}{text[node.end - 1 :]}"


def remove(text: str, path: Path) -> str:
    """Take out the value at ``path`` with its name and its comma.

    Raises:
        KeyError: there is no such place.
    """
    parent, name = _at(text, path[:-1]), path[-1]
    number = next((n for n in reversed(range(len(parent.children))) if parent.children[n][0] == name), None)
    if number is None:
        raise KeyError(name)
    _, start, node = parent.children[number]
    if number:
        return text[: parent.children[number - 1][2].end] + text[node.end :]
    if len(parent.children) > 1:
        return text[:start] + text[parent.children[1][1] :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def replace(text: str, path: Path, value: Any) -> str:
    """Put ``value`` at ``path``, in the place of what is there.

    Raises:
        KeyError: there is no such place.
    """
    node = _at(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    written = _written(None, value, _unit(text), _indent_at(text, node.start), newline)
    return text[: node.start] + written + text[node.end :]


def render_json(value: Any) -> str:
    """A new file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _at(text: str, path: Path) -> _Node:
    node = _parse(text, _skip(text, 0))
    for part in path:
        node = next((child for name, _, child in reversed(node.children) if name == part), _Node(-1, -1))
        if node.start < 0:
            raise KeyError(part)
    return node


def _parse(text: str, at: int) -> _Node:
    """The value at ``at``; the text is known to be valid."""
    opening = text[at]
    if opening not in "{[":
        return _Node(at, _end(_STRING if opening == '"' else _SCALAR, text, at))
    children: list[tuple[str | int, int, _Node]] = []
    cursor = _skip(text, at + 1)
    while text[cursor] not in "}]":
        start = cursor
        name: str | int = len(children)
        if opening == "{":
            after = _end(_STRING, text, cursor)
            name = str(json.loads(text[cursor:after]))
            cursor = _skip(text, _skip(text, after) + 1)
        child = _parse(text, cursor)
        children.append((name, start, child))
        cursor = _skip(text, child.end)
        if text[cursor] == ",":
            cursor = _skip(text, cursor + 1)
    return _Node(at, cursor + 1, tuple(children))


def _skip(text: str, at: int) -> int:
    return _end(_SPACE, text, at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at + 1


def _unit(text: str) -> str:
    """One step of indentation: the first line's that has any."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    """The white space that the line of ``at`` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(name: str | None, value: Any, unit: str, indent: str, newline: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    head = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    return head + (newline + indent).join(lines)
