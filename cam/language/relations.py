"""What two sentences are to each other: the same, one within the other, or one against the other. Pure."""

import functools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate

from cam.language import candidates
from cam.language.claims import Claim, claim, fold, terms
from cam.language.lexicon import spoken_in


class Relation(StrEnum):
    """How a candidate stands to a record."""

    SAME = "same"
    NARROWER = "narrower"
    WIDER = "wider"
    CONTRADICTS = "contradicts"
    REPLACES = "replaces"
    UNCERTAIN = "uncertain"
    NONE = "none"


def relation(candidate: Claim, record: Claim, *, corrects: bool = False) -> Relation:
    """How what ``candidate`` claims stands to what ``record`` claims."""
    if candidate.key == record.key:
        return Relation.SAME
    if _flips(candidate, record, corrects=corrects):
        return Relation.CONTRADICTS
    denied = _denies(candidate, record)
    if denied is not Relation.NONE:
        return denied
    if _differs_in_value(candidate, record, corrects=corrects):
        return Relation.CONTRADICTS
    covers = _covers(candidate, record)
    if covers is Relation.NONE and (corrects or tells_of_change(candidate.text)):
        return _replaces(candidate, record)
    return covers


def tells_of_change(text: str) -> bool:
    """Whether ``text`` says that something is no longer as it was: "now", "since", "renamed", "no longer"."""
    low = text.lower()
    return any(lang.search("changes", low) for lang in spoken_in(text))


def likeness(mine: Claim, other: Claim) -> float:
    """How much of what ``other`` is about ``mine`` is about too, from 0 to 1."""
    a, b = subject(mine.text), subject(other.text)
    return _weight(a & b) / _weight(b) if b else 0.0


def _replaces(mine: Claim, other: Claim) -> Relation:  # noqa: C901, PLR0911 - one reason a line
    """Whether ``mine`` tells of a change in what ``other`` is about: named as gone, or all but named."""
    if other.limits - frozenset(terms(mine.text)) or (mine.limits and not mine.limits <= other.content):
        return Relation.NONE
    if mine.limits and other.limits:
        return Relation.NONE  # the exception that mine makes
    for lang in spoken_in(mine.text):
        hit = lang.search("exception", mine.text.lower())
        if hit is not None and subject(hit.group("rest")) & subject(other.text):
            return Relation.NONE
    a, b = subject(mine.text), subject(other.text)
    said_of = _said_of(other.text)
    gone = denied_of(mine.text, other.text)
    if gone and not frozenset(terms(gone)) <= other.denied:  # else both say that it is not so
        left = b - _folded(gone)
        shared = _weight(a & left)
        plain = not gone.isalpha() and _weight(left) <= 4
        if not left or (shared >= 1 and (plain or shared * 2 >= _weight(left))):
            return Relation.CONTRADICTS
    if said_of is None or not said_of <= _folded(mine.text):
        return Relation.NONE  # it is about something else
    if _other_name(mine, other, a, b):
        return Relation.CONTRADICTS
    kinds = [{kind for kind, _ in c.values} for c in (mine, other)]
    if all(kinds) and not kinds[0] & kinds[1]:
        return Relation.NONE  # another thing is said of it
    news = a - b or {v for _, v in mine.values} - {v for _, v in other.values}
    shared, rest = _weight(a & b), _weight(b - a)
    if not news or shared < 1 or shared * 2 < _weight(b) or rest > 2 or _weight(a - b) > 4:
        return Relation.NONE
    return Relation.NONE if _DESCRIBES.search(other.text.rstrip(".! ")) else Relation.REPLACES


