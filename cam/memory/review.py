"""A person decides what sync left to them: list the queue, accept, reject."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

from cam.core.errors import InvalidInputError, WriteRefusedError
from cam.core.operations import MemoryOperation, MemoryPlan, OperationKind, Quote, build_plan
from cam.core.records import PERSON, MemoryRecord, MemoryRef, MemoryScope, MemoryState, Source, new_id
from cam.core.seams import Attachment, Snapshot
from cam.core.tombstones import normal
from cam.formats.audit import Waiting, parse_audit, render_audit
from cam.memory.lookup import find
from cam.memory.result import Decided
from cam.memory.review_queue import ACCEPTED, REJECTED, Queue, build_queue
from cam.memory.screen import screened
from cam.store.memory_store import MarkdownStore, transact
from cam.system.clock import now_stamp
from cam.system.files import read_bytes

_NO_FACT = {
    "forget-unclear": "it asks to forget, and several records could be meant: cam forget REF",
    "nothing-to-forget": "it asks to forget what was not remembered: there is nothing to accept",
    "forget-left-out": "it asks to forget: cam forget QUERY",
    "stale-command": "it says that a remembered command failed: cam forget REF if it is gone for good",
}
"""What can be rejected, but not become a record."""

_UNSURE = "uncertain"


def read_queue(store: MarkdownStore) -> Queue:
    """The queue of this project.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    data = read_bytes(store.layout.audit_file) or b""
    lines = (line.decode("utf-8", "replace") for line in data.split(b"\n"))
    return build_queue(parse_audit(lines), _records(store))


def accept(
    store: MarkdownStore,
    name: str,
    *,
    scope: MemoryScope | None = None,
    topic: str | None = None,
    replaces: Sequence[MemoryRef] | None = None,
) -> Decided:
    """Make a record of what waits, as the person's word, and archive what it contradicts; undoable.

    Where it was not certain which of several records it corrects, only those go that its words contradict,
    or that the person names.

    Args:
        store: of the project.
        name: the item's id.
        scope: instead of the one its words say.
        topic: likewise.
        replaces: what it replaces, where the person says so.

    Raises:
        NotFoundError: there is no such item, or no such record to replace.
        WriteRefusedError: it is no fact, or nothing but a secret.
    """
    item = read_queue(store).find(name)
    if item.target:
        raise InvalidInputError(f"{item.id} is a change to {item.target}, no fact")
    if item.reason in _NO_FACT:
        raise WriteRefusedError(_NO_FACT[item.reason])
    shaped, warnings = _shaped(item, scope, topic)
    store.layout.scope_folder(shaped.scope)
    kept: tuple[MemoryRecord, ...] = ()

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment]:
        nonlocal kept
        made, kept = _plan(item, shaped, snapshot.records, replaces)
        return made, _line(store, made, item, ACCEPTED)

    made, transaction = transact(store, plan)
    return Decided(item, ACCEPTED, made, transaction, warnings, kept)


def reject(store: MarkdownStore, name: str) -> Decided:
    """Note that the person does not want it; it is not shown again unless everything is.

    Raises:
        NotFoundError: there is no such item.
        StoreUnavailableError: the machine refuses.
    """
    item = read_queue(store).find(name)
    made = MemoryPlan()
    return Decided(item, REJECTED, made, store.commit(made, _line(store, made, item, REJECTED)))


def _records(store: MarkdownStore) -> Iterator[MemoryRecord]:
    """Read when somebody asks for the first."""
    yield from store.view().records


def _shaped(
    item: Waiting, scope: MemoryScope | None, topic: str | None
) -> tuple[MemoryRecord, tuple[str, ...]]:
    """The record that the item makes; its id is found when the store is read."""
    from cam.language.placement import scope_of, topic_of  # noqa: PLC0415 - language data cost 30 ms

    summary, details, warnings = screened(item.text, item.details)
    now = now_stamp()
    record = MemoryRecord(
        scope or item.scope or scope_of(summary),
        topic or item.topic or topic_of(summary),
        "new",
        summary,
        details,
        created_at=now,
        updated_at=now,
        type=item.type,
        sources=(*_sources(item), PERSON),
        reason="you accepted it",
        valid_from=item.valid_from,
        valid_until=item.valid_until,
        related=item.related,
    )
    return record, warnings


def _sources(item: Waiting) -> tuple[Source, ...]:
    if item.source is not None:
        return (item.source,)
    if not item.quotes or item.quotes[-1].session is None:
        return ()
    quote = item.quotes[-1]
    digest = sha256(quote.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return (Source("session", quote.session, quote.ordinal, digest),)


def _plan(
    item: Waiting,
    shaped: MemoryRecord,
    records: Sequence[MemoryRecord],
    replaces: Sequence[MemoryRef] | None,
) -> tuple[MemoryPlan, tuple[MemoryRecord, ...]]:
    """What accepting does, and records that it conflicts with and leaves."""
    from cam.language.relations import contradicts  # noqa: PLC0415

    quotes = item.quotes or (Quote(shaped.summary),)
    active = [r for r in records if r.state is MemoryState.ACTIVE]
    same = [r for r in active if r.scope is shaped.scope and normal(r.summary) == normal(shaped.summary)]
    named = [r for ref in item.conflicts_with for r in active if r.key == MemoryRef.parse(ref).key]
    rivals = [r for r in active if r.scope is shaped.scope and r not in same]
    spoken = [rivals[n] for n in contradicts(shaped.summary, [r.summary for r in rivals])]
    if replaces is not None:
        losers = [find(active, ref) for ref in replaces]
    else:
        losers = [*([] if item.reason == _UNSURE else named), *spoken]
    losers = list({r.key: r for r in losers if r not in same}.values())
    if same:
        winner = same[0]
        wanted = replace(winner, sources=tuple(dict.fromkeys((*winner.sources, *shaped.sources))))
        kind = OperationKind.NOOP if wanted == winner else OperationKind.UPDATE
        operations = [MemoryOperation(kind, wanted, "it is remembered already", "accepted", quotes)]
    else:
        taken = {r.id for r in records if r.scope is shaped.scope and r.topic == shaped.topic}
        digest = sha256(shaped.text.encode("utf-8", "surrogatepass")).hexdigest()
        winner = replace(shaped, id=new_id(shaped.summary, digest, taken))
        operations = [MemoryOperation(OperationKind.ADD, winner, winner.reason, "accepted", quotes)]
    link = f"{winner.topic}:{winner.id}"
    operations += [
        MemoryOperation(
            OperationKind.ARCHIVE, loser.archived(f"replaced by {link}", shaped.updated_at),
            "what you accepted contradicts it", "corrected", quotes, replaced_by=link,
        )
        for loser in losers
    ]  # fmt: skip
    kept = tuple(r for r in named if r not in losers and r not in same)
    return build_plan(operations, records), kept


def _line(store: MarkdownStore, plan: MemoryPlan, item: Waiting, how: str) -> Attachment:
    layout = store.layout
    more = {"decided": {item.id: how}, "text": item.text}
    line = render_audit(at=now_stamp(), kind="review", actor="user", plan=plan, more=more)
    return Attachment(((os.path.relpath(layout.audit_file, layout.root), line),))
