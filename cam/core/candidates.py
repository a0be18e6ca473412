"""What the start looks at of a record, as light as thousands of them must be."""

import re
from typing import NamedTuple

from cam.core.records import MemoryRef, MemoryScope, MemoryState

_BOUND = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?")


class Candidate(NamedTuple):
    """An active record, without what is never told at start.

    Attributes:
        summary: its first characters where it is very long.
        updated_at: ISO-8601 UTC.
        valid_from: "" where open.
        valid_until: "" where open.
        is_agents: whether agents alone noted it.
    """

    scope: MemoryScope
    topic: str
    id: str
    summary: str
    updated_at: str
    pinned: bool = False
    valid_from: str = ""
    valid_until: str = ""
    is_agents: bool = False

    @property
    def key(self) -> str:
        """``scope:topic:id``; the state may change."""
        return f"{self.scope}:{self.topic}:{self.id}"

    @property
    def ref(self) -> MemoryRef:
        """Its reference."""
        return MemoryRef(self.scope, MemoryState.ACTIVE, self.topic, self.id)


def why_not_now(candidate: Candidate, now: str) -> str:
    """``expired``, ``not_yet_valid`` or ``unreadable_bound``; "" where it holds at ``now``.

    Args:
        candidate: with or without bounds (from inclusive, until exclusive).
        now: ISO-8601 UTC.
    """
    begins, ends = candidate.valid_from, candidate.valid_until
    if not (begins or ends):
        return ""
    if not (is_bound(begins) and is_bound(ends)):
        return "unreadable_bound"
    if ends and ends <= now:
        return "expired"
    return "not_yet_valid" if begins > now else ""


def is_bound(text: str | None) -> bool:
    """Whether ``text`` can be read as a bound of validity; an open one can."""
    return not text or _BOUND.fullmatch(text) is not None
