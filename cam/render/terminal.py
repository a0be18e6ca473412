"""How an answer looks on a terminal: lines that fit, and colour that means something.

Commands make plain text; this is the one place that knows terminals, so what is piped, logged or pasted never
holds a code, and every command looks the same. Words without a blank – refs, paths, commands – are never
broken, so that they can be pasted.
"""

import re

from cam.core.display import width

_RESET = "\x1b[0m"
_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = (f"\x1b[{n}m" for n in (1, 2, 31, 32, 33, 36))
_STARTS = {
    "+": _GREEN, "-": _RED, "~": _YELLOW, "ok": _GREEN, "warning": _YELLOW, "broken": _RED,
}  # fmt: skip
_REF = re.compile(
    r"\b(?:global|project|project-local):(?:active|archived):[a-z0-9-]{1,100}:[a-z0-9][a-z0-9._-]*"
)
_WAY = re.compile(r"\b(?:undo|redo): cam (?:undo|project move)\b.*")
_QUOTE = re.compile(r"“[^”]*”")
_GAP = re.compile(r" {2,}(?=[^ ])")
_OPENING = "「『【〖《〈(〔[{“‘"
_CLOSING = "」』】〗》〉)〕]}、。,.:;!?・…ー”’,.;:!?)]"
_LEAST = 20


def dress(text: str, columns: int, *, colour: bool) -> str:
    """``text`` for a terminal.

    Args:
        text: lines without codes.
        columns: width of the terminal.
        colour: whether codes may be used.
    """
    lines: list[str] = []
    columns = max(columns, _LEAST)
    for line in text.split("\n"):
        first, *more = fitted(line, columns)
        lines.append(_painted(first, is_first=True) if colour else first)
        lines += [_painted(row, is_first=False) for row in more] if colour else more
    return "\n".join(lines)


def fitted(line: str, columns: int, hang: int | None = None) -> list[str]:
    """The line in rows of at most ``columns``, as far as its words allow.

    Args:
        line: without codes.
        columns: of the terminal.
        hang: where further rows begin; under the text of the first one if None.
    """
    if width(line) <= columns:
        return [line]
    hang = _hang(line, columns) if hang is None else hang
    start = len(line) - len(line.lstrip(" "))
    rows, row, is_empty = [], line[:start], True
    for piece in _pieces(line[start:], columns - hang):
        if not is_empty and width(row) + width(piece.rstrip(" ")) > columns:
            rows.append(row.rstrip(" "))
            row = " " * hang
        row += piece
        is_empty = False
    return [*rows, row.rstrip(" ")]


def _hang(line: str, columns: int) -> int:
    """Where further rows begin: under the last column of the first half, else two behind the line's start."""
    start = len(line) - len(line.lstrip(" "))
    begins = [gap.end() for gap in _GAP.finditer(line, start, columns) if gap.end() <= columns // 2]
    return begins[-1] if begins else start + 2


def _pieces(text: str, columns: int) -> list[str]:
    """What may stand on a row of its own: words with their blanks, and each wide character."""
    pieces: list[str] = []
    for word in re.findall(r"[^ ]+ *", text):
        if word.isascii() or width(word) <= columns // 2:
            pieces.append(word)
            continue
        start = 0
        for end in range(1, len(word) + 1):
            if end == len(word) or _may_part(word[end - 1], word[end]):
                pieces.append(word[start:end])
                start = end
    return pieces


def _may_part(one: str, other: str) -> bool:
    """Whether a row may end between them: behind a wide one; what closes never begins a row."""
    return width(one) == 2 and width(other) > 0 and one not in _OPENING and other not in _CLOSING


def _painted(row: str, *, is_first: bool) -> str:
    start = row.lstrip(" ")
    indent = row[: len(row) - len(start)]
    if start.startswith(("undo: ", "redo: ")) and _WAY.match(start):
        return f"{indent}{_DIM}{start}{_RESET}"
    if is_first and not indent and start.endswith(":") and "  " not in start:
        return f"{_BOLD}{start}{_RESET}"
    word, blank, rest = start.partition(" ")
    code = _STARTS.get(word) if is_first and blank else None
    painted = rest if code else start
    if "“" in painted:
        painted = _QUOTE.sub(lambda hit: f"{_DIM}{hit[0]}{_RESET}", painted)
    if ":a" in painted:  # of the state; most lines of a long list hold none
        painted = _REF.sub(lambda hit: f"{_CYAN}{hit[0]}{_RESET}", painted)
    return f"{indent}{code}{word}{_RESET}{blank}{painted}" if code else indent + painted
