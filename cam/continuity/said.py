"""What was said, in pieces: sentences and list items, each with the heading or line that introduces it.

Unlike durable memory, which listens to people alone, this reads assistants too, and they write lists under
headings. Code blocks, tables and quotations are shown, not said. Every step is linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cam.continuity.words import find, vocabulary
from cam.core.private import strip
from cam.core.secrets import mask
from cam.formats.continuity_file import tidy
from cam.language.candidates import is_cjk
from cam.language.claims import terms
from cam.language.statements import shadow

MAX_TEXT = 20_000
"""Characters of one message that are read: its end, where it is longer."""
MAX_PIECE = 600
MAX_ITEMS_READ = 40
"""Items of a list that are looked at, the first ones."""
MAX_PIECES = 200
"""Pieces of one message that are looked at, the last ones: what is left stands at the end."""

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BOLD = re.compile(r"\s{0,3}(?:\*\*|__)([^*_\n]{1,80})(?:\*\*|__)\s*[:：]?\s*$")
_BOLD_START = re.compile(r"\s{0,3}(?:\*\*|__)([^*_\n]{1,60})(?:\*\*|__)\s*(?=\S)")
_ITEM = re.compile(r"(\s*)(?:[-*+•‣](?=\s)|\(?\d{1,2}[.)、](?=\s|[^\x00-\xff])|[①-⑳])\s*(?=\S)")
_BOX = re.compile(r"\[([ xX✓✔])\]\s*")
_TICK = re.compile(r"\s*(?:✅|☑️?|✔️?|✓)\s*|~~.+~~\s*$")
_EMPHASIS = re.compile(r"\*\*(?=\S)|(?<=\S)\*\*")
_STOP = re.compile(
    r"[，,；]\s*(?=另外|此外|不过还|但(?:是)?还)|[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？；]+[\"'”’」』）)]*|;(?=\s)|[.!?](?=[^\x00-\xff])"
)
_NO_STOP = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|fig|sec|ver|v|st|dr|mr|ms)$", re.IGNORECASE
)
_CUT = re.compile(
    r"\s*;\s+|,\s+(?:and\s+)?then\s+|\s+and\s+then\s+|,\s+and\s+finally\s+|,?\s+after that,?\s+"
    r"|[；;，,]\s*(?:然后|最后|再然后|接着|之后)(?:再)?\s*|[；]\s*"
)
_NUMBER = re.compile(r"(?:^|(?<=[\s:：，,；;]))(?:\(?\d[.、)](?=\s|[^\x00-\xff])|[①-⑨])\s*")
_AND = re.compile(r",?\s+and\s+(?:also\s+)?")
_PATH = re.compile(
    r"(?<![\w/:.])(?:(?:[\w@.+-]+/)+[\w@+-]*\.[A-Za-z]\w{0,7}"
    r"|\.{1,2}/[\w@./+-]+"
    r"|(?:src|lib|libs|app|apps|tests?|spec|docs|cmd|pkg|internal|packages|scripts|services|crates|modules|tools|db)/"
    r"[\w@./+-]*\w"
    r"|[\w@+-]+(?:\.[\w@+-]+)*\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|sql|ya?ml"
    r"|toml|json|md|css|scss|html|vue|svelte|tf|proto|ini|cfg|lock|gradle|xml|ex|exs|lua|scala|dart))(?![\w/])"
)
_TAIL = re.compile(r"[\s,;:，；：。.]+$")
_VALUE = re.compile(r"(?<![\w.])(?:\d[\d.:_]*\d|[A-Z][A-Z0-9]*_[A-Z0-9_]+|--?[a-z][\w-]+)(?![\w])")
_LONGEST_WORD = 14
_LONGEST_LEAD = 60
_LONGEST_NAME = 5  # words
_COMMA = re.compile(r"\s*(?:,\s|[，、])\s*(?:and\s+)?|\s+and\s+")
_CODE = re.compile(r"`([^`\n]{1,300})`")


@dataclass(frozen=True, slots=True)
class Piece:
    """One sentence or list item.

    Attributes:
        text: as it was said, without list marks and emphasis.
        shade: the same in lower case with code, links and quotations blanked.
        lead: what introduces it: a heading, or a line that ends with a colon; "" without one.
        is_item: whether it stands in a list.
        checked: True for a ticked box or mark, False for an empty box, None without one.
    """

    text: str
    shade: str
    lead: str = ""
    is_item: bool = False
    checked: bool | None = None


def clean(text: str) -> str:
    """``text`` without private spans, its secrets masked."""
    return mask(strip(text[-MAX_TEXT:] if len(text) > MAX_TEXT else text).text).text


def pieces(text: str) -> tuple[Piece, ...]:  # noqa: C901 - one question a line, in order
    """Split a text that is clean already."""
    found: list[Piece] = []
    heading = lead = fence = ""
    gap = listed = False
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence or mark:
            if mark is not None:
                fence = "" if fence and mark[1].startswith(fence) else fence or mark[1][:3]
            continue
        if not line.strip():
            gap = True
            continue
        title = _HEADING.match(line) or _BOLD.match(line)
        if title is not None:
            heading, lead, listed = _flat(title[1]), "", False
        elif line.lstrip().startswith((">", "|")):
            pass
        elif (item := _ITEM.match(line)) is not None:
            found.extend(_item(line[item.end() :], lead or heading))
            listed = True
        elif listed and not gap and line[0] in " \t":
            pass  # an item that goes on
        else:
            if listed and gap:
                heading = ""  # what follows a list is not under its title any more
            listed = False
            bold = _BOLD_START.match(line)
            if bold is not None and bold[1].rstrip().endswith((":", "：")):
                found.extend(_sentences(line[bold.end() :], _flat(bold[1])))
                lead = ""
            elif line.rstrip().endswith((":", "：")) and len(line) <= 400:
                *before, last = [*_sentences(line, heading)] or [Piece("", "")]
                found.extend(before)
                lead = last.text
            else:
                if gap or lead:
                    lead = ""
                found.extend(_sentences(line, heading))
        gap = False
    return tuple(found[-MAX_PIECES:])


def prose(text: str) -> str:
    """What is said, without what is shown in code blocks."""
    kept, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1][:3]
        elif not fence:
            kept.append(line)
    return " ".join(kept)


def parts(step: str) -> list[str]:
    """The steps of "do this, then that; and finally the other"."""
    marks = list(_NUMBER.finditer(step))
    if len(marks) >= 2:
        ends = [mark.start() for mark in marks[1:]] + [len(step)]
        return [step[m.end() : end].strip(" ,，.。;；") for m, end in zip(marks, ends, strict=True)]
    found = [part.strip(" ,，.。;；") for part in _CUT.split(step) if part and part.strip(" ,，.。;；")]
    return [task for part in found for task in _tasks(part)]


def _tasks(text: str) -> list[str]:
    """The two of "move this and switch that", where a verb begins either."""
    verbs = vocabulary("verbs")
    found = [""]
    for piece in _AND.split(text):
        first = piece.split(" ", 1)[0].lower()
        begins = found[0].split(" ", 1)[0].lower() in verbs
        if found[0] and not (begins and first in verbs and " " in piece):
            found[-1] += f" and {piece}"
        else:
            found = [*found, piece] if found[0] else [piece]
    return found


def enumerated(text: str) -> list[str]:
    """The things of "products, carts, webhooks"; the steps of anything longer."""
    names = [name for name in _COMMA.split(text.rstrip(" .。")) if name]
    short = len(names) > 1 and all(len(name.split()) <= _LONGEST_NAME and len(name) <= 40 for name in names)
    return names if short else parts(text)


def paths(text: str) -> frozenset[str]:
    """Names of files in ``text``; versions, fractions and addresses are none."""
    return frozenset(hit[0].rstrip(".") for hit in _PATH.finditer(text) if not _is_fraction(hit[0]))


def code(text: str) -> tuple[str, ...]:
    """What stands in backticks."""
    return tuple(_CODE.findall(text))


def exact_names(text: str) -> frozenset[str]:
    """What of ``text`` is of use only letter by letter: code, paths, numbers, names in capitals, flags."""
    return frozenset((*code(text), *paths(text), *_VALUE.findall(text)))


def covers(step: str, text: str, least: float = 0.6) -> bool:
    """Whether ``text`` speaks of what ``step`` says: most (``least``) of its content words are there."""
    wanted = frozenset(terms(step))
    if not wanted:
        return False
    wanted = frozenset(_root(word) for word in wanted)
    share = len(wanted & frozenset(_root(word) for word in terms(text))) / len(wanted)
    return share >= least or (share >= 0.5 and len(wanted) >= 4)


def _root(word: str) -> str:
    """What "delete" and "deletion", "migrate" and "migration" share."""
    if not (word.isascii() and word.isalpha()):
        return word
    if len(word) > _LONGEST_WORD:
        return word  # a name made of several
    return word[:5] if len(word) > 5 else word.rstrip("eiy")


def same(one: str, other: str) -> bool:
    """Whether two items say the same."""
    a, b = frozenset(terms(one)), frozenset(terms(other))
    if not a or not b:
        return one.casefold().strip(" .。") == other.casefold().strip(" .。")
    return len(a & b) / min(len(a), len(b)) >= 0.75 and len(a & b) / max(len(a), len(b)) >= 0.5


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts that do not say the same, the first of each."""
    kept: list[str] = []
    for text in map(tidy, texts):
        is_command = text.startswith("Command ")
        if (
            len(kept) < MAX_ITEMS_READ
            and text
            and not any(
                text == k or (not is_command and not k.startswith("Command ") and same(text, k)) for k in kept
            )
        ):
            kept.append(text)
    return tuple(kept)


