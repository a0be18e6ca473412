"""A person edits memory: remember, forget, undo. Each reads, plans and commits; nothing else writes."""

import os
from collections.abc import Sequence
from hashlib import sha256

from cam.core.errors import InvalidInputError, NotFoundError, WriteRefusedError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind, Quote, build_plan
from cam.core.private import strip
from cam.core.ranking import document_of, entry_of, query_terms
from cam.core.records import PERSON, MemoryRecord, MemoryRef, MemoryScope, MemoryState, new_id, split_text
from cam.core.seams import Attachment, Snapshot
from cam.core.secrets import MASK, mask
from cam.core.tombstones import normal
from cam.formats.audit import render_audit
from cam.formats.history import HistoryEvent
from cam.memory.result import Forgotten, Remembered, Undone
from cam.store.memory_store import MarkdownStore, transact
from cam.system.clock import now_stamp

MAX_TEXT = 65_536
"""Characters of one fact; more belongs into a file that the fact names."""


def remember(
    store: MarkdownStore, text: str, details: Sequence[str], scope: MemoryScope, topic: str | None
) -> Remembered:
    """Keep what a person states, verbatim; known text is a noop that still has its ref.

    What it contradicts in the same scope is archived, with a warning.

    Args:
        store: where to.
        text: the fact; its first line is the summary, further ones are details.
        details: further lines.
        scope: whom it is for.
        topic: found from the words where None.

    Raises:
        InvalidInputError: no text, too much text, or a scope that does not exist here.
        WriteRefusedError: nothing is left once secrets and private spans are cut.
    """
    from cam.language.placement import topic_of  # noqa: PLC0415 - language data cost 30 ms
    from cam.language.relations import contradicts  # noqa: PLC0415

    store.layout.scope_folder(scope)  # refuses a project's scope where there is no project
    summary, lines, screened = _screened(text, details)
    topic = topic or topic_of(summary)
    now = now_stamp()
    quotes = (Quote(summary),)
    warnings: tuple[str, ...] = ()

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment]:
        nonlocal warnings
        here = [r for r in snapshot.records if r.scope is scope and r.topic == topic]
        known = next((r for r in here if r.state is MemoryState.ACTIVE and _says(r, summary, lines)), None)
        if known is not None:
            noop = MemoryOperation(OperationKind.NOOP, known, "it is remembered already", quotes=quotes)
            made = build_plan([noop], snapshot.records)
            return made, _audit(store, "remember", made)
        digest = sha256("\n".join((summary, *lines)).encode("utf-8", "surrogatepass")).hexdigest()
        name = new_id(summary, digest, {r.id for r in here})
        record = MemoryRecord(
            scope, topic, name, summary, lines, created_at=now, updated_at=now, sources=(PERSON,)
        )
        rivals = [r for r in snapshot.records if r.scope is scope and r.state is MemoryState.ACTIVE]
        losers = [rivals[n] for n in contradicts(summary, [r.summary for r in rivals])]
        warnings = (*screened, *(f"archived, because it contradicts: {r.summary}  {r.ref}" for r in losers))
        operations = [MemoryOperation(OperationKind.ADD, record, "you said so", "remember", quotes)]
        operations += [
            MemoryOperation(
                OperationKind.ARCHIVE, loser.archived(f"replaced by {topic}:{name}", now),
                "what you said contradicts it", "corrected", quotes, replaced_by=f"{topic}:{name}",
            )
            for loser in losers
        ]  # fmt: skip
        made = build_plan(operations, snapshot.records)
        return made, _audit(store, "remember", made)

    made, transaction = transact(store, plan)
    record = made.changes[0].after if made.changes else made.noops[0].record
    assert record is not None
    return Remembered(record, made, transaction, warnings or screened)


def matches(
    records: Sequence[MemoryRecord], query: str, scope: MemoryScope | None = None
) -> tuple[MemoryRecord, ...]:
    """Active records that ``forget QUERY`` means: those that hold every word of it, in any form.

    Synonyms and likely typos do not count here: what goes is what was named.

    Raises:
        InvalidInputError: the query has no word.
    """
    wanted = [{token for token, weight in t.tokens if weight == 1.0} for t in query_terms(query)]
    if not wanted:
        raise InvalidInputError(f"{query!r} has no word to look for")
    candidates = (r for r in records if r.state is MemoryState.ACTIVE and scope in (None, r.scope))
    return tuple(
        r for r in candidates if all(tokens & entry_of(document_of(r)).tokens.keys() for tokens in wanted)
    )


def find(records: Sequence[MemoryRecord], ref: MemoryRef) -> MemoryRecord:
    """The record that ``ref`` names; its state is only a hint.

    Raises:
        NotFoundError: there is none.
    """
    found = [r for r in records if r.key == ref.key]
    found.sort(key=lambda r: r.state is not ref.state)
    if not found:
        raise NotFoundError(f"there is no record {ref}; 'cam memory list' shows what there is")
    return found[0]


