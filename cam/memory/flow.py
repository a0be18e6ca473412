"""A person edits memory: remember, forget, change, undo. Each reads, plans, commits; nothing else writes."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.operations import MemoryOperation, MemoryPlan, OperationKind, Quote, build_plan
from cam.core.records import NOTES_TOPIC, PERSON, MemoryRecord, MemoryRef, MemoryScope, MemoryState, new_id
from cam.core.seams import Attachment, Snapshot
from cam.core.tombstones import normal
from cam.formats.audit import parse_audit, render_audit
from cam.formats.history import Headline, HistoryEvent, headline_of
from cam.formats.memory_index import note_records, without_note
from cam.memory.lookup import find
from cam.memory.result import Changed, Edit, Forgotten, Remembered, Undone
from cam.memory.screen import screened
from cam.memory.take_back import (
    MARK,
    RULE,
    TakenBack,
    is_arrival,
    last_step,
    named_step,
    plan_back,
    undo_target,
)
from cam.store.attached import TAKEN_ALONG, attached_by
from cam.store.machine import read_machine, with_origins
from cam.store.memory_store import MarkdownStore, transact
from cam.store.topics import TopicKey, homes, linking, read_headlines
from cam.system.clock import now_stamp
from cam.system.files import read_bytes

if TYPE_CHECKING:
    from cam.store.story import Story


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
    summary, lines, masked = screened(text, details)
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
        warnings = (*masked, *(f"archived, because it contradicts: {r.summary}  {r.ref}" for r in losers))
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

    def concerns() -> set[TopicKey]:
        """The topic itself, and where something stands that may contradict."""
        return homes(store.layout, [(scope, topic, "")]) | _against(store, scope, summary)

    made, transaction = transact(store, plan, concerns=concerns)
    record = made.changes[0].after if made.changes else made.noops[0].record
    assert record is not None
    return Remembered(record, made, transaction, warnings or masked)


def named_terms(query: str) -> list[frozenset[str]]:
    """Of each word of a query the tokens that stand for it, without synonyms.

    Raises:
        InvalidInputError: the query has no word.
    """
    from cam.core.ranking import query_terms  # noqa: PLC0415 - stop words and stems

    found = [frozenset(token for token, weight in t.tokens if weight == 1.0) for t in query_terms(query)]
    if not found:
        raise InvalidInputError(f"{query!r} has no word to look for")
    return found


def matches(
    records: Sequence[MemoryRecord], query: str, scope: MemoryScope | None = None
) -> tuple[MemoryRecord, ...]:
    """Active records that ``forget QUERY`` means: those that hold every word of it, in any form.

    Synonyms and likely typos do not count here: what goes is what was named.

    Raises:
        InvalidInputError: the query has no word.
    """
    from cam.core.ranking import document_of, entry_of  # noqa: PLC0415 - stop words and stems

    wanted = named_terms(query)
    candidates = (r for r in records if r.state is MemoryState.ACTIVE and scope in (None, r.scope))
    return tuple(
        r for r in candidates if all(tokens & entry_of(document_of(r)).tokens.keys() for tokens in wanted)
    )


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

    made, _ = transact(store, plan, concerns=lambda: homes(store.layout, [ref.key for ref in refs]))
    return Forgotten(gone, len(made.changes))


def change(store: MarkdownStore, verb: str, edit: Edit, *refs: MemoryRef) -> Changed:
    """Carry out one of ``cam.memory.edits``; no topic file is read that it does not concern.

    Args:
        store: what is changed.
        verb: for the audit.
        edit: called with the refs, and again where records changed meanwhile.
        refs: as the person gave them.

    Raises:
        CamError: what ``edit`` raises, or the store.
    """
    now = now_stamp()
    done: Changed | None = None

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment]:
        nonlocal done
        done = edit(snapshot.records, now, *refs)
        return done.plan, _audit(store, verb, done.plan)

    def concerns() -> set[TopicKey]:
        first = edit(store.near(refs).records, now, *refs)
        names = [ref.key for ref in refs] + [record.key for record in first.records]
        found = homes(store.layout, names)
        if first.renamed:
            found |= linking(store.layout, first.renamed)
        if first.stated is not None:
            found |= _against(store, first.stated.scope, first.stated.summary)
        return found

    _, transaction = transact(store, plan, concerns=concerns)
    assert done is not None
    return replace(done, transaction=transaction)


def undo(store: MarkdownStore, what: int | str = 1) -> tuple[Undone, ...]:
    """Take back the last ``what`` changes that were made here, newest first, or the transaction of that name.

    Global memory that was changed from another project stays, unless that change is named; so does what
    arrived from another machine. Of a change whose records were all changed since, or are already as they
    were, nothing can be taken back: it is passed over, with the reason, and does not count. Each step is
    itself in the history; a step that is named may be an undo, and taking that back is a redo.

    Returns:
        What each step did, newest first, those that were passed over included.

    Raises:
        NotFoundError: there is nothing to take back, or no such transaction.
        InvalidInputError: the transaction is taken back already.
    """
    if isinstance(what, str):
        step = named_step(_headlines(store), what)
        if again := attached_by(store.layout.root, undo_target(step)):
            raise InvalidInputError(f"'cam project move {again.old}' takes it along again")
        return (_undo_step(store, step),)
    done: list[Undone] = []
    here = _ids_of(store)
    while sum(bool(each.transaction) for each in done) < what:
        idle = {each.undoes for each in done if not each.transaction}
        step, elsewhere = last_step(_headlines(store), here, idle)
        if not step:
            break
        passed = tuple((e.transaction, _elsewhere(e)) for e in elsewhere) if not done else ()
        files = () if done else _applied_since(store, step[0].at)
        done.append(replace(_undo_step(store, step), passed=passed, files=files))
    if not done:
        if elsewhere:
            last = elsewhere[0]
            raise NotFoundError(
                f"there is nothing to undo here; {_elsewhere(last)} (cam undo {last.transaction})"
            )
        raise NotFoundError("there is nothing to undo")
    return tuple(done)


def tell(store: MarkdownStore) -> tuple[list[HistoryEvent], Snapshot]:
    """All that happened, as ``happened`` says it, and what stands."""
    return happened(store), store.view()


def happened(store: MarkdownStore) -> list[HistoryEvent]:
    """All that happened, oldest first, hand edits that are not noted yet included.

    An event of another machine carries that one's name; one that was written here none.
    """
    from cam.store.story import pending  # noqa: PLC0415

    events = sorted(_events(store), key=lambda event: event.at)
    return [*events, *pending(store.edits(), now_stamp())]


def told_of(store: MarkdownStore, ref: MemoryRef) -> "Story":
    """Everything that is known of one record.

    Raises:
        NotFoundError: nothing is.
    """
    from cam.store.life import story_of  # noqa: PLC0415

    def records(refs: Collection[MemoryRef]) -> list[MemoryRecord]:
        seen = store.layout.scopes
        notes = {each.scope: None for each in refs if each.topic == NOTES_TOPIC and each.scope in seen}
        standing = [note for scope in notes for note in note_records(store.index(scope), scope)]
        found = {each.ref: each for each in reversed([*store.near(refs).records, *standing])}
        return [found[each] for each in refs if each in found]

    return story_of(store.layout, ref, records, now_stamp())


def headlines(store: MarkdownStore) -> list[Headline]:
    """What ``happened``, by headlines alone: reading a long history takes far longer."""
    from cam.store.story import pending  # noqa: PLC0415

    found = sorted(_headlines(store), key=lambda line: line.at)
    return [*found, *map(headline_of, pending(store.edits(), now_stamp()))]


def _against(store: MarkdownStore, scope: MemoryScope, summary: str) -> set[TopicKey]:
    """Where in a scope something stands that may contradict."""
    from cam.language.relations import contradicts  # noqa: PLC0415 - words of six languages

    headings = store.headings(scope)
    found = contradicts(summary, [line for _, line in headings])
    return {(scope, MemoryState.ACTIVE, headings[n][0]) for n in found}


def _undo_step(store: MarkdownStore, step: Sequence[HistoryEvent]) -> Undone:
    if step[0].reason.startswith(TAKEN_ALONG):
        return _detach(store.layout.root, step[0])
    back = TakenBack(MemoryPlan())

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment | None]:
        nonlocal back
        back = plan_back(step, [*snapshot.records, *_standing_notes(store, step)])
        if not back.plan.changes:
            return MemoryPlan(), None
        return back.plan, _audit(store, "undo", back.plan, {"undoes": step[0].transaction})

    about = [record.key for event in step for record in (event.before, event.after) if record is not None]
    made, transaction = transact(store, plan, step, lambda: homes(store.layout, about))
    redo = f"cam undo {transaction}" if transaction else ""
    return Undone(
        step[0].transaction, made.changes, back.kept, transaction, redo=redo, same=back.same, gone=back.gone
    )


def _detach(root: str, event: HistoryEvent) -> Undone:
    """Give back what a project, or a worktree, took along from another, as ``event`` says."""
    from cam.store.detach import detach  # noqa: PLC0415 - builds whole folders

    transaction = event.transaction
    copy = attached_by(root, transaction)
    if copy is None:
        raise NotFoundError(
            f"{transaction} took a project's memory along, and what stood before was cleared away since;"
            " name an older change, or forget single records"
        )
    plan, own = detach(root, copy, f"{MARK}{transaction}: {event.reason}", RULE)
    return Undone(transaction, plan.changes, (), own, redo=f"cam project move {copy.old}")


def _standing_notes(store: MarkdownStore, events: Iterable[HistoryEvent]) -> Iterator[MemoryRecord]:
    """Text that ``events`` put into or took out of a person's part of MEMORY.md and that stands there."""
    for event in events:
        note = event.after or event.before
        if note is not None and note.topic == NOTES_TOPIC:
            index = store.index(note.scope)
            if without_note(index, note.text) != index:
                yield note


