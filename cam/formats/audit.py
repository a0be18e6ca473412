"""audit/sync-log.jsonl: one line per sync or other write, with what was applied, refused and why.

What was suppressed, rejected or proposed stands in it with everything that a person needs to accept it
later; a line of kind ``review`` says what a person decided (``decided``: id → ``accepted``, ``rejected``).
A proposal is a fact from a file or an agent, or a change to an instruction file (``target``).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cam.core.extraction import RESOLVERS, Candidate, Conflict, Rejection
from cam.core.operations import MemoryOperation, MemoryPlan, Quote
from cam.core.problems import Problem
from cam.core.records import MemoryScope, RecordType, Source, is_topic
from cam.core.tombstones import normal
from cam.formats.history import quote_to_data
from cam.formats.json_line import dump_line
from cam.formats.record_data import source_from_data, source_to_data


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that was not kept and that a person may still accept.

    Attributes:
        id: of eight hex digits; the same words of the same message always have the same.
        kind: ``suppressed``, ``proposed`` or ``rejected``.
        reason: short name of why it was not kept.
        at: when, ISO-8601 UTC.
        scope: None where it never came so far.
        topic: likewise.
        conflicts_with: refs of what it contradicts.
        source: names the statement, where it is known.
        target: the instruction file that it would change, by its path from the project's root; "" for a
            fact. ``text`` is then what is added, or put in the place of ``old``.
        old: text of the target that goes, "" where nothing does.
        digest: SHA-256 (hex) of the target as it was when this was proposed, "" where there was no file.
        rationale: why it was proposed.
        type: what kind of note it would be.
        valid_from: from when on it would hold, ISO-8601 UTC, None for always.
        valid_until: likewise, until when.
        related: ``topic:id`` of what it is about too.
    """

    id: str
    kind: str
    text: str
    reason: str
    at: str
    details: tuple[str, ...] = ()
    scope: MemoryScope | None = None
    topic: str | None = None
    conflicts_with: tuple[str, ...] = ()
    source: Source | None = None
    quotes: tuple[Quote, ...] = ()
    target: str = ""
    old: str = ""
    digest: str = ""
    rationale: str = ""
    type: RecordType = RecordType.MEMORY
    valid_from: str | None = None
    valid_until: str | None = None
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line, as far as later decisions need it.

    Attributes:
        applied: (kind, ref) of each operation.
        waiting: what was not kept.
        decided: what a person decided: ``accepted`` or ``rejected``, by id.
        transaction: the one it was written with, "" in lines of before.
        undoes: the transaction that it took back.
        target: the instruction file that an accepted proposal changed.
    """

    at: str
    kind: str
    applied: tuple[tuple[str, str], ...] = ()
    waiting: tuple[Waiting, ...] = ()
    decided: Mapping[str, str] = field(default_factory=dict)
    transaction: str = ""
    undoes: str = ""
    target: str = ""


def render_audit(
    *,
    at: str,
    kind: str,
    actor: str,
    plan: MemoryPlan,
    conflicts: tuple[Conflict, ...] = (),
    rejections: tuple[Rejection, ...] = (),
    proposed: Sequence[Waiting] = (),
    problems: tuple[Problem, ...] = (),
    more: dict[str, Any] | None = None,
) -> str:
    """One line, without its line feed.

    Args:
        at: ISO-8601 UTC.
        kind: ``sync``, ``remember``, ``forget`` …
        actor: who wrote: ``user``, ``sync`` or an agent's name.
        plan: what was done; each operation stands with its rule and reason.
        conflicts: candidates that were suppressed, with their text and what they conflict with.
        rejections: what looked durable and was not kept.
        proposed: what is left to a person from the start.
        problems: what could not be read.
        more: further fields (session, rollout, extractor, durations …).
    """
    return dump_line(
        {
            "at": at,
            "kind": kind,
            "actor": actor,
            **(more or {}),
            "applied": [_operation(c.operation, str(c.ref)) for c in plan.changes],
            "noop": [_operation(o, str(o.record.ref)) for o in plan.noops],
            "suppressed": [_conflict(c) for c in conflicts],
            "rejected": [_rejection(r) for r in rejections],
            **({"proposed": [_proposal(p) for p in proposed]} if proposed else {}),
            "problems": [str(p) for p in problems],
        }
    )


def parse_audit(lines: Iterable[str]) -> Iterator[AuditEntry]:
    """Entries in file order; lines that are torn, or the predecessor's, hold nothing and are passed over."""
    for line in lines:
        try:
            data = json.loads(line)
            yield AuditEntry(
                str(data["at"]),
                str(data["kind"]),
                tuple((str(o["kind"]), str(o["ref"])) for o in data["applied"]),
                tuple(_waiting(data)),
                {str(k): str(v) for k, v in dict(data.get("decided") or {}).items()},
                *(str(data.get(name) or "") for name in ("tx", "undoes", "target")),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


def item_id(text: str, quotes: Sequence[Quote]) -> str:
    """What names something that was not kept, however often its session is read."""
    last = quotes[-1] if quotes else None
    place = f"{last.session or ''}\0{last.ordinal or ''}" if last else ""
    return hashlib.sha256(f"{place}\0{normal(text)}".encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _operation(operation: MemoryOperation, ref: str) -> dict[str, Any]:
    data = {
        "kind": str(operation.kind),
        "ref": ref,
        "summary": operation.record.summary,
        "rule": operation.rule,
        "reason": operation.reason,
    }
    resolver = RESOLVERS.get(operation.rule)
    return data if resolver is None else {**data, "resolver": str(resolver)}


def _conflict(conflict: Conflict) -> dict[str, Any]:
    candidate = conflict.candidate
    return {
        "id": item_id(candidate.summary, candidate.quotes),
        **_candidate(candidate),
        "conflicts_with": [str(r.ref) for r in conflict.records],
        "reason": conflict.reason,
    }


def _rejection(rejection: Rejection) -> dict[str, Any]:
    candidate = rejection.candidate
    quotes = candidate.quotes if candidate else (rejection.quote,) if rejection.quote else ()
    return {
        "id": item_id(rejection.text, quotes),
        "text": rejection.text,
        "reason": rejection.reason,
        **(_candidate(candidate) if candidate else {"quotes": [quote_to_data(q) for q in quotes]}),
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    kind = candidate.type
    more = {
        "type": "" if kind is RecordType.MEMORY else str(kind),
        "valid_from": candidate.valid_from,
        "valid_until": candidate.valid_until,
        "related": list(candidate.related),
    }
    return {
        "scope": str(candidate.scope),
        "topic": candidate.topic,
        "summary": candidate.summary,
        "details": list(candidate.details),
        "act": str(candidate.act),
        "rule": candidate.rule,
        "at": candidate.at,
        "source": source_to_data(candidate.source),
        "quotes": [quote_to_data(q) for q in candidate.quotes],
        **{name: value for name, value in more.items() if value},
    }


def _proposal(item: Waiting) -> dict[str, Any]:
    more = {name: getattr(item, name) for name in _PROPOSAL_FIELDS}
    return {
        "id": item.id,
        "text": item.text,
        "details": list(item.details),
        "reason": item.reason,
        "scope": str(item.scope) if item.scope else None,
        "topic": item.topic,
        "source": source_to_data(item.source) if item.source else None,
        "quotes": [quote_to_data(q) for q in item.quotes],
        **{name: value for name, value in more.items() if value},
    }


_PROPOSAL_FIELDS = ("target", "old", "digest", "rationale")


def _waiting(data: Mapping[str, Any]) -> Iterator[Waiting]:
    for kind in ("suppressed", "proposed", "rejected"):
        for raw in data.get(kind) or ():
            quotes = tuple(Quote(**q) for q in raw.get("quotes") or ())
            text = str(raw.get("summary") or raw["text"])
            topic = raw.get("topic")
            yield Waiting(
                str(raw.get("id") or item_id(text, quotes)),
                kind,
                text,
                str(raw["reason"]),
                str(data["at"]),
                tuple(str(line) for line in raw.get("details") or ()),
                MemoryScope(raw["scope"]) if raw.get("scope") else None,
                topic if isinstance(topic, str) and is_topic(topic) else None,
                tuple(str(ref) for ref in raw.get("conflicts_with") or ()),
                source_from_data(raw["source"]) if raw.get("source") else None,
                quotes,
                **{name: str(raw.get(name) or "") for name in _PROPOSAL_FIELDS},
                type=RecordType(raw.get("type") or RecordType.MEMORY),
                valid_from=raw.get("valid_from"),
                valid_until=raw.get("valid_until"),
                related=tuple(str(name) for name in raw.get("related") or ()),
            )
