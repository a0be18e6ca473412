"""The log: changes as lessons, newest first, each with its words and the way back."""

import sys
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cam.core.operations import Change, MemoryOperation, OperationKind, Quote
from cam.core.records import MemoryRecord, MemoryScope, Source
from cam.formats.history import HistoryEvent, event_of, headline, headline_of, render_event
from cam.memory.log import log, steps
from cam.render.log import SHOWN, log_data, log_text

PROJECT = MemoryScope.PROJECT


def day(n: int) -> str:
    return f"2026-11-{n:02}T10:00:00.000Z"


OLD = MemoryRecord(PROJECT, "reference", "port-1", "Port 3000", created_at=day(1), updated_at=day(1))
NEW = MemoryRecord(PROJECT, "reference", "port-2", "Port 4100", created_at=day(2), updated_at=day(2))
SAID = Quote("it is 4100 now", "0190-abc", 3)


def event(
    name: str,
    n: int,
    kind: OperationKind,
    before: MemoryRecord | None,
    after: MemoryRecord | None,
    **more: object,
) -> HistoryEvent:
    record = after or before
    assert record is not None
    reason = str(more.pop("reason", "why"))
    operation = MemoryOperation(kind, record, reason, **more)  # type: ignore[arg-type]
    return event_of(Change(operation, before, after), name, day(n))


CORRECTED = [
    event(
        "t2",
        2,
        OperationKind.ARCHIVE,
        OLD,
        OLD.archived("x", day(2)),
        replaced_by="reference:port-2",
        actor="sync",
    ),
    event("t2", 2, OperationKind.ADD, None, NEW, quotes=(SAID,), actor="sync"),
]


def test_a_correction_is_one_lesson_with_what_it_replaced_and_the_words() -> None:
    (entry,) = log(CORRECTED)
    (lesson,) = entry.lessons
    assert (lesson.what, lesson.record, lesson.was, lesson.quotes) == ("corrected", NEW, (OLD,), (SAID,))
    assert (entry.session, entry.can_undo) == ("0190-abc", True)
    text = log_text([entry], 1)
    assert "session 0190-abc  corrected 1" in text
    assert "“it is 4100 now”  message 3" in text
    assert text.endswith("undo: cam undo t2")


def test_what_was_taken_back_says_how_to_bring_it_again() -> None:
    back = event("t3", 3, OperationKind.DELETE, NEW, None, reason="undo of t2")
    undo, change = log([*CORRECTED, back])
    assert (undo.undoes, undo.can_undo) == ("t2", True)
    assert (change.undone_by, change.can_undo) == ("t3", False)
    again = event("t4", 4, OperationKind.ADD, None, NEW, reason="undo of t3")
    redo, undo, change = log([*CORRECTED, back, again])
    assert redo.lessons[0].what == "restored"
    assert (undo.undone_by, change.undone_by, change.can_undo) == ("t4", "", True)


def test_a_hand_edit_stands_apart_from_the_change_that_noted_it() -> None:
    hand = event("t2", 2, OperationKind.UPDATE, OLD, replace(OLD, summary="Port 3001"), actor="file")
    entries = log([hand, *CORRECTED])
    assert [(e.actor, e.can_undo) for e in entries] == [("file", False), ("sync", True)]
    assert "was: Port 3000" in log_text(entries, 2)


def test_the_halves_of_a_move_are_one_lesson() -> None:
    away = replace(OLD, scope=MemoryScope.GLOBAL)
    halves = [
        event("t5", 5, OperationKind.MOVE, OLD, None),
        event("t5", 5, OperationKind.MOVE, None, away),
    ]
    (entry,) = log(halves)
    assert [(lesson.what, lesson.was) for lesson in entry.lessons] == [("moved", (OLD,))]


def test_a_restatement_only_adds_a_source() -> None:
    again = OLD.with_source(Source("session", "0190-xyz"))
    (entry,) = log([event("t6", 6, OperationKind.UPDATE, OLD, again, actor="sync")])
    assert (entry.lessons[0].what, entry.session) == ("confirmed", "0190-xyz")