def _applied_since(store: MarkdownStore, at: str) -> tuple[str, ...]:
    """Instruction files that were changed since by a proposal that a person accepted."""
    data = (read_bytes(store.layout.audit_file) or b"").decode("utf-8", "replace")
    lines = (line for line in data.split("\n") if '"target"' in line)  # reading all of them takes far longer
    targets = (entry.target for entry in parse_audit(lines) if entry.target and entry.at > at)
    return tuple(dict.fromkeys(targets))


def _elsewhere(event: HistoryEvent) -> str:
    """What somebody did elsewhere, in words."""
    return f"{event.ref} {event.reason}" if is_arrival(event) else f"{event.project} changed {event.ref}"


def _ids_of(store: MarkdownStore) -> tuple[str, ...]:
    """Under which ids the project may have written: its own, and those whose memory it took along."""
    from cam.store.projects import read_project  # noqa: PLC0415

    layout = store.layout
    return (layout.project, *read_project(layout.root, layout.project).absorbed) if layout.project else ()


def _events(store: MarkdownStore) -> list[HistoryEvent]:
    events = [event for scope in store.layout.scopes for event in store.history(scope)]
    return with_origins(store.layout.root, events)


def _headlines(store: MarkdownStore) -> list[Headline]:
    """Of all scopes; one of another machine carries that one's name."""
    found = [line for scope in store.layout.scopes for line in read_headlines(store.layout, scope)]
    if (machine := read_machine(store.layout.root)).name:
        found = [line._replace(machine=machine.origin(line)) for line in found]
    return found


def _says(record: MemoryRecord, summary: str, details: tuple[str, ...]) -> bool:
    return normal(record.summary) == normal(summary) and record.details == details


def _audit(
    store: MarkdownStore, kind: str, plan: MemoryPlan, more: dict[str, str] | None = None
) -> Attachment:
    layout = store.layout
    line = render_audit(at=now_stamp(), kind=kind, actor="user", plan=plan, more=dict(more or {}))
    return Attachment(((os.path.relpath(layout.audit_file, layout.root), line),))
