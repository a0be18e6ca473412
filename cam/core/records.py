"""What memory is made of: scopes, topics, references and records. No I/O, no clock."""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from cam.core.errors import InvalidInputError

TOPICS = ("commands", "architecture", "reference", "preferences", "workflow", "debugging", "patterns")
"""Topics that always exist; a person may add more (lower-case kebab)."""

NOTES_TOPIC = "memory"
"""Topic of what a person wrote in MEMORY.md: it has no file of its own."""

RESERVED_TOPICS = frozenset({NOTES_TOPIC, "archive"})
"""Names that would collide with MEMORY.md and ARCHIVE.md on case-insensitive file systems."""

_TOPIC = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z")


class MemoryScope(StrEnum):
    """Who a record is for."""

    GLOBAL = "global"
    PROJECT = "project"
    PROJECT_LOCAL = "project-local"


class MemoryState(StrEnum):
    """Whether a record still holds."""

    ACTIVE = "active"
    ARCHIVED = "archived"


class RecordType(StrEnum):
    """What kind of note a record is."""

    MEMORY = "memory"
    IDEA = "idea"
    KNOWLEDGE = "knowledge"


class MemoryRef(NamedTuple):
    """``scope:state:topic:id``, the name under which a record is found."""

    scope: MemoryScope
    state: MemoryState
    topic: str
    id: str

    def __str__(self) -> str:
        """The form people paste."""
        return ":".join((self.scope, self.state, self.topic, self.id))  # noqa: FLY002 - enums format slowly

    @property
    def key(self) -> tuple[MemoryScope, str, str]:
        """Identity without the state, which is only a hint."""
        return (self.scope, self.topic, self.id)

    @classmethod
    def parse(cls, text: str) -> "MemoryRef":
        """Read ``scope:state:topic:id``.

        Raises:
            InvalidInputError: the text is not a reference.
        """
        parts = text.strip().split(":")
        try:
            scope, state, topic, name = parts
            ref = cls(MemoryScope(scope), MemoryState(state), topic, name)
        except ValueError:
            raise InvalidInputError(
                f"{text!r} is not a ref; a ref looks like project:active:commands:run-tests-1a2b3c "
                "(see 'cam memory list')"
            ) from None
        if not _TOPIC.fullmatch(topic) or not _ID.fullmatch(name):
            raise InvalidInputError(f"{text!r} is not a ref: topic and id are lower-case words joined by '-'")
        return ref

    @classmethod
    def looks_like(cls, text: str) -> bool:
        """Whether ``text`` is shaped like a ref (and so is never a query)."""
        return (
            re.fullmatch(r"(?:global|project|project-local):[a-z]*:[^\s:]*:[^\s:]*", text.strip()) is not None
        )


class Source(NamedTuple):
    """Where a record comes from.

    Attributes:
        kind: ``session`` (a Codex rollout), ``person`` (the command line), ``file`` (a hand edit),
            ``agent`` or ``import``.
        session: the Codex session's id, for ``session``.
        ordinal: 1-based number of the user message in that session; with ``digest`` it names the statement.
        digest: first 12 hex of SHA-256 of the statement's text.
        name: actor, host or path, for the other kinds.
    """

    kind: str
    session: str | None = None
    ordinal: int | None = None
    digest: str | None = None
    name: str | None = None


PERSON = Source("person")


def is_topic(name: str) -> bool:
    """Whether ``name`` can be a topic: it names a file and a part of refs."""
    return bool(_TOPIC.fullmatch(name)) and name not in RESERVED_TOPICS and len(name) <= 64


def check_topic(topic: str) -> str:
    """Return ``topic`` if it can name a file.

    Raises:
        InvalidInputError: it cannot.
    """
    if not is_topic(topic):
        raise InvalidInputError(
            f"topic {topic!r} is not usable: lower-case words joined by '-', such as {', '.join(TOPICS[:3])}"
        )
    return topic


