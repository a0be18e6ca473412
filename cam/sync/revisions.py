"""Corrections that name only the new value: "no, port 4100", "scratch that, it is `make e2e-ci` now".

The new value takes the place of the one of its kind in what was said before: in this session, else in the
one record that has such a value.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cam.core.extraction import Candidate
from cam.core.operations import Quote
from cam.core.records import MemoryRecord
from cam.language import candidates
from cam.language.claims import terms
from cam.language.lexicon import Language, spoken_in
from cam.language.statements import shadow

_KINDS = (
    ("code", re.compile(r"`[^`]+`")),
    ("release", re.compile(r"[A-Za-z][\w+#-]*(?:\.js)?\s+v?\d+(?:\.\d+)*(?![\w.]*\w)")),
    ("url", re.compile(r"https?://[^\s，。；、）)]+")),
    ("time", re.compile(r"\b\d{1,2}:\d\d(?!\d)(?: ?(?:am|pm|utc|gmt|cet|cest|est|pst))?", re.IGNORECASE)),
    ("version", re.compile(r"(?<![A-Za-z0-9_.])v?\d+(?:\.\d+)+(?![A-Za-z0-9_])")),
    ("port", re.compile(r"(?<![A-Za-z0-9_./-])\d{2,5}(?![A-Za-z0-9_./-]*[A-Za-z0-9_])")),
    ("path", re.compile(r"(?:~|\.{1,2})?/?(?:[\w.@*{}-]+/)+[\w.@*{}-]*|/[\w.-]+")),
    (
        "host",
        re.compile(r"(?<![A-Za-z0-9_.@/-])(?:[A-Za-z0-9-]{1,40}\.){1,4}[A-Za-z]{2,12}(?![A-Za-z0-9_(/])"),
    ),
    ("name", re.compile(r"(?<![A-Za-z0-9_./-])[A-Za-z][\w-]*\d[\w-]*(?![\w./-])")),
    ("number", re.compile(r"(?<![A-Za-z0-9_./-])\d+(?![A-Za-z0-9_./-]*[A-Za-z0-9_])")),
)


_OF_THE_MOMENT = frozenset({"language", "weekday"})
"""Families of which one text or one day has one, not a project."""


@dataclass(frozen=True, slots=True)
class NewValue:
    """A value that takes another's place.

    Attributes:
        text: as it was written.
        kind: ``instead`` where the text names the old value itself; else ``code``, ``release`` (a name and
            its version), ``url``, ``time`` (of day), ``version``, ``port``, ``path``, ``number``, ``tool`` or
            ``word``.
    """

    text: str
    kind: str


def replacement(body: str, languages: Iterable[Language]) -> NewValue | None:
    """The new value, if ``body`` is nothing but one (a pronoun and a copula may stand before it)."""
    shade = shadow(body)
    languages = tuple(languages)
    for lang in languages:
        hit = lang.search("ellipsis_not", shade)
        if hit is not None and len(hit.group("new").split()) <= 4:
            return NewValue(body[hit.start("new") : hit.end("new")].strip(" `"), "instead")
    for lang in languages:
        hit = lang.search("ellipsis", shade)
        if hit is None:
            continue
        text = body[hit.start("new") : hit.end("new")].strip(" .,!。，！'\"")
        for kind, pattern in _KINDS:
            whole = pattern.fullmatch(text)
            if whole is not None:
                return NewValue(text, kind)
        if candidates.tools_in(text) and len(text.split()) == 1:
            return NewValue(text, "tool")
        if text and len(text.split()) == 1 and len(text) > 2 and lang.search("names_it", shade):
            return NewValue(text, "word")
    return None


def base_for(
    new: NewValue, denied: Sequence[str], said: Sequence[Candidate], records: Sequence[MemoryRecord]
) -> Candidate | MemoryRecord | None:
    """What the new value corrects: the latest statement with a value of its kind, else the only record."""
    recent = said[-1:] if new.kind == "word" else said[-6:]
    for candidate in reversed(recent):
        if _old(candidate.summary, new, denied) is not None:
            return candidate
    if new.kind == "word":
        return None
    fitting = [r for r in records if _old(r.summary, new, denied) is not None]
    if new.kind == "number" and not denied:
        return None
    return fitting[0] if len(fitting) == 1 else None


def put_in(
    base: Candidate | MemoryRecord, new: NewValue, denied: Sequence[str] = ()
) -> tuple[str | None, str, tuple[Quote, ...]]:
    """The base's text with the new value, the old value, and the quotes the text rests on."""
    span = _old(base.summary, new, denied)
    if span is None:
        return None, "", ()
    old = base.summary[span[0] : span[1]]
    head, rest = base.summary[: span[0]], base.summary[span[1] :]
    # what the old statement denied is no longer the point
    rest = re.sub(
        r",?\s*(?:and )?(?:not|instead of|rather than)\s+\S+\s*$|[，,]\s*(?:而)?不(?:是|用)\s*\S+\s*$",
        "",
        rest,
    )
    return f"{head}{new.text}{rest}", old.strip("`"), base.quotes if isinstance(base, Candidate) else ()


def mentions(text: str, target: str) -> bool:
    """Whether ``text`` holds every content word of ``target``."""
    wanted = terms(target)
    have = set(terms(text))
    return bool(wanted) and all(w in have for w in wanted)


def is_specific(target: str) -> bool:
    """Whether ``target`` is more than one common word."""
    wanted = terms(target)
    return len(wanted) >= 2 or any(candidates.tools_in(w) or not w.isalpha() for w in wanted)


def _old(text: str, new: NewValue, denied: Sequence[str]) -> tuple[int, int] | None:
    """Where the value stands that ``new`` replaces."""
    if denied or new.kind == "instead":
        return next((span for value in denied for span in _where(text, value)), None)
    if new.kind == "word":
        return _last_words(text)
    if new.kind == "tool":
        return _other_tool(text, new.text)
    if new.kind == "release":
        name = new.text.split()[0].lower()
        named = (h for h in _KINDS[1][1].finditer(text) if h.group().split()[0].lower() == name)
        return next((h.span() for h in named if h.group().lower() != new.text.lower()), None)
    for kind, pattern in _KINDS:
        if kind == new.kind or {kind, new.kind} == {"port", "number"}:
            hits = [h for h in pattern.finditer(text) if h.group() != new.text]
            if hits:
                return hits[0].span()
    return None


def _where(text: str, value: str) -> Iterator[tuple[int, int]]:
    at = candidates.find_value(text, value)
    if at >= 0:
        yield at, at + len(value)


def rival(text: str, tool: str) -> str | None:
    """The name in ``text`` of which a project has one at a time, where it has ``tool`` instead."""
    if candidates.tools_in(tool).keys() <= _OF_THE_MOMENT:
        return None
    span = _other_tool(text, tool)
    return text[span[0] : span[1]] if span is not None else None


def _other_tool(text: str, tool: str) -> tuple[int, int] | None:
    """A name in ``text`` of the same family as ``tool``."""
    families = set(candidates.tools_in(tool))
    for hit in re.finditer(r"[A-Za-z0-9][\w.+-]*\w", text):
        if hit.group().lower() != tool.lower() and families & set(candidates.tools_in(hit.group())):
            return hit.span()
    return None


def _last_words(text: str) -> tuple[int, int] | None:
    """What stands after the verb of a short definition ("the main branch is called main")."""
    for lang in spoken_in(text):
        hits = list(lang.finditer("defines", text.lower()))
        if hits and 0 < len(text[hits[-1].end() :].split()) <= 3:
            return hits[-1].end(), len(text.rstrip(" ."))
    return None
