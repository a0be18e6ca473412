"""Private spans: what stands between ``<private>`` and ``</private>`` is never kept or shown.

Fail closed: a tag that is not closed, is malformed or is disguised takes the rest of the text with it.
A well-formed tag is ``<private>`` or ``</private>`` in any case, with optional white space behind ``<`` and
around the slash, and with optional attribute text. Spans nest; a closer that closes nothing is removed as
markup. Code fences, comments and backslashes protect nothing.

Disguised means: another character or escape that looks like ``<``; letters that look like the seven of the
name (full-width, mathematical, other scripts, accents); white space, control, format or combining
characters within or right behind the name. A disguised opener cuts the rest, a disguised closer closes
nothing. Quotation marks and square brackets around the word count only where a closer follows, since
people quote the word.

A longer name is another name (``Map<PrivateKey, V>``, ``List<private_key>``, ``<PrivateRoute/>``,
``a < privateCount``, ``<private-route>``) and stays. Every step is linear in the text.
"""

import re
from dataclasses import dataclass
from functools import cache

_NAME = "private"
_ALIKE = {
    "p": "рρϱⲣᏢᑭꓑᴘᵽƥƿ",
    "r": "гᴦⲅʀᎡᏒꓣᖇꭇꭈᴙяɍɼɽɾꮁ",
    "i": "іιıɩɪᎥⲓӏӀꙇꭵɨǀ⍳l1|!ו",
    "v": "νѵᴠ∨⋁ꮩᏙᐯꓦʋυⱱⱴ",
    "a": "аαɑᴀ⍺Ꭺᗅꓮⲁɐⱥ@",
    "t": "тτᴛᎢꓔⲧŧƭ⊤†ʈƫꭲ⟙",
    "e": "еεєҽ℮ᴇᎬꓰⲉɛəɘǝ⋿ⴹꬲɇ",
}
"""Letters of other alphabets, and signs, that pass for a letter of the name."""

_SPACE = r"[ \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_SLASHES = "/／⁄∕⧸"
_OPENING = "<＜﹤⟨〈❮❬❰˂ᐸ⧼⦑⋖≺≮⟪︿︽⪪"
_QUOTING = "[［【«‹《〈"
_QUOTED_END = "]］】»›》〉"
_ESCAPED = r"&(?:amp;){0,4}(?:lt|#0{0,32}60|#x0{0,32}3c);?|\\{1,4}(?:u\{?0{0,8}|x)3c\}?|%(?:25){0,4}3c"
_BRACKET = f"(?:[{re.escape(_OPENING + _QUOTING)}]|(?i:{_ESCAPED}))"
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"  # letters and signs that show nothing
_LETTER_ROWS = (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)  # boxed and circled A–Z that NFKD leaves alone


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without its private spans.

    Attributes:
        text: what may be seen.
        count: spans that were cut, a cut tail included; nested spans count once. A closer that closed nothing
            is taken out of the text and not counted: whether anything changed, the text alone tells.
    """

    text: str
    count: int


def strip(text: str) -> Stripped:
    """Cut private spans from ``text``; see the module for the rules.

    Stripping twice changes nothing: where the pieces left over would form a tag, the rest goes too.
    """
    if _candidate().search(text) is None:
        return Stripped(text, 0)
    kept, count = _cut(text)
    if count or len(kept) < len(text):
        again = _first_tag(kept)
        if again is not None:
            kept, count = kept[:again], count + 1
    return Stripped(kept, count)


_OTHER, _OPEN, _CLOSE, _CUT = range(4)


def _cut(text: str) -> tuple[str, int]:
    kept: list[str] = []
    depth = count = start = position = 0
    last = _last_closer(text)
    for match in _candidate().finditer(text):
        if match.start() < position:
            continue
        kind, end = _read_tag(text, match, last)
        if kind == _OTHER:
            continue
        if depth == 0:
            kept.append(text[start : match.start()])
            count += kind != _CLOSE
        if kind == _CUT:
            return "".join(kept), count
        position = end
        depth = depth + 1 if kind == _OPEN else max(0, depth - 1)
        start = end
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept), count


def _first_tag(text: str) -> int | None:
    last = _last_closer(text)
    for match in _candidate().finditer(text):
        if _read_tag(text, match, last)[0] != _OTHER:
            return match.start()
    return None


@cache
def _candidate() -> re.Pattern[str]:
    """Something like ``<`` before what may begin the name or a slash: narrow, so that most text is cheap."""
    return re.compile(
        rf"{_BRACKET}[\x00-\x20\x7f]*+(?=[/pP&\\%]|[^\x00-\x7f{re.escape(_OPENING + _QUOTING)}])"
    )


@cache
def _well_formed() -> tuple[re.Pattern[str], re.Pattern[str]]:
    name = "".join(f"[{c}{c.upper()}]" for c in _NAME) + f"(?=>|{_SPACE})[^<>]*+>"
    return (
        re.compile(f"<{_SPACE}*+{name}"),
        re.compile(f"<{_SPACE}*+/{_SPACE}*+{name}"),
    )


def _read_tag(text: str, match: re.Match[str], last: int) -> tuple[int, int]:
    """What stands at ``match``, and where it ends; ``last`` is where the text's last closer stands."""
    begin = match.start()
    opener, closer = _well_formed()
    if text[begin] == "<":
        if found := opener.match(text, begin):
            return _OPEN, found.end()
        if found := closer.match(text, begin):
            return _CLOSE, found.end()
    end, plain = _read_name(text, match.end())
    if end < 0:
        return _OTHER, begin
    if text[begin] in _QUOTING:
        return (_CUT if _is_quoted_tag(text, end, last) else _OTHER), begin
    spaced = text[match.end() - 1] <= " "
    return (_OTHER if plain and _goes_on(text, end, spaced=spaced) else _CUT), begin


