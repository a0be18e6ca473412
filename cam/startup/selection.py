"""Which records are told first, and which say the same. Pure.

In this order: what a person pinned; what fits the prompt, where it is known; rules that the user had to
repeat though they were told; the first few of each scope, so that none starves; then by scope. Within each,
the newest first, where a record that was of use is as new as that use. What agents alone noted comes after
all that, by scope: it never takes the place of what the person said.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from cam.core.candidates import Candidate, why_not_now
from cam.core.records import MemoryScope
from cam.startup.result import Omission

SCOPE_ORDER = (MemoryScope.PROJECT_LOCAL, MemoryScope.PROJECT, MemoryScope.GLOBAL)

FIRST_OF_EACH = 5
"""Records of every scope that come before the many of one."""

Meaning = tuple[str, ...]
"""The words that carry a sentence, turned so that a clause in front or at the end makes no difference."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of the use of records; keys are ``scope:topic:id``.

    Attributes:
        relevant: what fits the prompt, best first.
        repeated: what the user said again although it had been told.
        used_at: ISO-8601 UTC of the last session that recalled, cited or repeated a record.
    """

    relevant: Sequence[str] = ()
    repeated: frozenset[str] = frozenset()
    used_at: Mapping[str, str] = field(default_factory=dict)


NOTHING_KNOWN = Hints()


def put_in_order(
    candidates: Iterable[Candidate], now: str, hints: Hints
) -> tuple[list[Candidate], list[Candidate], list[Omission]]:
    """Candidates in the order in which they are told, the same as they came, and what does not hold now.

    Args:
        candidates: active records; equal ones stay in this order.
        now: ISO-8601 UTC.
        hints: what is known of their use.
    """
    found = list(candidates)
    bounded = [c for c in found if c.valid_from or c.valid_until]
    reasons = {c: reason for c in bounded if (reason := why_not_now(c, now))}
    omissions = [Omission(str(c.ref), reasons[c], "selection") for c in bounded if c in reasons]
    active = [c for c in found if c not in reasons] if reasons else found
    newest = sorted(active, key=_Newness(hints.used_at) if hints.used_at else _UPDATED, reverse=True)
    noted = [c for c in newest if c.is_agents and not c.pinned]
    if noted:
        said, _, _ = put_in_order((c for c in active if c.pinned or not c.is_agents), now, hints)
        return [*said, *(c for scope in SCOPE_ORDER for c in noted if c.scope is scope)], active, omissions
    by_scope: dict[MemoryScope, list[Candidate]] = {scope: [] for scope in SCOPE_ORDER}
    for candidate in newest:
        by_scope[candidate.scope].append(candidate)
    first = [c for scope in SCOPE_ORDER for c in by_scope[scope][:FIRST_OF_EACH]]
    pinned = [c for scope in SCOPE_ORDER for c in by_scope[scope] if c.pinned]
    named = _named(active, {*hints.relevant, *hints.repeated})
    relevant = [named[key] for key in hints.relevant if key in named]
    repeated = [c for c in newest if c.key in hints.repeated] if hints.repeated else []
    head = dict.fromkeys((*pinned, *relevant, *repeated, *first))
    twice = set(map(id, head))  # the many are not hashed: that takes longer than all else here
    rest = [c for scope in SCOPE_ORDER for c in by_scope[scope] if id(c) not in twice]
    return [*head, *rest], active, omissions


def meaning_of(summary: str) -> Meaning:
    """The same for two sentences that differ in case, number, politeness or which clause comes first.

    The words' order stays otherwise, as it tells ``npm, not pnpm`` from ``pnpm, not npm``.
    """
    text = summary.casefold().replace("’", "'").replace("n't", " not").replace("cannot", "can not")
    telling = (word for word in _WORD.findall(text) if word not in _EMPTY)
    words = tuple(_SAME.get(word) or _stem(word) for word in telling) or (text,)
    if len(words) > _LONG:
        return words
    return min(words[place:] + words[:place] for place in range(len(words)))


def _named(active: Iterable[Candidate], keys: set[str]) -> dict[str, Candidate]:
    if not keys:
        return {}
    topics = {tuple(key.split(":")[:2]) for key in keys}
    return {c.key: c for c in active if (c.scope, c.topic) in topics and c.key in keys}


_LONG = 40
_WORD = re.compile(r"[^\W_]+|[^\w\s.,;:!?'\"`()\[\]。，；：！？、（）-]")
_SAME = {"never": "not", "no": "not", "ca": "can", "dont": "not"}
_EMPTY = frozenset(
    "a an the is are be am was were do does of in on at for and please always must should shall we you i it "
    "this that these those our your us sure remember note keep use using".split()
)


def _stem(word: str) -> str:
    """The word without a plural's ending."""
    if word.isascii() and len(word) > 3 and word[-1] == "s" and word[-2] not in "su":
        return word[:-1]
    return word


_UPDATED = attrgetter("updated_at")


class _Newness:
    """The time that a candidate is sorted by, where use counts too."""

    def __init__(self, used_at: Mapping[str, str]) -> None:
        self._used_at = used_at

    def __call__(self, candidate: Candidate) -> str:
        return max(candidate.updated_at, self._used_at.get(candidate.key, ""))
