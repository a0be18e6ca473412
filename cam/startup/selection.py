"""Which records are told first. Pure.

In this order: what a person pinned; what fits the prompt, where it is known; rules that the user had to
repeat though they were told; the first few of each scope, so that none starves; then by scope. Within each,
the newest first, where a record that was of use is as new as that use. What agents alone noted comes after
all that, by scope: it never takes the place of what the person said.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from cam.core.candidates import Candidate, why_not_now
from cam.core.records import MemoryScope
from cam.startup.result import Omission

SCOPE_ORDER = (MemoryScope.PROJECT_LOCAL, MemoryScope.PROJECT, MemoryScope.GLOBAL)

FIRST_OF_EACH = 5
"""Records of every scope that come before the many of one."""


class Hints(NamedTuple):
    """What is known of the use of records; keys are ``scope:topic:id``.

    Attributes:
        relevant: what fits the prompt, best first.
        repeated: what the user said again although it had been told.
        used_at: ISO-8601 UTC of the last session that recalled, cited or repeated a record.
    """

    relevant: Sequence[str] = ()
    repeated: frozenset[str] = frozenset()
    used_at: Mapping[str, str] = MappingProxyType({})


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


def _named(active: Iterable[Candidate], keys: set[str]) -> dict[str, Candidate]:
    if not keys:
        return {}
    topics = {tuple(key.split(":")[:2]) for key in keys}
    return {c.key: c for c in active if (c.scope, c.topic) in topics and c.key in keys}


_UPDATED = attrgetter("updated_at")


class _Newness:
    """The time that a candidate is sorted by, where use counts too."""

    def __init__(self, used_at: Mapping[str, str]) -> None:
        self._used_at = used_at

    def __call__(self, candidate: Candidate) -> str:
        return max(candidate.updated_at, self._used_at.get(candidate.key, ""))
