"""Agents write memory: what they may is written and read back, what they may not waits for a person.

Nothing here asks who calls: ``cam.core.items.authorise`` has, before anything is read.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from cam.core.errors import GovernanceRefusedError, IntegrityError, InvalidInputError, WriteRefusedError
from cam.core.extraction import Candidate, Conflict, SpeechAct
from cam.core.items import MemoryItem, ProposalItem
from cam.core.operations import MemoryOperation, MemoryPlan, OperationKind, Quote, build_plan
from cam.core.private import strip
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, Source, new_id
from cam.core.seams import Attachment, Snapshot
from cam.core.secrets import MASK, mask
from cam.core.tombstones import tombstone_key
from cam.formats.audit import Waiting, item_id, render_audit
from cam.memory.dates import window
from cam.memory.governance import Verdict, judge, why_it_erodes
from cam.memory.lookup import find
from cam.memory.result import Proposed, Remembered
from cam.memory.review import read_queue
from cam.memory.review_queue import REJECTED
from cam.memory.screen import screened, times
from cam.memory.target import open_target
from cam.store.identity import Project
from cam.store.memory_store import MarkdownStore, transact
from cam.store.tombstones import read_tombstones
from cam.store.topics import read_topic
from cam.system.clock import now_stamp

_WORDS = {
    "agent-contradicts": "it contradicts what is remembered",
    "uncertain": "it may contradict what is remembered",
    "agent-taken-out": "a person took this out, or said otherwise later",
}


def remember_for(store: MarkdownStore, item: MemoryItem, actor: str, scope: MemoryScope) -> Remembered:
    """Keep what an agent found, if it contradicts nothing; what is known already is left as it is.

    Args:
        store: where to.
        item: the fact.
        actor: the agent's name; stands in record, history and audit.
        scope: where the item names none.

    Its links lead from it to what it names; the records that it names stay as they are.

    Raises:
        InvalidInputError: too much text, a scope that does not exist here, or a time in which it never holds.
        NotFoundError: it names a record that is not there.
        WriteRefusedError: nothing is left but a secret, or a person erased it.
        GovernanceRefusedError: it may not be written; it waits in the review queue.
        IntegrityError: what was written is not what is read back.
    """
    from cam.language.placement import topic_of  # noqa: PLC0415 - language data cost 30 ms

    where = item.scope or scope
    store.layout.scope_folder(where)
    summary, details, masked = screened(item.text, ())
    tombstones = read_tombstones(store)
    if tombstones.is_erased(tombstone_key(summary)):
        raise WriteRefusedError("a person erased this for good")
    warnings = (*_cut(item.cut), *masked)
    now = now_stamp()
    begins, ends = window(item.valid_from, item.valid_until, now=now)
    digest = sha256("\n".join((summary, *details)).encode("utf-8", "surrogatepass")).hexdigest()
    source = Source("agent", item.session, digest=digest[:12], name=actor)
    quotes = (Quote(summary, item.session),)
    wanted = MemoryRecord(
        where, item.topic or topic_of(summary), "new", summary, details, type=item.type,
        created_at=now, updated_at=now, sources=(source,), reason=f"noted by {actor}",
        valid_from=begins, valid_until=ends,
    )  # fmt: skip
    verdict = Verdict()

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment | None]:
        nonlocal verdict, wanted
        named = (find(snapshot.records, ref) for ref in item.related)
        wanted = replace(wanted, related=tuple(f"{r.topic}:{r.id}" for r in named))
        verdict = judge(summary, snapshot.records, tombstones)
        if verdict.reason:
            return MemoryPlan(), None
        if verdict.known is not None:
            kind, record, why = OperationKind.NOOP, verdict.known, "it is remembered already"
        else:
            taken = {r.id for r in snapshot.records if r.scope is where and r.topic == wanted.topic}
            record = replace(wanted, id=new_id(summary, digest, taken))
            kind, why = OperationKind.ADD, record.reason
        operation = MemoryOperation(kind, record, why, "remember", quotes, actor)
        made = build_plan([operation], snapshot.records)
        return made, _line(store, render_audit(at=now_stamp(), kind="remember", actor=actor, plan=made))

    made, transaction = transact(store, plan)
    if verdict.reason:
        candidate = Candidate(
            where, wanted.topic, summary, SpeechAct.FACT, now, source, quotes, details, rule="agent",
            type=item.type, valid_from=begins, valid_until=ends, related=wanted.related,
        )  # fmt: skip
        raise GovernanceRefusedError(_leave(store, candidate, verdict, actor))
    if not made.changes:
        known = made.noops[0].record
        return Remembered(known, made, transaction, (*warnings, *_left_out(wanted, known)))
    record = made.changes[0].after
    assert record is not None
    read = read_topic(store.layout, (where, MemoryState.ACTIVE, record.topic)).file
    if read is None or record not in read.records:
        raise IntegrityError(f"{record.ref} was written, and is not there when it is read; cam store verify")
    return Remembered(record, made, transaction, warnings)


def propose_for(store: MarkdownStore, project: Project | None, item: ProposalItem, actor: str) -> Proposed:
    """Leave a change to an instruction file to the person; the file itself is not touched.

    Args:
        store: of the project.
        project: whose file it is.
        item: the change.
        actor: the agent's name.

    Raises:
        InvalidInputError: there is no project here.
        NotFoundError: the text to be replaced is not in the file.
        WriteRefusedError: the target leads elsewhere, the file holds the change already, nothing is left of
            it but a secret, or the person rejected it before.
        GovernanceRefusedError: it takes too much away; nothing waits.
    """
    if project is None:
        raise InvalidInputError("there is no project here; a proposal is about a project's file")
    target = open_target(project.root, item.target)
    edit, secrets = mask(item.edit), mask(item.rationale)
    if edit.count and not edit.text.replace(MASK, "").strip():
        raise WriteRefusedError("that says nothing but a secret, and cam keeps none")
    if mask(item.old).count or strip(item.old).count:
        raise WriteRefusedError("the text to be replaced holds a secret, and cam keeps none")
    after = target.edited(edit.text, item.old)
    why = why_it_erodes(target.text, after.decode())
    if why:
        raise GovernanceRefusedError(f"an agent may not shrink {item.target}: {why}")
    if not target.diff(edit.text, item.old):
        raise WriteRefusedError(f"{item.target} holds that already")
    quotes = (Quote(edit.text or item.old, item.session),) if item.session else ()
    waiting = Waiting(
        item_id(f"{item.target}\0{item.old}\0{edit.text}", quotes),
        "proposed",
        edit.text,
        f"proposed-by-{actor}",
        now_stamp(),
        source=Source("agent", item.session, name=actor),
        quotes=quotes,
        target=item.target,
        old=item.old,
        digest=target.digest,
        rationale=secrets.text,
    )
    queue = read_queue(store)
    settled = next((how for each, how in queue.settled if each.id == waiting.id), None)
    if settled == REJECTED:
        raise WriteRefusedError("a person rejected this before")
    known = any(each.id == waiting.id for each in queue.waiting)
    if not known:
        queue_proposals(store, [waiting], "propose", actor)
    masked = edit.count + secrets.count
    warnings = (*_cut(item.cut), *((f"{times(masked, 'secret')} masked; cam keeps none",) if masked else ()))
    return Proposed(waiting, target.diff(edit.text, item.old), is_new=not known, warnings=warnings)


def queue_proposals(store: MarkdownStore, items: Sequence[Waiting], kind: str, actor: str) -> None:
    """Put proposals into the review queue, in one line of the audit log.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    line = render_audit(at=now_stamp(), kind=kind, actor=actor, plan=MemoryPlan(), proposed=items)
    store.commit(MemoryPlan(), _line(store, line))


