"""A record's life and its neighbours, and whole records, over a store as people use it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.memory.flow import forget, remember
from cam.recall.flow import Recall
from cam.recall.request import Filters, TimelineRequest
from cam.recall.result import Timeline
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from tests.unit.recall.ask import request

NOW = "2090-01-01T00:00:00.000Z"  # later than anything that is written while this runs
PROJECT = MemoryScope.PROJECT


def at(day: int, name: str = "", **more: Any) -> MemoryRecord:
    stamp = f"2026-11-{day:02}T12:00:00.000Z"
    record = MemoryRecord(
        PROJECT, "workflow", name or f"day-{day}", f"What was said on day {day}",
        ("and a detail",), created_at=stamp, updated_at=stamp,
    )  # fmt: skip
    return replace(record, **more)


RECORDS = (
    *(at(day) for day in range(1, 11)),
    at(5, "twin-a"),
    at(5, "twin-b"),
    at(6, "gone", valid_until="2026-11-20"),
    at(7, "old", state=MemoryState.ARCHIVED),
    at(20, "later", topic="debugging"),
    at(8, "secret", summary="staging has password=hunter2 and <private>a place</private>"),
)


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    store = MarkdownStore(StoreLayout(str(tmp_path / "store"), "p", "p"))
    operations = [MemoryOperation(OperationKind.ADD, r, "said") for r in RECORDS]
    transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))
    return store


def timeline(store: MarkdownStore, anchor: str, **options: Any) -> Timeline:
    return Recall(store.layout, now=NOW).timeline(TimelineRequest(anchor, **options))


def ids(result: Timeline) -> list[str]:
    return [card.ref.id for card in result.cards]


REF = "project:active:workflow:"


def test_the_window_is_in_the_order_of_creation_and_ref(store: MarkdownStore) -> None:
    result = timeline(store, f"{REF}twin-a", before=2, after=2)
    assert ids(result) == ["day-4", "day-5", "twin-a", "twin-b", "day-6"]
    assert (result.ref, result.date, result.total) == (f"{REF}twin-a", "2026-11-05T12:00:00.000Z", 5)
    assert all(card.score == 0 and not card.terms for card in result.cards)


@pytest.mark.parametrize(
    ("anchor", "before", "after", "expected"),
    [
        (f"{REF}day-5", 0, 0, ["day-5"]),
        (f"{REF}day-5", 0, 2, ["day-5", "twin-a", "twin-b"]),
        (f"{REF}day-1", 5, 0, ["day-1"]),
        ("2026-11-05", 1, 1, ["day-4", "day-5"]),
        ("2026-11-05T12:00:00Z", 1, 1, ["day-4", "day-5"]),
        ("2026-11-05T14:00:00+02:00", 1, 1, ["day-4", "day-5"]),
        ("2026-11-05T12:00:00.000000001Z", 1, 1, ["twin-b", "day-6"]),
        ("2030-01-01", 2, 5, ["day-10", "later"]),
        ("2000-01-01", 2, 1, ["day-1"]),
        ("2000-01-01", 2, 0, []),
    ],
)
def test_what_stands_before_and_after(
    store: MarkdownStore, anchor: str, before: int, after: int, expected: list[str]
) -> None:
    result = timeline(store, anchor, before=before, after=after)
    assert ids(result) == expected
    assert result.total == len(expected)


def test_an_anchor_that_filters_leave_out_still_is_the_centre(store: MarkdownStore) -> None:
    result = timeline(store, f"{REF}day-8", filters=Filters(topic="debugging"), before=1, after=1)
    assert ids(result) == ["later"]
    days = Filters(until="2026-11-06", since="2026-11-04")
    assert ids(timeline(store, f"{REF}day-8", filters=days, before=3, after=3)) == [
        "twin-a",
        "twin-b",
        "day-6",
    ]


def test_archived_neighbours_stand_around_an_archived_anchor(store: MarkdownStore) -> None:
    ref = "project:archived:workflow:old"
    assert ids(timeline(store, ref, before=1, after=1)) == ["day-7", "old", "day-8"]
    assert "old" not in ids(timeline(store, f"{REF}day-8", before=1, after=1))
    assert ids(timeline(store, f"{REF}day-8", before=1, after=0, state="all")) == ["old", "day-8"]
    assert ids(timeline(store, f"{REF}day-8", before=1, after=1, state="archived")) == ["old"]


def test_pages_cut_the_window(store: MarkdownStore) -> None:
    pages = [timeline(store, f"{REF}day-5", before=2, after=2, page=n, page_size=2) for n in (1, 2, 3, 4)]
    assert [ids(page) for page in pages] == [["day-3", "day-4"], ["day-5", "twin-a"], ["twin-b"], []]
    assert {page.total for page in pages} == {5}


@pytest.mark.parametrize(
    "anchor",
    [f"{REF}none", f"{REF}gone", "global:active:workflow:day-1", "yesterday", "2026-11-31",
     "2026-11-05T12:00", "2026-11-05 12:00Z", "2026-11-05T24:00Z", "", "2026-11-05T12:00:00.0123456789Z"],
)  # fmt: skip
def test_an_anchor_that_is_nothing_is_not_found(store: MarkdownStore, anchor: str) -> None:
    with pytest.raises(NotFoundError):
        timeline(store, anchor)


@pytest.mark.parametrize(
    "options", [{"before": -1}, {"after": 101}, {"page": 0}, {"page_size": 0}, {"state": "x"}]
)
def test_numbers_out_of_bounds_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        TimelineRequest("2026-11-05", **options).check()


def test_a_record_tells_its_own_life(store: MarkdownStore) -> None:
    first = remember(store, "The API listens on port 3000", (), PROJECT, "reference").record
    second = remember(store, "The API listens on port 4100", (), PROJECT, "reference").record
    life = timeline(store, str(first.ref)).life
    assert [str(step.event.kind) for step in life] == ["add", "archive"]
    assert (life[0].event.before, life[0].event.after) == (None, first)
    assert life[1].replaced_by == str(second.ref)
    # The state of a ref is a hint, and what took its place tells what it replaced.
    archived = timeline(store, str(first.ref).replace("active", "archived"))
    assert archived.life == life
    assert archived.ref == str(first.ref).replace("active", "archived")
    told = timeline(store, str(second.ref)).life
    assert [step.replaces for step in told] == [(str(first.ref).replace("active", "archived"),)]
    forget(store, [second.ref], delete=True)
    gone = timeline(store, str(second.ref))
    assert [str(step.event.kind) for step in gone.life] == ["add", "delete"]
    assert str(second.ref) not in {str(card.ref) for card in gone.cards}


def test_an_edit_by_hand_is_part_of_its_life(store: MarkdownStore) -> None:
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text(path.read_text().replace("said on day 4", "meant on day 4"))
    last = timeline(store, f"{REF}day-4").life[-1].event
    assert last.actor == "file"
    assert last.after is not None
    assert last.after.summary == "What was meant on day 4"


def test_nothing_private_or_secret_is_told(store: MarkdownStore) -> None:
    result = timeline(store, f"{REF}secret", before=0, after=0)
    said = repr(result)
    assert "hunter2" not in said
    assert "a place" not in said
    assert (result.cut, result.masked) == (2, 2)
    (item,) = Recall(store.layout, now=NOW).details([f"{REF}secret"]).items
    assert (item.cut, item.masked) == (1, 1)
    assert "hunter2" not in repr(item)
    assert item.record.summary.startswith("staging has password=")


def test_details_are_all_or_nothing_in_the_order_asked_for(store: MarkdownStore) -> None:
    recall = Recall(store.layout, now=NOW)
    asked = [f"{REF}day-3", f"{REF}day-1", f"{REF}day-3"]
    result = recall.details(asked)
    assert [str(item.record.ref) for item in result.items] == asked
    assert result.items[0].record == RECORDS[2]
    assert result.items[0].path == "projects/p/project/workflow.md"
    for missing in ("none", "DAY-1x", "gone"):
        with pytest.raises(NotFoundError):
            recall.details([f"{REF}day-1", f"{REF}{missing.lower()}"])
    with pytest.raises(NotFoundError):
        recall.details(["project:archived:workflow:day-1"])
    assert recall.details(["project:archived:workflow:old"]).items
    for wrong in ([], ["day-1"], [f"{REF}DAY-1"], [f"{REF}day-1"] * 101):
        with pytest.raises(InvalidInputError):
            recall.details(wrong)
    assert len(recall.details([f"{REF}day-1"] * 100).items) == 100


def test_a_life_is_found_in_a_long_history(store: MarkdownStore) -> None:
    history = Path(store.layout.history_file(PROJECT))
    lines = history.read_text().splitlines()
    noise = json.dumps(json.loads(lines[1]) | {"ref": f"{REF}other"})
    history.write_text("\n".join([*[noise] * 2000, *lines, "{torn", '{"tx":1}', *[noise] * 2000]) + "\n")
    assert len(timeline(store, f"{REF}day-4").life) == 1


def test_search_and_details_go_together(store: MarkdownStore) -> None:
    recall = Recall(store.layout, now=NOW)
    cards = recall.search(request("said day")).cards
    refs = [str(card.ref) for card in cards]
    assert [str(item.record.ref) for item in recall.details(refs).items] == refs
    assert [item.est_tokens for item in recall.details(refs).items] == [card.est_tokens for card in cards]
