"""Languages as data: one YAML file each, read once, its patterns compiled when first used.

A file of ``cam/language/languages`` holds (docs/extraction.md, "Adding a language"):

``code``, ``name``
    what the language is called;
``script`` or ``words``
    how it is recognised: a pattern that must occur, or function words of which enough must occur;
``macros``
    named fragments, put in where a pattern says ``{{name}}``; those of ``_common.yaml`` hold for all;
``apostrophes``
    endings before which people leave the apostrophe out (``t`` for "dont"): patterns need not say so;
``vetoes`` and ``cues``
    lists of ``{name, act, level, match, unless}``: what a clause does and how strongly it says so;
    ``governs`` reaches over the clauses after it, ``cased`` is asked of the text as it was written;
``classes``
    kinds of words, in order: words, or ``{{macro}}``; languages that call them alike learn from each other;
``breaks``, ``joins``, ``opens``
    where a sentence falls into clauses, what clings to the clause before it and to the one after it;
``procedure``
    what introduces the steps of one thing, among which no clause begins ("when you cut a hotfix: …");
``stop``, ``light``
    words that say nothing by themselves; words that say no more than "is" or "is now" where two claims are
    asked whether they are about the same;
``fronts``, ``tails``
    courtesies and connectives that are not part of a fact;
``complaints``
    what stands in place of each group of the pattern ``complaint``, so that a rule results;
``scopes``, ``topics``, ``denials``, ``agreements``, ``proposals``, ``forgets``, ``addresses`` …
    what the other steps ask for by name.

What says how it is recognised stands before ``macros``: the rest is read when somebody speaks it.

Every pattern is searched in lower case, with code, quotations and links blanked out.
"""

import functools
import itertools
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from cam.core.extraction import SpeechAct

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FOLDER = os.path.join(os.path.dirname(__file__), "languages")
"""Where the data is."""
MARKS = os.path.join(FOLDER, "_marks.json")
"""By ``mark_key``: pieces of text of which whatever the rule matches holds one (``bench/marks.py``)."""
MARK_LENGTH = 4
"""Characters of a mark at most."""

_NOT_TOOLS = frozenset({"language", "merge", "indent", "quotes", "api style", "weekday"})
_MACRO = re.compile(r"\{\{(\w+)\}\}")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


