"""Edits of Codex's ``config.toml`` that keep comments, order, line ends and every byte that is not meant.

A new table is text at the end of the file, and what is taken out is that text, so that the file is as it was.
Where a file is built so that this does not work (a table written inline, keys with dots), tomlkit edits it.
Either way an edit counts only if the result, parsed, differs from before in what was meant and nothing else.
"""

import copy
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any

from cam.formats.toml_value import render_value

Table = dict[str, Any]
Keys = Sequence[str]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r"\(at line (\d+)")


def parse_toml(text: str, where: str) -> Table:
    """The document.

    Raises:
        ValueError: it is no TOML; the message has file and line.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        line = found[1] if found else text.count("\n") + 1
        raise ValueError(f"{where}:{line}: {str(error).partition(' (at')[0]}") from None


def value_at(document: Mapping[str, Any], keys: Keys) -> Any:
    """What stands at ``keys``, None where nothing does."""
    value: Any = document
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def with_table(text: str, where: str, keys: Keys, values: Mapping[str, Any]) -> str:
    """The file with these values in the table at ``keys``; other values of that table stay.

    Args:
        text: of the file.
        where: its path, for messages.
        keys: the table's.
        values: texts, numbers, booleans and lists of texts.

    Raises:
        ValueError: it is no TOML, or the table cannot be put in; the message has file and line.
    """
    before = parse_toml(text, where)
    wanted = copy.deepcopy(before)
    table: Any = wanted
    for key in keys:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise ValueError(f"{where}:{_line_of(text, key)}: {key} is no table")
    table.update(values)
    if wanted == before:
        return text
    ways = _written(text, keys, values, is_new=value_at(before, keys) is None)
    return _first_that_gives(wanted, ways, f"{where}:1: [{'.'.join(keys)}] cannot be put in; do it by hand")


def without_tables(text: str, where: str, tables: Iterable[Keys]) -> str:
    """The file without these tables, and without tables that held nothing else.

    Raises:
        ValueError: it is no TOML, or a table cannot be taken out; the message has file and line.
    """
    for keys in tables:
        before = parse_toml(text, where)
        if value_at(before, keys) is None:
            continue
        wanted = _deleted(before, keys)
        refusal = f"{where}:{_line_of(text, keys[-1])}: [{'.'.join(keys)}] cannot be taken out; do it by hand"
        text = _first_that_gives(wanted, _cut(text, keys), refusal)
    return text


def with_renamed(text: str, where: str, parent: Keys, names: Mapping[str, str]) -> str:
    """The file with the tables ``names`` below ``parent`` under their new names; some may be missing.

    Raises:
        ValueError: it is no TOML, or a name cannot be changed; the message has file and line.
    """
    before = parse_toml(text, where)
    there = value_at(before, parent)
    mine = {old: new for old, new in names.items() if isinstance(there, dict) and old in there}
    if not mine:
        return text
    wanted = copy.deepcopy(before)
    table = value_at(wanted, parent)
    held = {new: table.pop(old) for old, new in mine.items()}
    table.update(held)

    pattern = re.compile("|".join(re.escape(_key(old)) for old in sorted(mine, key=len, reverse=True)))
    by_text = {_key(old): _key(new) for old, new in mine.items()}
    swapped = pattern.sub(lambda found: by_text[found[0]], text)
    return _first_that_gives(
        wanted, [swapped], f"{where}:1: {', '.join(mine)} cannot be renamed; do it by hand"
    )


def render_table(keys: Keys, values: Mapping[str, Any]) -> str:
    """A table as it is written at the end of a file, with line feeds."""
    lines = [f"[{'.'.join(map(_key, keys))}]", *(f"{_key(k)} = {render_value(v)}" for k, v in values.items())]
    return "".join(f"{line}\n" for line in lines)


def _first_that_gives(wanted: Table, texts: Iterable[str], refusal: str) -> str:
    """The first text that says what is wanted and nothing else.

    Raises:
        ValueError: none does.
    """
    for text in texts:
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        if _pruned(found) == _pruned(wanted):
            return text
    raise ValueError(refusal)


def _pruned(value: Any) -> Any:
    """Without tables that hold nothing: a header alone says nothing."""
    if not isinstance(value, dict):
        return value
    return {k: p for k, v in value.items() if (p := _pruned(v)) != {}}


def _written(text: str, keys: Keys, values: Mapping[str, Any], *, is_new: bool) -> Iterator[str]:
    """With the values: as a table at the end, else wherever tomlkit puts them."""
    if is_new:
        newline = "\r\n" if "\r\n" in text else "\n"
        head = text if not text or text.endswith("\n") else text + newline
        yield head + (newline if head else "") + render_table(keys, values).replace("\n", newline)
    import tomlkit  # noqa: PLC0415 - only for files that need it
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        document = tomlkit.parse(text)
        table: Any = document
        for key in keys:
            if key not in table:
                table[key] = {}
            table = table[key]
        for key, value in values.items():
            table[key] = list(value) if isinstance(value, tuple) else value
        yield _with_line_ends(tomlkit.dumps(document), text)
    except (TOMLKitError, TypeError, AttributeError):
        return


def _cut(text: str, keys: Keys) -> Iterator[str]:
    """Without the table: its header, its one-line values and the empty line before it; else by tomlkit."""
    header = re.compile(
        r"^[ \t]*\[[ \t]*" + r"[ \t]*\.[ \t]*".join(map(_key_pattern, keys)) + r"[ \t]*\][ \t]*\r?\n?",
        re.MULTILINE,
    )
    line = re.compile(r"[ \t]*[A-Za-z0-9_\"'-][^\n]*\n?")
    for found in header.finditer(text):  # the first may stand in a string of many lines
        start, end = found.span()
        while (more := line.match(text, end)) is not None:
            end = more.end()
        before = text[:start]
        for gap in ("\r\n", "\n"):
            if before.endswith(gap) and (before == gap or before[: -len(gap)].endswith("\n")):
                before = before[: -len(gap)]
                break
        yield before + text[end:]
    import tomlkit  # noqa: PLC0415
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        document = tomlkit.parse(text)
        chain: list[Any] = [document]
        for key in keys[:-1]:
            chain.append(chain[-1][key])
        for table, key in zip(reversed(chain), reversed(keys), strict=True):
            if table is chain[-1] or not table[key]:
                del table[key]
        yield _with_line_ends(tomlkit.dumps(document), text)
    except (TOMLKitError, KeyError, TypeError, AttributeError):
        return


def _with_line_ends(text: str, like: str) -> str:
    """Line ends of the new lines as in the file, where it has one kind."""
    if "\r\n" in like and "\n" not in like.replace("\r\n", ""):
        return text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text


def _deleted(document: Table, keys: Keys) -> Table:
    wanted = copy.deepcopy(document)
    del value_at(wanted, keys[:-1])[keys[-1]]
    return wanted


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key_pattern(key: str) -> str:
    """The key as it may be written: bare, between double quotes, between single ones."""
    forms = {key} if _BARE.fullmatch(key) else set()
    forms.add(dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f"))
    if "'" not in key:
        forms.add(f"'{key}'")
    return "(?:" + "|".join(re.escape(form) for form in sorted(forms)) + ")"


def _line_of(text: str, key: str) -> int:
    return text.count("\n", 0, max(0, text.find(key))) + 1
