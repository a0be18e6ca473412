"""A block of ours in a Markdown file of the user's, between two marker lines; all else stays byte for byte.

Markers count only as lines of their own and outside fenced code. Grammar: ``<!-- NAME:start -->`` … lines …
``<!-- NAME:end -->``, once.
"""

import re
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Block:
    """Where the block stands.

    Attributes:
        start: offset of its first marker.
        end: offset behind its last marker, the line end not included.
        body: the lines between the markers, with line feeds.
    """

    start: int
    end: int
    body: str


def find_block(text: str, name: str, where: str) -> Block | None:
    """The block, None where there is none.

    Args:
        text: of the file.
        name: of the block.
        where: the file's path, for the message.

    Raises:
        ValueError: a marker without its other, twice or in the wrong order; the message has file and line.
    """
    opening, closing = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    found: list[tuple[str, int, int, int]] = []
    fence, at = "", 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        words = line.strip()
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and words == mark[1]
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        elif words in (opening, closing):
            begin = at + len(line) - len(line.lstrip())
            found.append((words, begin, begin + len(words), number))
        at += len(line)
    if not found:
        return None
    if [words for words, *_ in found] != [opening, closing]:
        _, _, _, number = found[-1 if len(found) > 2 else 0]
        raise ValueError(
            f"{where}:{number}: the markers {name}:start and :end do not pair up; mend them by hand"
        )
    (_, start, after, _), (_, before, end, _) = found
    return Block(start, end, text[after:before].replace("\r\n", "\n").lstrip("\n"))


def with_block(text: str, name: str, body: str, where: str) -> str:
    """The file with the block holding ``body``: in its place, or behind everything else.

    Raises:
        ValueError: the markers do not pair up; the message has file and line.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    written = f"<!-- {name}:start -->\n{body}<!-- {name}:end -->".replace("\n", newline)
    found = find_block(text, name, where)
    if found is not None:
        return text[: found.start] + written + text[found.end :]
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{written}{newline}"


def without_block(text: str, name: str, where: str) -> str:
    """The file without the block and the empty line before it.

    Raises:
        ValueError: the markers do not pair up; the message has file and line.
    """
    found = find_block(text, name, where)
    if found is None:
        return text
    before, after = text[: found.start], text[found.end :]
    for newline in ("\r\n", "\n"):
        after = after.removeprefix(newline) if after.startswith(newline) else after
        if before.endswith(newline * 2) or before == newline:
            before = before[: -len(newline)]
            break
    return before + after
