"""What sync left to a person: everything is listed, decisions hold, undo brings an item back."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from cam.core.errors import InvalidInputError, NotFoundError, WriteRefusedError
from cam.core.extraction import Candidate, Conflict, Rejection, SpeechAct
from cam.core.operations import MemoryPlan, Quote
from cam.core.records import PERSON, MemoryRecord, MemoryScope, MemoryState, Source
from cam.core.seams import Attachment
from cam.formats.audit import item_id, parse_audit, render_audit
from cam.formats.history import quote_to_data
from cam.memory.flow import forget, remember, undo
from cam.memory.review import accept, read_queue, reject
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore

PROJECT = MemoryScope.PROJECT
AT = "2026-11-30T10:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))


def say(store: MarkdownStore, text: str) -> MemoryRecord:
    return remember(store, text, (), PROJECT, "reference").record


def candidate(text: str, ordinal: int = 1) -> Candidate:
    quote = Quote(f"btw {text}", "s-1", ordinal, "t1", 4, "/rollout.jsonl")
    source = Source("session", "s-1", ordinal, "abcdefabcdef")
    return Candidate(PROJECT, "reference", text, SpeechAct.FACT, AT, source, (quote,), ("and more",))


def log(
    store: MarkdownStore,
    conflicts: Sequence[Conflict] = (),
    rejections: Sequence[Rejection] = (),
    at: str = AT,
) -> None:
    """A sync that left something."""
    line = render_audit(
        at=at,
        kind="sync",
        actor="sync",
        plan=MemoryPlan(),
        conflicts=tuple(conflicts),
        rejections=tuple(rejections),
    )
    path = os.path.relpath(store.layout.audit_file, store.layout.root)
    store.commit(MemoryPlan(), Attachment(((path, line),)))


def states(store: MarkdownStore) -> dict[str, str]:
    return {r.summary: str(r.state) for r in store.snapshot().records}


def test_accepting_makes_a_record_of_the_persons_word(store: MarkdownStore) -> None:
    old = say(store, "The API listens on port 3000")
    said = candidate("The API listens on port 4100")
    log(store, [Conflict(said, (old,), "passing")])
    (item,) = read_queue(store).waiting
    assert (item.kind, item.reason, item.conflicts_with) == ("suppressed", "passing", (str(old.ref),))

    done = accept(store, item.id)
    record = next(r for r in store.snapshot().records if r.state is MemoryState.ACTIVE)
    assert (record.summary, record.details) == (said.summary, said.details)
    assert record.sources == (said.source, PERSON)
    assert states(store)[old.summary] == "archived"
    event = next(e for e in store.history(PROJECT) if e.after == record)
    assert event.quotes == said.quotes
    assert event.transaction == done.transaction
    assert read_queue(store).waiting == ()
    assert [how for _, how in read_queue(store).settled] == ["accepted"]


def test_an_undone_acceptance_waits_again(store: MarkdownStore) -> None:
    old = say(store, "The API listens on port 3000")
    log(store, [Conflict(candidate("The API listens on port 4100"), (old,), "passing")])
    (item,) = read_queue(store).waiting
    done = accept(store, item.id)
    back = undo(store)[0]
    assert states(store) == {old.summary: "active"}
    assert read_queue(store).waiting == (item,)
    undo(store, back.transaction)  # redo
    assert read_queue(store).waiting == ()
    assert done.plan.changes


def test_what_was_accepted_twice_and_undone_waits_again(store: MarkdownStore) -> None:
    say(store, "The API listens on port 3000")
    old = store.snapshot().records[0]
    log(store, [Conflict(candidate("The API listens on port 4100"), (old,), "passing")])
    (item,) = read_queue(store).waiting
    accept(store, item.id)
    accept(store, item.id)
    back = undo(store)[0]
    assert states(store) == {old.summary: "active"}
    assert read_queue(store).waiting == (item,)
    undo(store, back.transaction)  # redo
    assert read_queue(store).waiting == ()
    undo(store, undo(store)[0].transaction)
    assert [how for _, how in read_queue(store).settled] == ["accepted"]


def test_what_was_accepted_and_forgotten_does_not_wait_again(store: MarkdownStore) -> None:
    log(
        store,
        rejections=[
            Rejection("Deploys run on Tuesdays", "hedge", Quote("Deploys run on Tuesdays", "s-1", 2))
        ],
    )
    (item,) = read_queue(store).waiting
    done = accept(store, item.id)
    forget(store, [done.plan.changes[0].ref], delete=True)
    assert read_queue(store).waiting == ()


def test_a_rejection_holds_however_often_the_session_is_read(store: MarkdownStore) -> None:
    said = candidate("The API listens on port 4100")
    for at in (AT, "2026-12-01T10:00:00.000Z"):
        log(store, [Conflict(said, (), "uncertain")], at=at)
    (item,) = read_queue(store).waiting  # once
    reject(store, item.id[:5])
    log(store, [Conflict(said, (), "uncertain")], at="2026-12-02T10:00:00.000Z")
    queue = read_queue(store)
    assert queue.waiting == ()
    assert [(i.text, how) for i, how in queue.settled] == [(said.summary, "rejected")]


def test_an_uncertain_correction_archives_only_what_its_words_contradict(store: MarkdownStore) -> None:
    rivals = (say(store, "The worker listens on port 3000"), say(store, "The API listens on port 3001"))
    log(store, [Conflict(candidate("The gateway answers on port 4100"), rivals, "uncertain")])
    done = accept(store, read_queue(store).waiting[0].id)
    assert done.kept == rivals
    assert all(states(store)[r.summary] == "active" for r in rivals)


def test_a_person_says_what_it_replaces(store: MarkdownStore) -> None:
    rivals = (say(store, "The worker listens on port 3000"), say(store, "The API listens on port 3001"))
    log(store, [Conflict(candidate("The gateway answers on port 4100"), rivals, "uncertain")])
    accept(store, read_queue(store).waiting[0].id, replaces=[rivals[1].ref])
    assert states(store)[rivals[0].summary] == "active"
    assert states(store)[rivals[1].summary] == "archived"


def test_what_a_record_says_by_now_does_not_wait(store: MarkdownStore) -> None:
    log(store, rejections=[Rejection("Deploys run on Tuesdays", "hedge", Quote("maybe", "s-1", 2))])
    say(store, "deploys run on tuesdays.")
    queue = read_queue(store)
    assert (queue.waiting, [how for _, how in queue.settled]) == ((), ["remembered"])


def test_a_request_to_forget_becomes_no_record(store: MarkdownStore) -> None:
    log(store, rejections=[Rejection("the port", "forget-unclear", Quote("forget the port", "s-1", 2))])
    (item,) = read_queue(store).waiting
    with pytest.raises(WriteRefusedError, match="cam forget REF"):
        accept(store, item.id)
    reject(store, item.id)
    assert read_queue(store).waiting == ()


def test_a_secret_is_not_accepted(store: MarkdownStore) -> None:
    log(
        store,
        rejections=[
            Rejection("the password is [masked]", "secret", Quote("the password is [masked]", "s-1", 2))
        ],
    )
    with pytest.raises(WriteRefusedError):
        accept(store, read_queue(store).waiting[0].id)


def test_ids_are_found_by_their_beginning(store: MarkdownStore) -> None:
    log(store, rejections=[Rejection(f"rule number {n}", "hedge") for n in range(700)])
    waiting = read_queue(store).waiting
    assert len(waiting) == 700
    for name in ("", waiting[0].id[:3]):
        with pytest.raises(InvalidInputError, match="too short"):
            accept(store, name)
    with pytest.raises(NotFoundError):
        reject(store, "zzzz")
    first = Counter(item.id[:4] for item in waiting)
    several = next(name for name, count in first.items() if count > 1)
    with pytest.raises(InvalidInputError, match="beginning of several"):
        reject(store, several)


def test_lines_that_cannot_be_read_hide_nothing_else(store: MarkdownStore) -> None:
    log(store, rejections=[Rejection("Deploys run on Tuesdays", "hedge")])
    path = Path(store.layout.audit_file)
    whole = path.read_text()
    path.write_text('{"torn\n[]\n{"at":1}\n{"appliedCount":3,"rolloutPath":"/x"}\n' + whole)
    assert [i.text for i in read_queue(store).waiting] == ["Deploys run on Tuesdays"]


def test_what_was_proposed_is_listed_between(store: MarkdownStore) -> None:
    quote = Quote("x y z", "s-1", 1)
    data = {
        "at": AT, "kind": "propose", "applied": [],
        "proposed": [{"text": "Say so in AGENTS.md", "reason": "agent", "quotes": []}],
        "rejected": [
            {"text": "maybe tabs", "reason": "hedge", "quotes": [quote_to_data(quote)]}
        ],
    }  # fmt: skip
    (entry,) = parse_audit([json.dumps(data)])
    assert [(w.kind, w.text) for w in entry.waiting] == [
        ("proposed", "Say so in AGENTS.md"),
        ("rejected", "maybe tabs"),
    ]
    assert entry.waiting[1].id == item_id("maybe tabs", [quote])
