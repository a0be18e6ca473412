"""A page of the documentation as plain text for a terminal: the same words, without Markdown's signs."""

import re
from collections.abc import Iterator
from itertools import groupby

from cam.core.display import width
from cam.render.terminal import fitted

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_FENCE = re.compile(r"\s*```")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_RULE = re.compile(r"\|[\s|:-]*\|$")
_BREAK = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
_LEAST = 20


def page_text(markdown: str, columns: int = 80) -> str:
    """The page: headings bare, tables in columns where they fit, code as it is, all else in lines that fit.

    A table that is too wide has each row as a name, with its cells below, each after its heading.

    Args:
        markdown: the page's source.
        columns: width of the terminal.
    """
    columns = max(columns, _LEAST)
    lines: list[str] = []
    for kind, block in groupby(_kinds(_COMMENT.sub("", markdown)), key=lambda pair: pair[0]):
        rows = [line for _, line in block]
        if kind == "code":
            lines += [f"    {line}".rstrip() for line in rows]
        elif kind == "table":
            lines += _table([_cells(row) for row in rows if not _RULE.match(row)], columns)
        elif kind == "title":
            titles = ((row, _plain(row.lstrip("#").strip())) for row in rows)
            lines += [title.upper() if row.startswith("# ") else title for row, title in titles]
        else:
            for text in _paragraphs(rows):
                item = _ITEM.match(text)
                hang = item.end() if item else len(text) - len(text.lstrip())
                lines += fitted(text, columns, hang)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _kinds(markdown: str) -> Iterator[tuple[str, str]]:
    """Each line and what it is part of; fences themselves are left out."""
    in_code = False
    for line in markdown.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        elif in_code:
            yield "code", line
        else:
            yield "table" if line.startswith("|") else "title" if line.startswith("#") else "text", line


def _paragraphs(rows: list[str]) -> Iterator[str]:
    """What belongs together as one line; a blank line stays one."""
    paragraph: list[str] = []
    for row in rows:
        if paragraph and (not row.strip() or _ITEM.match(row)):
            yield " ".join(paragraph)
            paragraph = []
        if row.strip():
            paragraph.append(_plain(row.strip() if paragraph else row.rstrip()))
        else:
            yield ""
    if paragraph:
        yield " ".join(paragraph)


def _cells(line: str) -> list[str]:
    cells = _BREAK.split(line.strip()[1:].removesuffix("|"))
    return [_plain(cell.strip().replace("\\|", "|")) for cell in cells]


def _table(rows: list[list[str]], columns: int) -> list[str]:
    if not rows:
        return []
    count = max(map(len, rows))
    head, *body = [[*row, *[""] * (count - len(row))] for row in rows]
    shown = [head, *body] if any(head[1:]) or not body else body  # a heading of one word says little
    widths = [max(width(row[n]) for row in shown) for n in range(count)]
    if sum(widths) + 2 * count <= columns:
        table = [_row(row, widths) for row in shown]
        return (
            table if shown is body else [table[0], _row(["─" * each for each in widths], widths), *table[1:]]
        )
    lines = []
    for named, *cells in body:
        lines += fitted(f"  {named}", columns, 4)
        for name, cell in zip(head[1:], cells, strict=True):
            text = f"{name}: {cell}" if name and count > 2 else cell
            lines += fitted(f"      {text}", columns, 6) if cell else []
    return lines


def _row(cells: list[str], widths: list[int]) -> str:
    padded = (cell + " " * (most - width(cell)) for cell, most in zip(cells, widths, strict=True))
    return f"  {'  '.join(padded)}".rstrip()


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    return re.sub(r"\*\*([^*]+)\*\*|`([^`]+)`", lambda hit: hit[1] or hit[2], text)