def test_of_a_great_import_the_first_are_told() -> None:
    many = [
        event("t7", 7, OperationKind.ADD, None, replace(NEW, id=f"n{n}", summary=f"Fact {n}"))
        for n in range(50)
    ]
    text = log_text(log(many), 1)
    assert "learned 50" in text
    assert "Fact 19" in text
    assert "Fact 20" not in text
    assert "… and 30 more: cam log --json" in text


def test_what_the_predecessor_noted_has_neither_text_nor_way_back() -> None:
    told = [HistoryEvent("", day(n), OperationKind.ADD, f"project:active:workflow:x{n}") for n in (1, 2)]
    entries = log(told)
    assert [entry.can_undo for entry in entries] == [False, False]
    assert "undo" not in log_text(entries, 2)


def test_the_log_takes_time_in_proportion_to_the_changes() -> None:
    def calls_for(count: int) -> int:
        records = [replace(NEW, id=f"n{n}", summary=f"Fact {n}") for n in range(count)]
        adds = [event("t8", 8, OperationKind.ADD, None, record) for record in records]
        gone = [
            event("t8", 8, OperationKind.ARCHIVE, OLD, None, replaced_by=f"reference:{r.id}") for r in records
        ]
        calls = 0

        def count_call(*_: object) -> None:
            nonlocal calls
            calls += 1

        before = sys.getprofile()
        sys.setprofile(count_call)
        try:
            log([*gone, *adds])
        finally:
            sys.setprofile(before)
        return calls

    assert calls_for(400) < 5 * calls_for(100)


@given(
    st.lists(
        st.tuples(st.sampled_from(["t1", "t2", "t3", ""]), st.sampled_from(list(OperationKind))), max_size=12
    )
)
def test_every_change_is_told_once(rows: list[tuple[str, OperationKind]]) -> None:
    events = [
        HistoryEvent(name, day(n + 1), kind, f"project:active:workflow:x{n}", before=OLD, after=NEW)
        for n, (name, kind) in enumerate(rows)
    ]
    entries = log(events)
    refs = [lesson.ref for entry in entries for lesson in entry.lessons]
    assert sorted(refs) == sorted(e.ref for e in events if e.applied)
    assert [e.at for e in entries] == sorted((e.at for e in entries), reverse=True)
    assert log_data(entries, len(entries))["count"] == len(entries)


@given(st.text(max_size=40), st.text(max_size=20), st.booleans(), st.sampled_from(["", "laptop-1a2b"]))
def test_a_headline_says_what_the_line_says(reason: str, summary: str, by_hand: bool, machine: str) -> None:
    record = replace(OLD, summary=summary.replace("\n", " ") + ".")
    actor = "file" if by_hand else "user"
    told = event("t9", 4, OperationKind.ADD, None, record, reason=reason, actor=actor)
    told = replace(told, machine=machine)
    line = headline(render_event(told))
    assert line is not None
    assert line.event is None
    assert line._replace(line="", reason=reason, event=told) == headline_of(told)
    assert line.whole() == told


def test_a_line_of_the_predecessor_or_of_nobody() -> None:
    theirs = '{"at":"2026-01-01T00:00:00Z","action":"add","ref":"project:active:commands:a"}'
    found = headline(theirs)
    assert found is not None
    assert (found.kind, found.transaction) == ("add", "")
    assert [headline(text) for text in ("", "{", '{"tx":"t","at":"x"}')] == [None, None, None]
    torn = headline(render_event(CORRECTED[0])[:-30] + "}")
    assert torn is not None
    assert torn.whole() is None


def test_a_large_change_is_counted_without_being_read() -> None:
    many = [
        event("t5", 5, OperationKind.ADD, None, replace(NEW, id=f"port-{n}", summary=f"Port {n}"))
        for n in range(2000)
    ]
    (step,) = steps(headline(render_event(each)) for each in many)  # type: ignore[misc]
    whole, short = step.entry(), step.entry(SHOWN)
    assert whole is not None
    assert short is not None
    assert (len(whole.lessons), whole.left, len(short.lessons), short.left) == (2000, 0, SHOWN, 2000 - SHOWN)
    assert log_text([short], 1) == log_text([whole], 1)
    assert "learned 2,000" in log_text([short], 1)
