"""From a judged clause to a candidate: one fact, in the person's own words."""

import functools
import hashlib
import re
from collections.abc import Iterable

from cam.language.lexicon import Language, spoken_in, tool_families
from cam.language.statements import BLANK_CODE, shadow

_ALSO = re.compile(r"`?\s*(?:or|nor|and|oder|und|ni|y|ou|或|和|や|、|/)\s*`?([^\s,;.，。]+)")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+(?:[-'./_@+#:][^\W_]+)*", re.UNICODE)
_EDGE = " \t\r\n,;:，、；：。.!！-–—*~"
_BEFORE = _EDGE + ">"  # a mark of quotation; at the end it closes "<name>"
_PAIRS = (("(", ")"), ("（", "）"), ('"', '"'), ("“", "”"), ("「", "」"), ("'", "'"))


def digest(text: str) -> str:
    """First 12 hex of SHA-256: names a statement in its session."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def fact_text(text: str, languages: Iterable[Language]) -> str:
    """The clause without courtesies, connectives and the words that address memory; one line."""
    body = _SPACE.sub(" ", text).lstrip(_BEFORE).rstrip(_EDGE)
    languages = tuple(languages)
    for _ in range(8):
        cut = _front(shadow(body), languages)
        if not 0 < cut < len(body):
            break
        body = body[cut:].lstrip(_BEFORE)
    shade = shadow(body)
    for lang in languages:
        hit = lang.search("tail", shade)
        if hit is not None and hit.start() > 0:
            body = body[: hit.start()]
            break
    return _unpaired(body.strip(_EDGE))


def as_rule(text: str, languages: Iterable[Language]) -> str:
    """A complaint as what it asks for: "you keep adding X" → "don't keep adding X"; else ``text``.

    Read as it stands, a complaint describes what is to end as if it were the custom.
    """
    shade = shadow(text)
    for lang in languages:
        hit = lang.search("complaint", shade)
        if hit is not None and not lang.search("prohibits", shade):
            groups = hit.groupdict()
            for name, words in lang.replacements.items():
                if groups.get(name) is not None:
                    return f"{words}{text[hit.end() :]}"
    return text


def _front(shade: str, languages: tuple[Language, ...]) -> int:
    for lang in languages:
        hit = lang.search("front", shade)
        if hit is not None and hit.start() == 0:
            return hit.end()
    return 0


def _unpaired(body: str) -> str:
    """Without brackets and quotation marks around the whole, or left over from what was cut."""
    for left, right in _PAIRS:
        if body.startswith(left) and body.endswith(right) and body.count(left) + body.count(right) == 2:
            body = body[1:-1].strip()
    for left, right in _PAIRS[:2]:
        if body.count(left) < body.count(right) and body.endswith(right):
            body = body[:-1].rstrip()
        if body.count(left) > body.count(right) and body.startswith(left):
            body = body[1:].lstrip()
    return body


def says_something(text: str, languages: Iterable[Language]) -> bool:
    """Whether ``text`` is more than a word or a pointer to something said elsewhere."""
    languages = tuple(languages)
    stop = frozenset().union(*(lang.stop for lang in languages))
    every = words_of(text)
    words = [w for w in every if w not in stop]
    cjk = sum(1 for c in text if is_cjk(c))
    if cjk >= 4 or BLANK_CODE in shadow(text):
        return bool(words)
    if len(every) >= 2 and tools_in(text):
        return True  # "use vitest"
    return len(words) + cjk // 2 >= 2 or (len(words) == 1 and len(every) >= 3)


MASKED = re.compile(r"\[(?:secret|masked|redacted)[^\]\n]{0,60}\]", re.IGNORECASE)
_PLACE = re.compile(r"https?://|¤{3,}|\S+/\S+|\b\d{2,5}\b|\S+\.\w{2,4}\b")


def only_announces_a_secret(text: str, languages: Iterable[Language], *, least: int) -> bool:
    """Whether nothing but a masked secret is said, and words that announce it.

    Args:
        text: with its secrets masked.
        languages: of the text.
        least: telling words that make it say something all the same.
    """
    if not MASKED.search(text):
        return False
    rest = MASKED.sub(" ", text)
    if _PLACE.search(rest):
        return False
    langs = tuple(languages)
    stop = frozenset().union(*(lang.stop for lang in langs))
    plain = [
        w
        for w in words_of(rest)
        if w not in stop and not any(lang.search("secret_word", w) for lang in langs)
    ]
    return len(plain) < least and sum(map(is_cjk, rest)) < 14


def words_of(text: str) -> list[str]:
    """Words of ``text`` in lower case; paths, versions and names with dots stay whole."""
    return _WORD.findall(text.lower())


def is_cjk(char: str) -> bool:
    """Whether ``char`` belongs to a script without spaces between words."""
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af"


def denials(text: str, languages: Iterable[Language] | None = None) -> tuple[str, ...]:
    """What ``text`` says is not, or no longer, so ("port 4100, not 3000" → ``3000``)."""
    found: list[str] = []
    low = _plain(text)
    for lang in languages or spoken_in(text):
        for hit in lang.finditer("deny", low):
            value = hit.group("denied").strip(" `'\"*.,;:，。；、")
            if value and value not in found:
                found.append(value)
            names = [word for word in value.split() if _NAMES_A_PLACE.search(word)]
            if len(names) == 1 and names[0] not in found:
                found.append(names[0])  # "the hosts.ini inventory is dead": so is hosts.ini
            more = _ALSO.match(low, hit.end("denied"))
            if more is not None and set(tools_in(more.group(1))) & set(tools_in(value)):
                found.append(more.group(1))
    return tuple(found)


_NAMES_A_PLACE = re.compile(r"[^\W\d][./_]\w")


def find_value(text: str, value: str) -> int:
    """Where ``value`` stands last in ``text`` as a word of its own (no "npm" in "pnpm"); -1 if nowhere."""
    low, value = text.lower(), value.lower()
    at = low.rfind(value)
    while at >= 0:
        before, after = low[at - 1 : at], low[at + len(value) : at + len(value) + 1]
        if not (_joins(before, value[:1]) or _joins(value[-1:], after)):
            return at
        at = low.rfind(value, 0, at + len(value) - 1)
    return -1


def _joins(left: str, right: str) -> bool:
    return left.isascii() and right.isascii() and left.isalnum() and right.isalnum()


def enumerated(text: str, languages: Iterable[Language]) -> tuple[str, ...]:
    """The facts of a list such as "we use A, B and C"; ``text`` alone where it is none."""
    for lang in languages:
        hit = lang.search("enumerate", shadow(text))
        if hit is None:
            continue
        frame = text[: hit.end("frame")]
        items = re.split(r",?\s+and\s+|,\s+", text[hit.start("items") : hit.end("items")])
        items = [item.strip() for item in items if item.strip()]
        if len(items) >= 3 and all(len(item.split()) <= 4 for item in items):
            return tuple(f"{frame}{item}" for item in items)
    return (text,)


def tools_in(text: str) -> dict[str, set[str]]:
    """Names of tools in ``text`` by family ("package manager js" → ``{"pnpm"}``)."""
    families = tool_families()
    low = _plain(text)
    found: dict[str, set[str]] = {}
    for word in _TOOL_WORD.findall(low):
        for family in families.get(word, ()):
            found.setdefault(family, set()).add(word)
    if not low.isascii():
        for word in unspaced_tools():
            if word in low:
                for family in families[word]:
                    found.setdefault(family, set()).add(word)
    return found


def family(name: str) -> frozenset[str]:
    """All names of the family called ``name``."""
    return frozenset(word for word, families in tool_families().items() if name in families)


_TOOL_WORD = re.compile(r"[a-z0-9][a-z0-9.+-]*[a-z0-9]|[a-z]")


@functools.cache
def unspaced_tools() -> tuple[str, ...]:
    """Names of ``tool_families`` in scripts without spaces."""
    return tuple(word for word in tool_families() if is_cjk(word[0]))


def _plain(text: str) -> str:
    return text.lower().replace("’", "'").replace("\n", " ")