class LazyPattern:
    """A regular expression that is compiled when it is first used.

    ``search``, ``match`` and ``finditer`` are those of ``re.Pattern``: once it is compiled, its own.
    """

    __slots__ = ("finditer", "match", "search", "source")

    search: Callable[..., re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]

    def __init__(self, source: str) -> None:
        self.source = source
        self.search = lambda *args: self._compiled().search(*args)
        self.match = lambda *args: self._compiled().match(*args)
        self.finditer = lambda *args: self._compiled().finditer(*args)

    def _compiled(self) -> re.Pattern[str]:
        pattern = re.compile(self.source)
        self.search, self.match, self.finditer = pattern.search, pattern.match, pattern.finditer
        return pattern


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern and what it says about a clause.

    Attributes:
        name: for the audit line.
        act: what the clause does.
        level: how strongly; a cue wins over vetoes of a lower level only.
        governs: whether the clauses after it in the same sentence stand under it too.
        cased: asked of the text as it was written, beside ``pattern``: what capitals tell.
    """

    name: str
    act: SpeechAct
    level: int
    pattern: LazyPattern
    unless: LazyPattern | None = None
    governs: bool = False
    cased: LazyPattern | None = None

    def matches(self, shadow: str, text: str) -> bool:
        """Whether ``shadow`` is such a clause, and ``text``, of which it is the shadow."""
        if self.pattern.search(shadow) is None:
            return False
        if self.cased is not None and self.cased.search(text) is None:
            return False
        return self.unless is None or self.unless.search(shadow) is None


class Rules:
    """Rules of one kind, strongest first.

    Attributes:
        all: each of them.
    """

    __slots__ = ("_always", "_marked", "_short", "all")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.all = tuple(rules)
        self._always = 0
        self._marked: dict[str, int] = {}  # rules by their marks, a bit each
        for number, rule in enumerate(self.all):
            marks = _marks().get(mark_key(rule.pattern.source))
            if not marks:
                self._always |= 1 << number
            for mark in marks or ():
                self._marked[mark] = self._marked.get(mark, 0) | 1 << number
        short = [mark for mark in self._marked if len(mark) < MARK_LENGTH and mark.isascii()]
        self._short = [(mark, self._marked.pop(mark)) for mark in short]

    def of(self, shadow: str) -> Iterator[Rule]:
        """Those whose marks stand in ``shadow``: no other can match it, and they are few."""
        bits, marked = self._always, self._marked
        for mark in marked.keys() & _pieces(shadow):
            bits |= marked[mark]
        for mark, theirs in self._short:
            if mark in shadow:
                bits |= theirs
        while bits:
            lowest = bits & -bits
            yield self.all[lowest.bit_length() - 1]
            bits ^= lowest


@functools.lru_cache(maxsize=64)
def _pieces(text: str) -> frozenset[str]:
    """All that are as long as marks; shorter ones too where a text is no ASCII: a word of Chinese has two."""
    shortest = MARK_LENGTH if text.isascii() else 1
    pieces: set[str] = set()
    for n in range(shortest, MARK_LENGTH + 1):
        pieces.update([text[i : i + n] for i in range(len(text) - n + 1)])
    return frozenset(pieces)


def mark_key(source: str) -> str:
    """How the marks of a pattern are found; of a pattern that was changed there are none."""
    return f"{zlib.crc32(source.encode()):08x}"


@functools.cache
def _marks() -> Mapping[str, list[str]]:
    try:
        with open(MARKS, encoding="utf-8") as file:
            return dict(json.load(file))
    except FileNotFoundError:
        return {}


@dataclass(frozen=True, slots=True)
class Language:
    """One language's data, ready for use."""

    code: str
    name: str
    vetoes: Rules
    cues: Rules
    named: Mapping[str, tuple[LazyPattern, ...]] = field(default_factory=dict)
    scopes: tuple[tuple[str, LazyPattern], ...] = ()
    topics: tuple[tuple[str, LazyPattern], ...] = ()
    stop: frozenset[str] = frozenset()
    light: frozenset[str] = frozenset()
    replacements: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[tuple[str, frozenset[str] | LazyPattern], ...] = ()

    def kind_of(self, word: str) -> str | None:
        """The class of a word; None where the language names none."""
        for name, members in self.classes:
            if word in members if isinstance(members, frozenset) else members.match(word):
                return name
        return None

    def search(self, name: str, text: str) -> re.Match[str] | None:
        """First hit of the patterns called ``name``; None where the language has none."""
        for pattern in self.named.get(name, ()):
            hit = pattern.search(text)
            if hit is not None:
                return hit
        return None

    def finditer(self, name: str, text: str) -> Iterator[re.Match[str]]:
        """All hits of the patterns called ``name``, pattern by pattern."""
        for pattern in self.named.get(name, ()):
            yield from pattern.finditer(text)


@functools.cache
def languages() -> tuple[Language, ...]:
    """All languages there are data for, by file name."""
    return tuple(_load(head.path) for head in _heads())


class _Head(NamedTuple):
    """How a language is recognised; its patterns are read when it is spoken."""

    path: str
    code: str
    script: re.Pattern[str] | None
    words: frozenset[str]


@functools.cache
def _heads() -> tuple[_Head, ...]:
    names = sorted(n for n in os.listdir(FOLDER) if n.endswith(".yaml") and not n.startswith("_"))
    return tuple(_read_head(os.path.join(FOLDER, name)) for name in names)


def _read_head(path: str) -> _Head:
    with open(path, encoding="utf-8") as file:
        lines = itertools.takewhile(lambda line: not line.startswith("macros:"), file)
        data = yaml.load("".join(lines), Loader=_LOADER)  # noqa: S506 - either one is a safe loader
    script = re.compile(data["script"]) if data.get("script") else None
    return _Head(path, data["code"], script, frozenset(str(data.get("words") or "").split()))


@functools.cache
def tool_families() -> Mapping[str, frozenset[str]]:
    """Names of which a project has one at a time: package managers, test runners, formatters …, by word."""
    data = _read(os.path.join(FOLDER, "_tools.yaml"))
    members: dict[str, set[str]] = {}
    for family, words in data["families"].items():
        for word in words:
            members.setdefault(str(word), set()).add(family)
    return {word: frozenset(families) for word, families in members.items()}


