"""Text that may be shown on one line, to a model or in a terminal, without doing anything there."""

import re
from unicodedata import category, east_asian_width

# Control, format, surrogate, line and paragraph separators: what moves a cursor, turns text around or hides.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Format characters that emoji and Persian need."""


_ESCAPE = (
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"  # colours, cursor (ECMA-48 5.4)
    r"|\x1b[\]PX^_][^\x07\x1b\x9c\n]*+(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b(?:[()*+#%][0-~]|[][PX^_78=>])?"  # alphabets, what is not ended; letters are rather words
)
_ENDS = " \t\r\n\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


_LISTED = 200
"""Characters of a text in a list: three lines of a terminal, and more than a fact needs."""


def one_line(text: str) -> str:
    """``text`` with a blank for whatever hides, breaks lines, moves a cursor or turns text around."""
    if text.isprintable():
        return text
    return "".join(" " if category(c) in _UNSAFE and c not in _JOINERS else c for c in text)


def without_escapes(text: str) -> str:
    """``text`` without a terminal's escape sequences, nor direction marks and blanks at its ends.

    Direction marks inside stay: right-to-left text may need them.
    """
    if "\x1b" in text or "\x9b" in text:
        text = re.sub(_ESCAPE, "", text)
    return text.strip(_ENDS)


def shortened(text: str, limit: int) -> str:
    """``text`` of at most ``limit`` characters, the cut shown."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def listed(text: str) -> str:
    """``text`` as it stands among others: on one line, a long one cut; the whole is shown by its ref."""
    return shortened(one_line(text), _LISTED)


def counted(count: int, noun: str) -> str:
    """``1 record``, ``2,000 records``."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def width(text: str) -> int:
    """Columns that ``text`` takes in a terminal: two for wide characters, none for marks that combine."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if east_asian_width(character) in "WF":
        return 2
    return 0 if category(character) in ("Mn", "Me", "Cf") else 1
