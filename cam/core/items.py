"""What agents hand in: who may, what an item is, and which of its words may be looked at. Pure.

An agent needs two keys for every write: an identity, and a grant for that very call. An item is a closed
object: a key that is not listed is refused, and its type is bound to the command. Private spans are cut from
every text before anything else sees it; a required text that is empty then refuses the item.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cam.core.capture import CaptureEnvelope
from cam.core.errors import InvalidInputError, WriteRefusedError
from cam.core.private import strip
from cam.core.records import MemoryRef, MemoryScope, RecordType, check_topic, parse_scope

ACTORS = ("claude", "codex", "hermes", "subagent")

MAX_PAYLOAD = 262_144
"""Bytes of an item as JSON."""

MAX_TEXT = 65_536
MAX_LINE = 1_024
MAX_LINKS = 20

TARGETS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
"""Files that a change may be proposed to, by their path from the project's root."""

PROPOSAL = "proposal"

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A fact that an agent wants remembered.

    Attributes:
        text: its first line is the summary.
        scope: None for the default one.
        topic: None to find it from the words.
        session: the session that it was said in, None where that is not known.
        valid_from: a date or time from which on it holds, as it was given; "" for always.
        valid_until: likewise, until when; a date alone is the last day.
        related: records that it is about too; they must be there.
        cut: private spans that were cut.
    """

    type: RecordType
    text: str
    scope: MemoryScope | None = None
    topic: str | None = None
    session: str | None = None
    valid_from: str = ""
    valid_until: str = ""
    related: tuple[MemoryRef, ...] = ()
    cut: int = 0


@dataclass(frozen=True, slots=True)
class ProposalItem:
    """A change to an instruction file that an agent proposes.

    Attributes:
        target: one of ``TARGETS``.
        edit: text to add, or to put in the place of ``old``.
        old: text that stands once in the file; "" to add.
        rationale: why.
        session: as in ``MemoryItem``.
        cut: private spans that were cut.
    """

    target: str
    edit: str
    old: str = ""
    rationale: str = ""
    session: str | None = None
    cut: int = 0


def authorise(actor: object, allow_write: object) -> str:
    """The agent's name, if both keys are there.

    Raises:
        WriteRefusedError: one of them is missing.
        InvalidInputError: there is no such agent.
    """
    if actor is not None and actor not in ACTORS:
        raise InvalidInputError(f"there is no actor {str(actor)[:40]!r}; actors are {', '.join(ACTORS)}")
    if actor is None or allow_write is not True:
        missing = "the grant of this very call" if actor is not None else "the name"
        raise WriteRefusedError(
            f"an agent gives its name (actor) and a grant (allow-write): {missing} is missing"
        )
    return str(actor)


def read_payload(text: str) -> object:
    """An item's JSON.

    Raises:
        InvalidInputError: too much of it, or no JSON.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_PAYLOAD:
        raise InvalidInputError(f"an item has {MAX_PAYLOAD >> 10} KiB at most")
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"the item is no JSON: {error}") from None


def memory_item(data: object) -> MemoryItem:
    """The item that ``remember`` takes.

    Raises:
        WriteRefusedError: it is of another command's type, or nothing is left of it.
        InvalidInputError: a key or a value is not of the schema.
    """
    fields = _fields(data, tuple(RecordType), RecordType.MEMORY, _MEMORY_KEYS)
    kind = RecordType(fields.get("type", RecordType.MEMORY))
    title, content = fields.get("title", ""), fields.get("content", "")
    related = fields.get("related", [])
    if kind is not RecordType.MEMORY and not title.strip():
        raise InvalidInputError(f"an item of type {kind} needs a title")
    if not content.strip():
        raise InvalidInputError("the item needs content")
    # A span may begin in the title and end in the content, so both are read as one text.
    seen = strip(f"{title}\n{content}" if title else content)
    head, _, rest = seen.text.partition("\n") if title else ("", "", seen.text)
    if not rest.strip() or (title and not head.strip()):
        raise WriteRefusedError("nothing is left of the item but private spans, and cam keeps none")
    scope, topic = fields.get("scope"), fields.get("topic")
    return MemoryItem(
        kind,
        f"{head}\n{rest}" if title else rest,
        parse_scope(scope) if scope else None,
        check_topic(topic) if topic else None,
        _session(fields),
        strip(fields.get("valid_from", "")).text.strip(),
        strip(fields.get("valid_until", "")).text.strip(),
        tuple(dict.fromkeys(map(MemoryRef.parse, related))),
        seen.count,
    )