def spoken_in(text: str, within: str = "") -> tuple[Language, ...]:
    """Languages whose patterns may apply to ``text``, likeliest first; mixed text has several.

    Args:
        text: a clause or a sentence.
        within: the message it stands in; a few words alone say little of their language.
    """
    found = [_load(head.path) for head in _heads() if head.script is not None and head.script.search(text)]
    if found:
        # a script decides; the words between it ("以后 always use …") may be of any language
        return (*found, *_latin(text, least=3))
    return _latin(within or text, least=1) or _fallback()


def in_any_language(name: str, text: str) -> bool:
    """Whether a pattern called ``name`` of any language occurs in ``text`` (lower case)."""
    return any(lang.search(name, text) for lang in languages())


@functools.lru_cache(maxsize=512)
def _latin(text: str, least: int) -> tuple[Language, ...]:
    words = set(_WORD.findall(text[:2000].lower()))
    scored = [(len(words & head.words), head) for head in _heads() if head.words]
    best = max((score for score, _ in scored), default=0)
    if best < least:
        return ()
    chosen = [(score, head) for score, head in scored if score and score * 3 >= best * 2]
    return tuple(_load(head.path) for _, head in sorted(chosen, key=lambda pair: -pair[0]))


@functools.cache
def _fallback() -> tuple[Language, ...]:
    return tuple(_load(head.path) for head in _heads() if head.code == "en")


@functools.cache
def _load(path: str) -> Language:
    data = _read(path)
    macros: dict[str, str] = {"tool": _tool_macro()}
    common = _read(os.path.join(FOLDER, "_common.yaml"))["macros"]
    for name, source in (*common.items(), *(data.get("macros") or {}).items()):
        macros[name] = _expand(_joined(source), macros)
    loose = data.get("apostrophes")
    apostrophe = re.compile(f"'(?=(?:{loose})\\b)") if loose else None

    def pattern(source: Any) -> LazyPattern:
        full = _expand(_joined(source), macros)
        return LazyPattern(apostrophe.sub("'?", full) if apostrophe else full)

    def rules(key: str) -> Rules:
        """Strongest first; within a level as the data has them."""
        found = [
            Rule(
                entry["name"],
                SpeechAct(entry["act"]),
                int(entry["level"]),
                pattern(entry["match"]),
                pattern(entry["unless"]) if entry.get("unless") else None,
                bool(entry.get("governs")),
                pattern(entry["cased"]) if entry.get("cased") else None,
            )
            for entry in data.get(key) or ()
        ]
        return Rules(sorted(found, key=lambda rule: -rule.level))

    def pairs(key: str) -> tuple[tuple[str, LazyPattern], ...]:
        return tuple(
            (name, pattern(source)) for entry in data.get(key) or () for name, source in entry.items()
        )

    return Language(
        code=data["code"],
        name=data["name"],
        vetoes=rules("vetoes"),
        cues=rules("cues"),
        named={
            name: tuple(pattern(s) for s in ([source] if isinstance(source, str) else source))
            for name, source in (data.get("patterns") or {}).items()
        },
        scopes=pairs("scopes"),
        topics=pairs("topics"),
        stop=frozenset(str(w) for w in (data.get("stop") or "").split()),
        light=frozenset(str(w) for w in (data.get("light") or "").split()),
        replacements=data.get("complaints") or {},
        classes=tuple(
            (name, pattern(f"(?:{source})$") if "{{" in source else frozenset(source.split()))
            for name, source in (data.get("classes") or {}).items()
        ),
    )


@functools.cache
def tool_names() -> frozenset[str]:
    """Names of tools and services, in lower case."""
    data = _read(os.path.join(FOLDER, "_tools.yaml"))
    names = {str(n) for family, words in data["families"].items() if family not in _NOT_TOOLS for n in words}
    return frozenset(names | {str(n) for n in data["services"]})


@functools.cache
def _tool_macro() -> str:
    """A fragment that matches any known tool or service, longest names first."""
    ordered = sorted((n for n in tool_names() if n.isascii()), key=lambda n: (-len(n), n))
    return f"(?:{'|'.join(re.escape(n) for n in ordered)})(?![\\w])"


@functools.cache
def _read(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=_LOADER)  # noqa: S506 - either one is a safe loader


def _joined(source: str | list[str]) -> str:
    """A pattern is one text, or a list of alternatives."""
    return source.strip() if isinstance(source, str) else "|".join(f"(?:{s.strip()})" for s in source)


def _expand(source: str, macros: Mapping[str, str]) -> str:
    return _MACRO.sub(lambda hit: macros[hit.group(1)], source)