def _goes_on(text: str, end: int, *, spaced: bool) -> bool:
    """Whether the name at ``end`` is the beginning of a longer one."""
    longer = re.compile(r"[A-Za-z0-9_$]|([-.:])[A-Za-z0-9_]").match(text, end)
    if longer is None:
        return False
    if longer[1] is None or spaced:
        return True
    angle = re.compile("[<>]").search(text, end)  # "<private-x>" is another tag, "<private-x" is no tag
    return angle is not None and angle[0] == ">"


def _is_quoted_tag(text: str, end: int, last: int) -> bool:
    """Whether the quoted word that ends at ``end`` works as a tag: its quotation ends, a closer follows."""
    while end < len(text) and _letter(text[end]) == "":
        end += 1
    return end < len(text) and text[end] in _QUOTED_END and last > end


@cache
def _closer_like() -> re.Pattern[str]:
    return re.compile(rf"{_BRACKET}[\s\x00-\x20]*+[{_SLASHES}]")


def _last_closer(text: str) -> int:
    """Where the last thing that looks like a closer stands; -1 where none does, or no quotation needs it."""
    at = -1
    if not any(quote in text for quote in _QUOTING):
        return at
    for match in _closer_like().finditer(text):
        if _read_name(text, match.end())[0] >= 0:
            at = match.start()
    return at


def _read_name(text: str, at: int) -> tuple[int, bool]:
    """Read the name from ``at``.

    Returns:
        Where it ends (-1 if it is not the name) and whether plain letters spell it without a gap.
    """
    wanted, plain = 0, True
    size = len(text)
    while at < size:
        char, step = text[at], 1
        if char in "&\\%" and (escape := _escape().match(text, at)):
            char, step, plain = _decoded(escape), len(escape[0]), False
        letter = _letter(char)
        if letter == "":
            plain = plain and wanted == 0
        elif letter != _NAME[wanted]:
            return -1, False
        else:
            plain = plain and char.isascii() and char.isalpha() and char not in "lL"
            wanted += 1
        at += step
        if wanted == len(_NAME):
            return at, plain
    return -1, False


@cache
def _escape() -> re.Pattern[str]:
    return re.compile(
        r"&(?:amp;){0,4}#(?:0{0,32}(?P<dec>\d{1,7})|[xX]0{0,32}(?P<hex>[0-9a-fA-F]{1,6}));?"
        r"|\\{1,4}(?:u\{?|x)0{0,8}(?P<code>[0-9a-fA-F]{2,5})\}?|%(?:25){0,4}(?P<url>[0-9a-fA-F]{2})"
    )


def _decoded(escape: re.Match[str]) -> str:
    code = escape["hex"] or escape["code"] or escape["url"]
    number = int(escape["dec"]) if escape["dec"] else int(code, 16)
    return chr(number) if number < 0x110000 else "?"


@cache
def _letter(char: str) -> str:
    """The letter of the name that ``char`` passes for; "" for what cannot be seen; else itself."""
    if char <= " " or char == "\x7f" or char in _BLANK_LETTERS:
        return ""
    lower = char.lower()
    for letter, alike in _ALIKE.items():
        if lower == letter or lower in alike:
            return letter
    return lower if char.isascii() else _foreign(char)


def _foreign(char: str) -> str:
    from unicodedata import category, normalize  # noqa: PLC0415 - only for text that is not ASCII

    base = "".join(c for c in normalize("NFKD", char) if category(c)[0] != "M").lower()
    if not base or category(char) in {"Cc", "Cf", "Zs", "Zl", "Zp"}:
        return ""
    for row in _LETTER_ROWS:
        if row <= ord(char) < row + 26:
            return chr(ord("a") + ord(char) - row)
    for letter, alike in _ALIKE.items():
        if base == letter or base in alike:
            return letter
    return base
