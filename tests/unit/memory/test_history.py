"""What the history tells: who said it, how it was, what changed since."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from cam.core.errors import NotFoundError
from cam.core.operations import Change, MemoryOperation, OperationKind, Quote
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState
from cam.formats.history import HistoryEvent, event_of, parse_history
from cam.memory import edits
from cam.memory.flow import change, forget, remember, tell, undo
from cam.memory.wish import Wish
from cam.render.history import difference_text, story_data, story_text
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.story import difference, record_at, story

PROJECT, GLOBAL = MemoryScope.PROJECT, MemoryScope.GLOBAL


def day(n: int) -> str:
    return f"2026-11-{n:02}T10:00:00.000Z"


BORN = MemoryRecord(PROJECT, "workflow", "deploy", "Deploy on Mondays", created_at=day(1), updated_at=day(1))
GROWN = replace(BORN, summary="Deploy on Tuesdays", updated_at=day(3))
OLD = GROWN.archived("replaced", day(5))
NEW = MemoryRecord(PROJECT, "workflow", "deploy-2", "Deploy on Fridays", created_at=day(5), updated_at=day(5))


def event(
    n: int, kind: OperationKind, before: MemoryRecord | None, after: MemoryRecord | None, **more: object
) -> HistoryEvent:
    record = after or before
    assert record is not None
    reason = "edited by hand" if more.get("actor") == "file" else f"reason {n}"
    operation = MemoryOperation(kind, record, reason, **more)  # type: ignore[arg-type]
    return event_of(Change(operation, before, after), f"t{n}", day(n))


EVENTS = [
    event(1, OperationKind.ADD, None, BORN, quotes=(Quote("we deploy on Mondays", "s1", 2),), actor="sync"),
    event(3, OperationKind.UPDATE, BORN, GROWN, actor="file"),
    event(5, OperationKind.ADD, None, NEW),
    event(5, OperationKind.ARCHIVE, GROWN, OLD, replaced_by="workflow:deploy-2"),
    event(7, OperationKind.DELETE, OLD, None),
]
RECORDS = [NEW]


def test_the_story_of_a_record_that_is_gone() -> None:
    told = story(EVENTS, RECORDS, OLD.ref)
    assert (told.record, told.last) == (None, OLD)
    assert [(s.event.kind, s.replaced_by) for s in told.steps] == [
        (OperationKind.ADD, ""), (OperationKind.UPDATE, ""),
        (OperationKind.ARCHIVE, "project:active:workflow:deploy-2"), (OperationKind.DELETE, ""),
    ]  # fmt: skip
    text = story_text(told)
    assert "“we deploy on Mondays”  session s1, message 2" in text
    assert "    - Deploy on Mondays\n    + Deploy on Tuesdays" in text
    assert f"{day(3)}  edited by hand  (t3)" in text
    assert "(deleted)" in text
    data = story_data(told)
    assert (data["exists"], data["events"][1]["by_hand"]) == (False, True)
    assert data["events"][0]["quotes"] == [{"text": "we deploy on Mondays", "session": "s1", "ordinal": 2}]


def test_the_story_of_what_replaced_it() -> None:
    (step,) = story(EVENTS, RECORDS, NEW.ref).steps
    assert step.replaces == ("project:archived:workflow:deploy",)


def test_the_state_of_a_ref_is_a_hint_and_what_never_was_is_not_found() -> None:
    assert story(EVENTS, RECORDS, BORN.ref).ref == str(OLD.ref)
    with pytest.raises(NotFoundError, match="nothing is known"):
        story(EVENTS, RECORDS, MemoryRef.parse("global:active:workflow:deploy"))


@pytest.mark.parametrize(
    ("at", "expected"), [(day(1), BORN), (day(2), BORN), (day(4), GROWN), (day(5), OLD), (day(6), OLD)]
)
def test_a_record_as_it_was(at: str, expected: MemoryRecord) -> None:
    assert record_at(story(EVENTS, RECORDS, BORN.ref), BORN.ref, at) == expected


@pytest.mark.parametrize("at", ["2026-10-31T23:59:59.999Z", day(7), day(30)])
def test_a_record_that_was_not_there(at: str) -> None:
    with pytest.raises(NotFoundError, match="did not exist"):
        record_at(story(EVENTS, RECORDS, BORN.ref), BORN.ref, at)


def test_a_record_without_history_is_known_from_its_own_dates() -> None:
    assert record_at(story([], [BORN], BORN.ref), BORN.ref, day(2)) == BORN
    assert record_at(story(EVENTS[1:], [], BORN.ref), BORN.ref, day(2)) == BORN
    with pytest.raises(NotFoundError):
        record_at(story([], [BORN], BORN.ref), BORN.ref, "2026-10-01T00:00:00.000Z")


def test_the_difference_is_net_and_by_scope() -> None:
    (turn,) = difference(EVENTS, day(1))[PROJECT][1:]
    assert (turn.what, turn.record) == ("added", NEW)
    found = difference(EVENTS, day(4))
    assert [(t.what, t.record.id) for t in found[PROJECT]] == [("added", "deploy-2"), ("deleted", "deploy")]
    assert [(t.what, t.transactions) for t in difference(EVENTS[:4], day(4))[PROJECT]] == [
        ("added", ("t5",)), ("archived", ("t5",)),
    ]  # fmt: skip
    assert difference(EVENTS, "2026-10-01T00:00:00.000Z")[PROJECT][0].record == NEW  # the other came and went
    assert difference(EVENTS, day(9)) == {}
    assert "1 added, 1 archived" in difference_text(day(4), difference(EVENTS[:4], day(4)))


def test_lines_of_the_predecessor_are_shown_as_they_are() -> None:
    line = (
        '{"at":"2026-11-30T15:09:52.657Z","action":"delete","outcome":"applied","previousState":"active",'
        '"nextState":"deleted","scope":"project","state":"deleted","topic":"reference","id":"notes",'
        '"summary":"Release notes live in docs/releases.","reason":"Manual forget."}'
    )
    events = [e for e in parse_history([line]) if e]
    told = story(events, [], MemoryRef.parse("project:active:reference:notes"))
    text = story_text(told)
    assert "deleted: Manual forget. Release notes live in docs/releases." in text
    assert "as an earlier cam noted it" in text
    assert difference(events, "2026-01-01T00:00:00.000Z") == {}


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))


@pytest.mark.parametrize("to", [MemoryScope.GLOBAL, MemoryScope.PROJECT_LOCAL])
def test_a_moved_record_has_one_story_under_both_names(store: MarkdownStore, to: MemoryScope) -> None:
    record = remember(store, "Use pnpm", (), PROJECT, "workflow").record
    start = store.history(PROJECT)[-1].at
    moved = change(store, "move", partial(edits.move, scope=to, topic="commands"), record.ref).records[0]
    change(store, "edit", partial(edits.edit, wish=Wish("Use pnpm 9")), moved.ref)
    events, snapshot = tell(store)
    for ref in (record.ref, moved.ref):
        told = story(events, snapshot.records, ref)
        assert told.record is not None
        assert (told.ref, told.record.summary, len(told.steps)) == (str(moved.ref), "Use pnpm 9", 4)
        assert record_at(told, ref, start) == record
    (turn,) = difference(events, start).get(to, [])
    assert (turn.what, turn.before) == ("moved", record)
    undo(store, 2)
    events, snapshot = tell(store)
    told = story(events, snapshot.records, moved.ref)
    assert told.record == record
    assert (
        record_at(story(events, snapshot.records, moved.ref), moved.ref, "2099-01-01T00:00:00.000Z") == record
    )
    assert difference(events, start) == {}


def test_hand_edits_are_told_before_anything_notes_them(store: MarkdownStore) -> None:
    record = remember(store, "Use pnpm", (), PROJECT, "workflow").record
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text(path.read_text().replace("## Use pnpm", "## Use npm"))
    written = path.read_bytes()
    events, snapshot = tell(store)
    last = story(events, snapshot.records, record.ref).steps[-1].event
    assert (last.actor, last.transaction, last.after and last.after.summary) == ("file", "", "Use npm")
    assert path.read_bytes() == written
    assert len(store.history(PROJECT)) == 1


def test_forget_and_back(store: MarkdownStore) -> None:
    record = remember(store, "Use pnpm", (), PROJECT, "workflow").record
    forget(store, [record.ref], delete=True)
    undo(store)
    events, snapshot = tell(store)
    kinds = [s.event.kind for s in story(events, snapshot.records, record.ref).steps]
    assert kinds == [OperationKind.ADD, OperationKind.DELETE, OperationKind.ADD]