def parse_scope(text: str) -> MemoryScope:
    """Read a scope's name.

    Raises:
        InvalidInputError: no such scope.
    """
    try:
        return MemoryScope(text)
    except ValueError:
        raise InvalidInputError(f"no scope {text!r}; scopes are {', '.join(MemoryScope)}") from None


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One durable fact.

    What can be built can be written: the constructor refuses what no file could hold.

    Attributes:
        summary: one line, the fact itself; any characters but line feed, not blank.
        details: further lines, each without line feed and, but in MEMORY.md, not blank.
        created_at: ISO-8601 UTC with ``Z``.
        updated_at: the same; the time of the statement that last changed the record.
        sources: where it was said, oldest first.
        reason: why it is kept, or why it was archived.
        related: refs' ``topic:id`` of linked records.
    """

    scope: MemoryScope
    topic: str
    id: str
    summary: str
    details: tuple[str, ...] = ()
    state: MemoryState = MemoryState.ACTIVE
    type: RecordType = RecordType.MEMORY
    created_at: str = "1970-01-01T00:00:00.000Z"
    updated_at: str = "1970-01-01T00:00:00.000Z"
    sources: tuple[Source, ...] = ()
    reason: str = ""
    valid_from: str | None = None
    valid_until: str | None = None
    related: tuple[str, ...] = ()
    pinned: bool = False

    def __post_init__(self) -> None:
        if not _TOPIC.fullmatch(self.topic):
            raise ValueError(f"topic {self.topic!r}")
        if not _ID.fullmatch(self.id):
            raise ValueError(f"id {self.id!r}")
        if not self.summary.strip() or "\n" in self.summary:
            raise ValueError("summary is one line that is not blank")
        blank_too = self.topic == NOTES_TOPIC
        if self.details and any("\n" in line or not (blank_too or line.strip()) for line in self.details):
            raise ValueError("details are lines that are not blank")
        for stamp in {self.created_at, self.updated_at}:  # the same for most
            if not _STAMP.fullmatch(stamp):
                raise ValueError(f"timestamp {stamp!r}")

    @property
    def ref(self) -> MemoryRef:
        """The record's reference."""
        return MemoryRef(self.scope, self.state, self.topic, self.id)

    @property
    def key(self) -> tuple[MemoryScope, str, str]:
        """Identity whatever the state."""
        return (self.scope, self.topic, self.id)

    @property
    def text(self) -> str:
        """Summary and details as one text."""
        return "\n".join((self.summary, *self.details))

    @property
    def is_agents(self) -> bool:
        """Whether agents alone noted it: no person said it, no session, no file."""
        return bool(self.sources) and all(source.kind == "agent" for source in self.sources)

    def archived(self, reason: str, at: str) -> "MemoryRecord":
        """This record, no longer holding."""
        return replace(self, state=MemoryState.ARCHIVED, reason=reason, updated_at=at)

    def with_source(self, source: Source) -> "MemoryRecord":
        """This record, said once more by ``source`` (unchanged if that is known)."""
        return self if source in self.sources else replace(self, sources=(*self.sources, source))


def is_valid_at(record: MemoryRecord, now: str) -> bool:
    """Whether ``record`` holds at ``now`` (from inclusive, until exclusive, open where absent)."""
    return holds(record.valid_from, record.valid_until, now)


def holds(valid_from: str | None, valid_until: str | None, now: str) -> bool:
    """Whether a window of validity is open at ``now``; see ``is_valid_at``."""
    return (valid_from or "") <= now and (valid_until is None or now < valid_until)


def split_text(text: str) -> tuple[str, tuple[str, ...]]:
    """Any text as summary and details: the first line that is not blank, and the others.

    Raises:
        InvalidInputError: nothing but white space.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise InvalidInputError("there is no text to remember")
    return lines[0].strip(), tuple(lines[1:])


_SLUG_WORDS = re.compile(r"[a-z0-9]+")
_SLUG_STOP = frozenset("a an and are as at be by for from in is it of on or that the this to we with".split())


def new_id(summary: str, digest: str, taken: AbstractSet[str] = frozenset()) -> str:
    """A readable id that is unique in its scope and topic.

    Args:
        summary: the text at creation; later edits do not change the id.
        digest: hex of a hash of that text.
        taken: ids in use in the scope and topic, in any state.

    Returns:
        Up to six ASCII words of the summary, then six or more hex digits; ``note-…`` where there is no
        ASCII word.
    """
    words = [w for w in _SLUG_WORDS.findall(summary.lower()) if w not in _SLUG_STOP][:6]
    stem = "-".join(words)[:40].strip("-") or "note"
    for length in range(6, len(digest) + 1):
        candidate = f"{stem}-{digest[:length]}"
        if candidate not in taken:
            return candidate
    n = 2
    while f"{stem}-{digest[:6]}-{n}" in taken:
        n += 1
    return f"{stem}-{digest[:6]}-{n}"