def proposal_item(data: object) -> ProposalItem:
    """The item that ``propose`` takes.

    Raises:
        WriteRefusedError: it is of another command's type, its target is not one of ``TARGETS``, or nothing
            is left of it.
        InvalidInputError: a key or a value is not of the schema.
    """
    fields = _fields(data, (PROPOSAL,), PROPOSAL, _PROPOSAL_KEYS)
    target, old = fields.get("target", ""), fields.get("old", "")
    if not target:
        raise InvalidInputError("the item needs a target")
    if target not in TARGETS:
        raise WriteRefusedError(f"{target[:80]!r} is no target; targets are {', '.join(TARGETS)}")
    edit, rationale = strip(fields.get("edit", "")), strip(fields.get("rationale", ""))
    if not fields.get("edit", "").strip() and not old:
        raise InvalidInputError("the item needs an edit")
    if strip(old).count or (edit.count and not edit.text.strip()):
        raise WriteRefusedError("nothing is left of the item but private spans, and cam keeps none")
    return ProposalItem(
        target, edit.text, old, rationale.text, _session(fields), edit.count + rationale.count
    )


def said_in(envelope: CaptureEnvelope) -> dict[str, str]:
    """The item that an envelope makes: what was said, in which session, and from when until when it holds."""
    ends = envelope.valid_until
    given = {
        "content": envelope.content,
        "session": envelope.session,
        "valid_from": envelope.valid_from,
        # A date alone is the last day of an item, and the first day after an envelope's.
        "valid_until": f"{ends}T00:00:00Z" if len(ends) == len("2026-11-30") else ends,
    }
    return {name: value for name, value in given.items() if value}


_MEMORY_KEYS = {
    "type": MAX_LINE, "title": MAX_LINE, "content": MAX_TEXT, "scope": MAX_LINE, "topic": MAX_LINE,
    "session": MAX_LINE, "valid_from": MAX_LINE, "valid_until": MAX_LINE, "related": MAX_LINE,
}  # fmt: skip
_PROPOSAL_KEYS = {
    "type": MAX_LINE, "target": MAX_LINE, "edit": MAX_TEXT, "old": MAX_TEXT, "rationale": MAX_TEXT,
    "session": MAX_LINE,
}  # fmt: skip
"""Each key, and how many characters its text may have; ``MAX_LINE`` means one line."""

_LISTS = {"related": MAX_LINKS}
"""Keys that hold a list of texts, and how many."""


def _fields(data: object, types: tuple[str, ...], default: str, keys: Mapping[str, int]) -> dict[str, Any]:
    """The item's texts, and lists of texts, checked."""
    kind = data.get("type", default) if isinstance(data, dict) else type(data).__name__
    if not isinstance(data, dict) or kind not in types:
        raise WriteRefusedError(f"this command takes {', '.join(types)}, not {str(kind)[:40]!r}")
    for key, value in data.items():
        most = keys.get(key)
        if most is None:
            raise InvalidInputError(f"an item has the keys {', '.join(keys)}, no {str(key)[:40]!r}")
        if key not in _LISTS:
            _check_text(key, value, most)
            continue
        if not isinstance(value, list) or len(value) > _LISTS[key]:
            raise InvalidInputError(f"{key} is a list of {_LISTS[key]} texts at most")
        for each in value:
            _check_text(key, each, most)
    return dict(data)


def _check_text(key: str, value: object, most: int) -> None:
    if not isinstance(value, str):
        raise InvalidInputError(f"{key} is a {'list of texts' if key in _LISTS else 'text'}")
    if len(value) > most or (most == MAX_LINE and "\n" in value):
        what = "one line of " if most == MAX_LINE else ""
        raise InvalidInputError(f"{key} has {what}{most:,} characters at most")
    if _CONTROL.search(value):
        raise InvalidInputError(f"{key} holds a control character")


def _session(fields: Mapping[str, Any]) -> str | None:
    return strip(fields.get("session", "")).text.strip() or None


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