def forget(store: MarkdownStore, refs: Sequence[MemoryRef], *, delete: bool) -> Forgotten:
    """Archive records, or delete them; undoable.

    Raises:
        NotFoundError: one of the refs names no record; nothing was written.
    """
    now = now_stamp()
    gone: tuple[MemoryRecord, ...] = ()

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment]:
        nonlocal gone
        gone = tuple(find(snapshot.records, ref) for ref in refs)
        operations = [
            MemoryOperation(OperationKind.DELETE, record, "you asked to delete it", "forget")
            if delete
            else MemoryOperation(
                OperationKind.ARCHIVE,
                record
                if record.state is MemoryState.ARCHIVED
                else record.archived("you asked to forget it", now),
                "you asked to forget it",
                "forget",
            )
            for record in gone
        ]
        made = build_plan(operations, snapshot.records)
        return made, _audit(store, "forget", made)

    made, _ = transact(store, plan)
    return Forgotten(gone, len(made.changes))


def undo(store: MarkdownStore, steps: int = 1) -> tuple[Undone, ...]:
    """Take back the last ``steps`` changes, newest first; each step is itself in the history.

    Raises:
        NotFoundError: there is nothing to take back.
    """
    done: list[Undone] = []
    for _ in range(steps):
        step = _undo_once(store)
        if step is None:
            break
        done.append(step)
    if not done:
        raise NotFoundError("there is nothing to undo")
    return tuple(done)


def _undo_once(store: MarkdownStore) -> Undone | None:
    events = _last_step(store)
    if not events:
        return None
    kept: list[str] = []

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment]:
        kept.clear()
        present = {r.key: r for r in snapshot.records}
        changes = []
        for event in reversed(events):
            key = (event.after or event.before or _none()).key
            if present.get(key) != event.after:
                kept.append(event.ref)  # changed since: what stands there now is somebody's word
                continue
            operation = MemoryOperation(
                _inverse(event),
                event.before or event.after or _none(),
                f"undo of {event.transaction}",
                "undo",
            )
            changes.append(Change(operation, event.after, event.before))
        made = MemoryPlan(tuple(changes))
        return made, _audit(store, "undo", made, {"undoes": events[0].transaction})

    made, _ = transact(store, plan)
    return Undone(events[0].transaction, made.changes, tuple(kept))


def _last_step(store: MarkdownStore) -> list[HistoryEvent]:
    """Events of the newest transaction that was neither an undo nor undone."""
    events = [e for scope in store.layout.scopes for e in store.history(scope) if e.applied and e.transaction]
    events.sort(key=lambda e: e.at)
    undone: set[str] = set()
    order = list(dict.fromkeys(e.transaction for e in events))
    by_transaction = {t: [e for e in events if e.transaction == t] for t in order}
    for transaction in reversed(order):
        reason = by_transaction[transaction][0].reason
        if reason.startswith("undo of "):
            undone.add(reason.removeprefix("undo of "))
        elif transaction not in undone:
            return by_transaction[transaction]
    return []


def _inverse(event: HistoryEvent) -> OperationKind:
    if event.before is None:
        return OperationKind.DELETE
    return OperationKind.ADD if event.after is None else OperationKind.UPDATE


def _none() -> MemoryRecord:
    raise AssertionError("an applied event has a record before or after")


def _screened(text: str, details: Sequence[str]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Summary and details as they may be stored, and what a person should know of it."""
    from cam.language.candidates import only_announces_a_secret  # noqa: PLC0415
    from cam.language.lexicon import spoken_in  # noqa: PLC0415

    if len(text) + sum(map(len, details)) > MAX_TEXT:
        raise InvalidInputError(
            f"that is more than {MAX_TEXT} characters; keep it in a file and remember where"
        )
    whole = "\n".join((text, *details))
    stripped = strip(whole)
    masked = mask(stripped.text)
    warnings = []
    if stripped.count:
        warnings.append(f"{_times(stripped.count, 'private span')} cut out")
    if masked.count:
        warnings.append(f"{_times(masked.count, 'secret')} masked; cam keeps none")
    if not query_terms(masked.text.replace(MASK, " ")) and warnings:
        raise WriteRefusedError("there is nothing to remember but a secret, and cam keeps none")
    if only_announces_a_secret(masked.text, spoken_in(masked.text), least=3):
        raise WriteRefusedError("that says nothing but a secret, and cam keeps none")
    summary, lines = split_text(masked.text)
    return summary, lines, tuple(warnings)


def _says(record: MemoryRecord, summary: str, details: tuple[str, ...]) -> bool:
    return normal(record.summary) == normal(summary) and record.details == details


def _times(n: int, noun: str) -> str:
    return f"1 {noun} was" if n == 1 else f"{n} {noun}s were"


def _audit(
    store: MarkdownStore, kind: str, plan: MemoryPlan, more: dict[str, str] | None = None
) -> Attachment:
    layout = store.layout
    line = render_audit(at=now_stamp(), kind=kind, actor="user", plan=plan, more=dict(more or {}))
    return Attachment(((os.path.relpath(layout.audit_file, layout.root), line),))