def _other_name(mine: Claim, other: Claim, a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether both name one of a kind, of the same thing: a tool of one family, a version of one tool."""
    for family in mine.tools.keys() & other.tools.keys() - _OF_A_TEXT:
        names = mine.tools[family] | other.tools[family]
        if not mine.tools[family] & other.tools[family]:
            left = b - frozenset().union(*map(_folded, names))
            if _weight(a & left) * 2 >= _weight(left):
                return True
    versions = {k: v for k, v in mine.values if " of " in k}
    for kind, value in other.values:
        same = kind.rsplit(" of ", 1)[-1]
        new = {v for k, v in versions.items() if k.rsplit(" of ", 1)[-1] == same}
        if new and value not in new and _weight(b - a - _folded(same)) <= 1:
            return True
    return False


def _said_of(text: str) -> frozenset[str] | None:
    """The words before the verb of ``text``; None where there is no verb that is known."""
    low = text.lower()
    found = [hit for lang in spoken_in(text) if (hit := lang.search("predicate", low)) is not None]
    return _folded(text[: min(hit.start() for hit in found)]) if found else None


_DESCRIBES = re.compile(r"\b(?:is|are) \w+(?:ed|able|ible|ful|only)$")
_OF_A_TEXT = frozenset({"language", "weekday"})


def denied_of(text: str, known: str) -> str:
    """The word of ``known`` that ``text`` says is no longer so; "" if none."""
    langs = spoken_in(text)
    low = text.lower()
    for word in candidates.words_of(known):
        at = candidates.find_value(low, word)
        if not terms(word) or any(word in lang.light for lang in langs):
            continue
        if at < 0 and not word.isalpha() and len(word) > 3:
            at = low.find(word)
        if at < 0 and not word.isalpha():
            head = re.split(r"[.:/]", word)[0]
            at = candidates.find_value(low, head) if len(head) > 3 else -1
            word = head if at >= 0 else word  # noqa: PLW2901 - "stg-03" for "stg-03.lab.example"
        if at < 0:
            continue
        before, after = low[max(0, at - 40) : at], low[at + len(word) :][:40]
        if any(lang.search("denies_next", before) or lang.search("gone_next", after) for lang in langs):
            place = known.lower().find(word)
            return known[place : place + len(word)] if place >= 0 else word
    return ""


@functools.lru_cache(maxsize=8192)
def subject(text: str) -> frozenset[str]:
    """What ``text`` is about: beginnings of its content words, without values, verbs of place, of change."""
    light = frozenset().union(*(lang.light for lang in spoken_in(text)))
    words = {
        part
        for word in terms(text)
        for part in (map(fold, word.split("-")) if word.replace("-", "").isalpha() else (word,))
        if part not in light and part not in _PLACING and part not in _CHANGE
    }
    return frozenset(_start(word) for word in words if not any(c.isdigit() or c in "/.:@_" for c in word))


def _folded(text: str) -> frozenset[str]:
    return frozenset(_start(part) for word in terms(text) for part in word.split("-"))


def _start(word: str) -> str:
    return word if candidates.is_cjk(word[:1]) else word[:5]


def contradicts(text: str, known: Sequence[str]) -> list[int]:
    """Which of ``known`` no longer hold once a person has stated ``text``: their numbers, from 0.

    Where many are about the same, the ``CLOSEST`` are compared: two texts that contradict each other share
    most of their words.
    """
    mine = claim(text)
    near = closest(clues(mine), known)
    return [n for n in near if relation(mine, claim(known[n])) is Relation.CONTRADICTS]


CLOSEST = 100
"""Texts that are compared word for word with a new one; a comparison costs 0.15 ms."""


def closest(words: frozenset[str], texts: Sequence[str], most: int = CLOSEST) -> list[int]:
    """Numbers of those of ``texts`` that hold one of ``words`` at least, ascending.

    Where they are more than ``most``: those that hold most of them, shorter ones first.
    """
    lows = [text.lower().replace("\n", " ") for text in texts]
    whole = "\n".join(lows)
    starts = [0, *accumulate(len(low) + 1 for low in lows)]
    hits: Counter[int] = Counter()
    for word in words:
        hits.update(set(_texts_with(word, whole, starts)))
    if len(hits) > most:
        ranked = sorted(hits, key=lambda n: (-hits[n], len(lows[n]), n))
        return sorted(ranked[:most])
    return sorted(hits)


def _texts_with(word: str, whole: str, starts: Sequence[int]) -> Iterator[int]:
    """Numbers of the texts that hold ``word``, given where each begins in ``whole``."""
    at = whole.find(word)
    while at >= 0:
        number = bisect_right(starts, at) - 1
        yield number
        at = whole.find(word, starts[number + 1])


def clues(mine: Claim) -> frozenset[str]:
    """What a text must hold one of to be about the same: beginnings of words, names of like tools."""
    found = {w[:5] for w in (*mine.words, *mine.denied) if len(w) > 1}
    found |= {w.lower() for w in mine.denials}
    found |= {kind.rsplit(" ", 1)[1] for kind, _ in mine.values if " of " in kind}
    for family in mine.tools:
        found |= candidates.family(family)
    return frozenset(found)


def is_near(words: frozenset[str], text: str) -> bool:
    """Whether ``text`` may be about the same; a first test that costs next to nothing."""
    return any(map(text.lower().__contains__, words))


def _flips(mine: Claim, other: Claim, *, corrects: bool) -> bool:
    """The same words, once asked for and once forbidden."""
    if mine.negative == other.negative or not mine.content or other.limits - mine.content:
        return False
    if corrects and len(other.content) >= 2 and len(other.content & mine.content) >= 0.8 * len(other.content):
        return True
    if mine.denials or other.denials:
        return False
    return _alike(mine.content, other.content) >= 0.8 and mine.limits == other.limits


def _denies(mine: Claim, other: Claim) -> Relation:
    """Whether ``mine`` says that what ``other`` asserts is not so."""
    if not mine.denials or not (other.limits <= (mine.limits | mine.content)):
        return Relation.NONE
    if mine.limits and mine.limits <= other.content and other.limits:
        return Relation.NONE  # the exception that mine makes
    for denied in mine.denials:
        wanted = frozenset(terms(denied)) or frozenset({denied.lower()})
        if not wanted <= other.content or wanted <= mine.content:
            continue
        rest = other.content - wanted
        shared = rest & mine.content
        family = {f for f, names in other.tools.items() if denied.lower() in names}
        others = frozenset(t for names in other.tools.values() for t in names)
        if family and _is_used(denied, other.text) and _weight(rest - others) <= 4:
            return Relation.CONTRADICTS
        if not rest or len(shared) * 2 >= len(rest):
            return Relation.CONTRADICTS
        if _is_used(denied, other.text) and len(rest) <= 3 and not denied.isdigit():
            return Relation.CONTRADICTS
    return Relation.NONE


def _weight(words: frozenset[str]) -> float:
    """How many words; a word of a script without spaces is about two pairs of characters."""
    return sum(0.5 if candidates.is_cjk(w[0]) else 1 for w in words)


def _is_used(name: str, text: str) -> bool:
    """Whether ``text`` tells to use ``name``, or says what it is, rather than something about it."""
    low = text.lower()
    at = candidates.find_value(low, name)
    if at < 0:
        return False
    before, after = low[:at], low[at + len(name) :]
    return any(
        lang.search("uses", before) or (at < 3 and lang.search("is_the", after)) for lang in spoken_in(text)
    )


def _differs_in_value(mine: Claim, other: Claim, *, corrects: bool) -> bool:
    """The same said of the same thing, with another value."""
    if not corrects and (mine.negative != other.negative or _of_another_thing(mine, other)):
        return False
    if not (other.limits <= (mine.limits | mine.content)) or (
        mine.limits and not mine.limits <= other.content
    ):
        return False
    named = (n for tools in (*mine.tools.values(), *other.tools.values()) for n in tools)
    names = frozenset(t for name in named for t in (name, *terms(name)))
    for family in mine.tools.keys() & other.tools.keys():
        a, b = mine.tools[family], other.tools[family]
        if a & b:
            continue
        left, right = mine.content - names, other.content - names
        if _same_subject(left, right, corrects=corrects):
            return True
    for kind in {k for k, _ in mine.values} & {k for k, _ in other.values}:
        said = [[v for k, v in c.values if k == kind] for c in (mine, other)]
        a, b = map(frozenset, said)
        if a & b or (min(map(len, said)) > 1 and not corrects):
            continue  # "node 1 is on 9001", "node 2 is on 9002": another value of another thing
        gone = frozenset(t for v in (a | b) for t in terms(v))
        left, right = mine.content - gone, other.content - gone
        if left and right and _same_subject(left, right, corrects=corrects):
            return True
        if kind in _NAMES_ONE and _same_lead(mine, other, said[0][0], said[1][0]):
            return True
    apart = _one_word_apart(mine, other)
    return (
        _same_frame(mine, other)
        or (apart is not None and _another_version(*apart))
        or (corrects and (_same_copula(mine, other) or apart is not None))
    )


def _of_another_thing(mine: Claim, other: Claim) -> bool:
    """Whether one word alone of what each is about differs beside the values: "ward cardio", "ward neuro"."""
    gone = {t for c in (mine, other) for _, value in c.values for t in terms(value)}
    gone |= {t for c in (mine, other) for names in c.tools.values() for n in names for t in (n, *terms(n))}
    a, b = ([w for w in c.words if w not in gone] for c in (mine, other))
    if len(a) != len(b):
        return False
    at = [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    if len(at) != 1 or at[0] == len(a) - 1:
        return False
    return not any(lang.search("predicate", c[at[0]]) for c in (a, b) for lang in spoken_in(mine.text))


_MOST_OF = 0.65
"""Share of a longer claim's words that a shorter one holds; the same both ways, so rereading is stable."""

_CHANGE = frozenset("mov migrat switch renam chang convert now nowaday meanwhil since".split())


def _one_word_apart(mine: Claim, other: Claim) -> tuple[str, str] | None:
    """The one word in which they differ, if they do in no other: "Ann owns search now", "Bob owns search"."""
    a, b = ([w for w in c.words if w not in _CHANGE] for c in (mine, other))
    if len(a) != len(b) or len(a) < 2:
        return None
    apart = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    return apart[0] if len(apart) == 1 else None


_VERSIONED = re.compile(
    r"(es|ecma|jdk|java|node|python|py|php|ruby|go|net|pg|postgres|ubuntu|debian|ios|android|cuda|c\+\+)"
    r"-?\d[\w.]*"
)


def _another_version(one: str, other: str) -> bool:
    """Whether both name versions of one thing: "es2020", "es2022"."""
    a, b = (_VERSIONED.fullmatch(word) for word in (one, other))
    return a is not None and b is not None and a[1] == b[1]


_PLACING = frozenset(
    terms(
        "tracked kept lives living located stored hosted sits found put filed managed handled done lands "
        "happens listens listening port reachable exposed bound written called named goes"
    )
)
"""Verbs that say no more than "is": left out where two claims are asked whether they have one subject."""


def _same_subject(left: frozenset[str], right: frozenset[str], *, corrects: bool) -> bool:
    left, right = left - _PLACING - _CHANGE, right - _PLACING - _CHANGE
    if not left and not right:
        return True
    if _alike(left, right) >= 0.6:
        return True
    return corrects and (right <= left or (bool(left) and left <= right)) and len(left ^ right) <= 3


_NAMES_ONE = frozenset({"host", "version", "url", "path", "number"})


def _same_lead(mine: Claim, other: Claim, new: str, old: str) -> bool:
    """Whether the same words lead to both values: "the test database is at X, schema qa", "… is at Y"."""
    leads = []
    for said, value in ((mine, new), (other, old)):
        at = candidates.find_value(said.text, value)
        leads.append(frozenset(terms(said.text[: max(at, 0)])) - _PLACING - _CHANGE)
    return leads[0] == leads[1] and _weight(leads[0]) >= 1.5


def _same_frame(mine: Claim, other: Claim) -> bool:
    """Whether the verb takes one value: "deploys run from main", "deploys run from the release branch"."""
    kinds = [{kind for kind, _ in c.values} for c in (mine, other)]
    if all(kinds) and not kinds[0] & kinds[1]:
        return False  # "listens on port 3100", "runs on node 20": each says something of its own
    for lang in spoken_in(mine.text):
        a, b = (lang.search("single_valued", c.text.lower()) for c in (mine, other))
        if a is None or b is None:
            continue
        subjects = [frozenset(terms(c.text[: hit.start()])) for c, hit in ((mine, a), (other, b))]
        tails = [frozenset(terms(c.text[hit.end() :])) for c, hit in ((mine, a), (other, b))]
        same_verb = a.group().split() == b.group().split() and len(a.group().split()) >= 2
        if (
            (subjects[0] or same_verb)
            and subjects[0] == subjects[1]
            and all(tails)
            and (not tails[0] & tails[1] or _one_word_apart(mine, other) == (mine.words[-1], other.words[-1]))
        ):
            return True
    return False


def _same_copula(mine: Claim, other: Claim) -> bool:
    """Whether both say what one thing is, in a few words that differ."""
    for lang in spoken_in(mine.text):
        a, b = (lang.search("copula", c.text.lower()) for c in (mine, other))
        if a is None or b is None:
            continue
        subjects = [frozenset(terms(c.text[: hit.start()])) for c, hit in ((mine, a), (other, b))]
        # What stands behind a comma explains it: "ids are ULIDs, the old ones were integers".
        said = [c.text[hit.end() :] for c, hit in ((mine, a), (other, b))]
        tails = [frozenset(terms(re.split("[,;，；]", text, maxsplit=1)[0])) for text in said]
        if (
            subjects[0] == subjects[1]
            and _weight(subjects[0]) >= 1
            and all(0 < _weight(t - _PLACING) <= 3 for t in tails)
            and not (tails[0] & tails[1]) - _PLACING
        ):
            return True
    return False


def _covers(mine: Claim, other: Claim) -> Relation:
    """Whether one says all that the other says."""
    if mine.negative != other.negative or mine.limits != other.limits:
        return Relation.NONE
    a, b = mine.content, other.content
    if a != b:
        a, b = a - _PLACING, b - _PLACING
    if not a or not b:
        return Relation.NONE
    if a == b:
        if {v for _, v in mine.values} != {v for _, v in other.values}:
            return Relation.NONE
        return Relation.SAME if mine.denied <= other.denied else Relation.WIDER
    if a < b and mine.denied <= (other.denied | b) and len(a) >= _MOST_OF * len(b):
        return Relation.NARROWER
    if b < a and other.denied <= (mine.denied | a) and len(b) >= _MOST_OF * len(a):
        return Relation.WIDER
    return Relation.NONE


def _alike(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