def bare(text: str) -> str:
    """``text`` without marks around it."""
    text = text.strip(" -–—:：,，")
    first = find("order_word", text.lower())
    text = text[first.end() :] if first else text
    return _TAIL.sub("", text) if not text.endswith(("...", "…")) else text


def is_open_lead(lead: str) -> bool:
    """Whether a title, or what stands before a colon, introduces what is open."""
    shade = shadow(lead)
    if find("failed_lead", shade) or find("offer", shade):
        return False
    if find("next_lead", shade):
        return True
    is_short = 0 < len(lead) <= _LONGEST_LEAD
    return is_short and find("lead_word", shade) is not None and not find("describes", shade)


def is_small(text: str) -> bool:
    """Whether ``text`` has too little to be an item of its own."""
    return len(terms(text)) < 1 or len(text) < (2 if any(map(is_cjk, text)) else 4)


def _item(text: str, lead: str) -> Iterator[Piece]:
    box = _BOX.match(text)
    checked: bool | None = None
    if box is not None:
        checked, text = box[1] != " ", text[box.end() :]
    elif _TICK.match(text):
        checked = True
        text = _TICK.sub("", text, count=1) or text
    body = _flat(text)
    if body:
        yield Piece(body, shadow(body), lead, is_item=True, checked=checked)


def _sentences(line: str, lead: str) -> Iterator[Piece]:
    line = _flat(line)
    dark = shadow(line)
    begin = 0
    for hit in _STOP.finditer(dark):
        if hit[0] == "." and _NO_STOP.search(dark[max(begin, hit.start() - 8) : hit.start()]):
            continue
        yield from _piece(line[begin : hit.end()], lead)
        begin = hit.end()
    yield from _piece(line[begin:], lead)


def _piece(text: str, lead: str) -> Iterator[Piece]:
    text = text.strip()
    if len(text) > 1:
        text = text[:MAX_PIECE]
        checked = True if _TICK.match(text) else None
        yield Piece(text, shadow(text), lead, checked=checked)


def _flat(text: str) -> str:
    return " ".join(_EMPHASIS.sub("", text).split())


def _is_fraction(text: str) -> bool:
    return re.fullmatch(r"v?\d[\d.]*(?:/v?\d[\d.]*)*", text) is not None