def _leave(store: MarkdownStore, candidate: Candidate, verdict: Verdict, actor: str) -> str:
    """Let the item wait, once, and say so."""
    why = _WORDS[verdict.reason]
    name = item_id(candidate.summary, candidate.quotes)
    queue = read_queue(store)
    if any(each.id == name and how == REJECTED for each, how in queue.settled):
        return f"{why}; a person rejected it before"
    if not any(each.id == name for each in queue.waiting):
        conflict = Conflict(candidate, verdict.against, verdict.reason)
        line = render_audit(
            at=now_stamp(), kind="remember", actor=actor, plan=MemoryPlan(), conflicts=(conflict,)
        )
        store.commit(MemoryPlan(), _line(store, line))
    others = "".join(f" ({r.ref})" for r in verdict.against[:1])
    return f"{why}{others}; it waits for the person: cam review accept {name}"


def _left_out(wanted: MemoryRecord, known: MemoryRecord) -> tuple[str, ...]:
    """What an item says beside its text, where the record that says it already does not."""
    window = (wanted.valid_from, wanted.valid_until)
    dates = any(window) and window != (known.valid_from, known.valid_until)
    links = not set(wanted.related) <= set(known.related)
    what = " and ".join((*(("dates",) if dates else ()), *(("links",) if links else ())))
    return (f"it is remembered already; its {what} stay as they were",) if what else ()


def _cut(count: int) -> tuple[str, ...]:
    return (f"{times(count, 'private span')} cut out",) if count else ()


def _line(store: MarkdownStore, line: str) -> Attachment:
    layout = store.layout
    return Attachment(((os.path.relpath(layout.audit_file, layout.root), line),))
