"""What a text claims, in a form in which two claims can be compared: subject, values, what it denies.

Words are folded (case, plural, simple verb endings); scripts without spaces are compared by pairs of
characters. Nothing here decides what wins: that is review's part.
"""

import functools
import re
import unicodedata
from dataclasses import dataclass

from cam.core.tombstones import normal
from cam.language import candidates
from cam.language.lexicon import Language, spoken_in, tool_names

_VALUE = re.compile(
    r"`(?P<code>[^`]+)`|(?P<url>https?://[^\s，。；、）)]+)"
    r"|(?P<host>(?<![A-Za-z0-9_.@/-])(?:[A-Za-z0-9-]{1,40}\.){1,4}[A-Za-z]{2,12}(?![A-Za-z0-9_(/]))|(?P<version>\bv?\d+(?:\.\d+)+\b)"
    r"|(?P<number>(?<![A-Za-z0-9_./-])\d{1,6}(?![A-Za-z0-9_./-]*[A-Za-z0-9_]))"
    r"|(?P<path>(?:~|\.{1,2})?/?(?:[\w.@*{}-]+/)+[\w.@*{}-]*|/[\w.-]+)"
)
_NAME_BEFORE = re.compile(r"([A-Za-z][\w+#.-]*)\s*$")
_CJK_BOUNDS = re.compile(
    r"(每?(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?)|(?:改|换|切|迁|迁移|移|挪|搬|推迟|提前)(?:到|成|为|至)|不\w了"
)
"""Days, which are values, and verbs of change: pairs of characters do not reach over them."""
_ASIDE = re.compile(r"\([^()\n]{1,120}\)|（[^（）\n]{1,120}）")
_CJK_STOP = frozenset(
    "的了是在和与及或就都也还要把被给让用我你他它们这那个里中上下吧吗呢啊着过一之为以从到对于"
    "请再先时候现已经不没有必须应该需要每"
)
_ASCII_STOP = frozenset(
    "a an the and or of to in on at for by with is are was be it its this that we our you your i "
    "my as from via do does not no never always only also just now please all any every each "
    "should must can will has have use uses used using run runs running here there repo stop avoid quit "
    "repository project codebase than instead rather so if when then".split()
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A text, ready for comparison.

    Attributes:
        key: the text's normal form; equal keys say the same.
        words: content words in order, what is denied left out.
        denied: words of what is denied.
        negative: whether it forbids.
        values: code, links, paths, versions and numbers that it asserts.
        tools: asserted names of tools by family.
        limits: words of phrases that limit where it holds ("in the docs folder").
    """

    text: str
    key: str
    words: tuple[str, ...]
    denied: frozenset[str]
    denials: tuple[str, ...]
    negative: bool
    values: tuple[tuple[str, str], ...]
    tools: dict[str, frozenset[str]]
    limits: frozenset[str]

    @property
    def content(self) -> frozenset[str]:
        """Asserted content words."""
        return frozenset(self.words)


@functools.lru_cache(maxsize=8192)
def claim(text: str, said_denials: tuple[str, ...] = ()) -> Claim:
    """Read ``text``; ``said_denials`` are values known to be denied beside those found in it."""
    langs = spoken_in(text)
    denials = tuple(dict.fromkeys((*said_denials, *candidates.denials(text, langs))))
    asserted = _without(text, denials)
    values = tuple(
        (_kind(hit, asserted), hit.group(hit.lastgroup or 0).strip("`.,:").lower())
        for hit in _VALUE.finditer(asserted)
    )
    stop = frozenset().union(*(lang.stop for lang in langs))
    limits: set[str] = set()
    low = asserted.lower()
    for lang in langs:
        for hit in lang.finditer("limits", low):
            limits.update(terms(hit.group("limit")))
    return Claim(
        text=text,
        key=normal(text),
        words=_content(_without_asides(asserted, langs), stop),
        denied=frozenset(t for d in denials for t in terms(d)),
        denials=denials,
        negative=_negative(text, denials, langs),
        values=values,
        tools={family: frozenset(names) for family, names in candidates.tools_in(asserted).items()},
        limits=frozenset(limits) - {t for _, v in values for t in terms(v)},
    )


def _kind(hit: re.Match[str], text: str) -> str:
    """What kind of value it is; the number after a tool's name ("node 20") is that tool's."""
    kind = hit.lastgroup or ""
    if kind in ("number", "version"):
        before = _NAME_BEFORE.search(text, 0, hit.start())
        if before is not None and before.group(1).lower() in tool_names():
            return f"{kind} of {before.group(1).lower()}"
    return kind


@functools.lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """Content words of ``text``, folded."""
    stop = frozenset().union(*(lang.stop for lang in spoken_in(text)))
    return _content(text, stop)


def _content(text: str, stop: frozenset[str]) -> tuple[str, ...]:
    return tuple(_words(text, stop | _ASCII_STOP))


def _words(text: str, stop: frozenset[str]) -> list[str]:
    found: list[str] = []
    for word in candidates.words_of(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        if word in stop:
            continue
        if word.isascii():
            found.append(fold(word))
            continue
        run = ""
        for char in _bounded(word):
            if candidates.is_cjk(char):
                if run:
                    found.append(fold(run))
                    run = ""
                found.append(char)
            elif char != " ":
                run += char
            else:
                found.append("的")  # ends a pair
        if run:
            found.append(fold(run))
    return [w for w in _paired(found) if w not in stop]


def _bounded(word: str) -> str:
    """``word`` with spaces where a pair of characters would reach into a value."""
    word = _CJK_BOUNDS.sub(r" \1 ", word)
    for name in candidates.unspaced_tools():
        if name in word:
            word = word.replace(name, f" {name} ")
    return word


def _paired(tokens: list[str]) -> list[str]:
    """Single characters of a script without spaces become pairs; stop characters end a pair."""
    out: list[str] = []
    previous = ""
    for token in tokens:
        if len(token) == 1 and candidates.is_cjk(token):
            if token in _CJK_STOP or "\u3040" <= token <= "\u309f":  # hiragana: grammar, for the most part
                previous = ""
                continue
            if previous:
                out.append(previous + token)
            previous = token
        else:
            previous = ""
            out.append(token)
    return out


def fold(word: str) -> str:
    """A word without plural and simple verb endings; names with digits, dots or slashes stay."""
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isalpha() or not word.isascii():
        return word
    for ending, least in (("ing", 3), ("ies", 2), ("ed", 3), ("es", 3), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            stem = word[: -len(ending)]
            if ending == "ies":
                return stem + "y"
            if len(stem) > 3 and stem[-1] == stem[-2] and ending in {"ing", "ed"}:
                stem = stem[:-1]
            return stem.rstrip("e") if len(stem) > 3 else stem
    return word.rstrip("e") if len(word) > 4 else word


def _without(text: str, denials: tuple[str, ...]) -> str:
    """``text`` without the values it denies."""
    for denied in denials:
        at = candidates.find_value(text, denied)
        if at >= 0:
            text = f"{text[:at]} {text[at + len(denied) :]}"
    return text


def _without_asides(text: str, langs: tuple[Language, ...]) -> str:
    """``text`` without brackets and words of time, which are no part of what it is about."""
    text = _ASIDE.sub(" ", text)
    for lang in langs:
        low = text.lower()
        for hit in lang.finditer("aside", low):
            text = f"{text[: hit.start()]}{' ' * (hit.end() - hit.start())}{text[hit.end() :]}"
    return text


def _negative(text: str, denials: tuple[str, ...], langs: tuple[Language, ...]) -> bool:
    """Whether ``text`` forbids; a value that it denies in passing does not count."""
    low = text.lower()
    for denied in denials:
        at = candidates.find_value(low, denied)
        if at < 0:
            continue
        head = low[:at]
        for lang in langs:
            hit = lang.search("denying", head.rstrip())
            if hit is not None:
                head = head[: hit.start()]
                break
        low = f"{head} {low[at + len(denied) :]}"
    return any(lang.search("negation", low) for lang in langs)
