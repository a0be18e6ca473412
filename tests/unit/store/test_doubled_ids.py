"""Two blocks with one id, as a person's copy makes them: both are shown, and neither is written to."""

from pathlib import Path

import pytest

from cam.core.errors import DoubledIdError
from cam.core.operations import MemoryOperation, OperationKind, build_plan, doubled
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.memory.flow import forget, remember
from cam.recall.flow import Recall
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.start_index import StartIndex
from tests.unit.recall.ask import request

AT = "2026-11-30T10:00:00.000Z"
NOW = "2026-12-01T00:00:00.000Z"
PROJECT, ACTIVE = MemoryScope.PROJECT, MemoryState.ACTIVE


def fact(name: str, text: str) -> MemoryRecord:
    return MemoryRecord(PROJECT, "reference", name, text, created_at=AT, updated_at=AT)


FIRST, OTHER = fact("port", "The API listens on port 4100"), fact("host", "The host is called alder")


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    store = MarkdownStore(StoreLayout(str(tmp_path / "store"), "p", "p"))
    do(store, OperationKind.ADD, FIRST)
    copy(store)
    do(store, OperationKind.ADD, OTHER)
    return store


def do(store: MarkdownStore, kind: OperationKind, record: MemoryRecord) -> None:
    operation = MemoryOperation(kind, record, "said")
    transact(store, lambda snapshot: (build_plan([operation], snapshot.records), None))


def path(store: MarkdownStore) -> Path:
    return Path(store.layout.topic_file(PROJECT, ACTIVE, "reference"))


def copy(store: MarkdownStore) -> None:
    text = path(store).read_text(encoding="utf-8")
    block = text[text.index("## ") :]
    path(store).write_text(f"{text}\n{block.replace('4100', '4200')}", encoding="utf-8")


def said(store: MarkdownStore) -> list[str]:
    return [record.summary for record in store.snapshot().records]


def test_both_are_shown_and_the_problem_names_both_lines(store: MarkdownStore) -> None:
    assert said(store) == [FIRST.summary, "The API listens on port 4200", OTHER.summary]
    (problem,) = store.snapshot().problems
    lines = path(store).read_text(encoding="utf-8").split("\n")
    assert problem.path == str(path(store))
    assert lines[problem.line - 1] == "## The API listens on port 4200"
    first = int(problem.reason.partition("in line ")[2].partition(":")[0])
    assert lines[first - 1] == f"## {FIRST.summary}"


@pytest.mark.parametrize("use_index", [False, True])
def test_recall_and_the_start_show_both(store: MarkdownStore, use_index: bool) -> None:
    for _ in range(2):  # built, then read
        recall = Recall(store.layout, now=NOW, use_index=use_index)
        found = recall.search(request("port of the API"))
        assert [card.summary for card in found.cards] == said(store)[:2]
        whole = recall.details([str(FIRST.ref)])
        assert [each.record.summary for each in whole.items] == said(store)[:2]
        assert found.problems == whole.problems == store.snapshot().problems
    for _ in range(2):
        start = StartIndex(store.layout)
        assert [each.summary for each in start.candidates] == said(store)
        assert tuple(start.problems) == store.snapshot().problems
        start.save()


def test_a_write_to_that_id_is_refused_and_others_are_not(store: MarkdownStore) -> None:
    before = path(store).read_bytes()
    with pytest.raises(
        DoubledIdError, match=r"port stands twice, in \S+ line 4 and 7; take one out"
    ) as refused:
        forget(store, [FIRST.ref], delete=False)
    assert refused.value.exit_code == 4
    assert "\n" not in str(refused.value)
    with pytest.raises(DoubledIdError):
        do(store, OperationKind.UPDATE, fact("port", "The API listens on port 4300"))
    assert path(store).read_bytes() == before
    remember(store, "Tickets are in Linear", (), PROJECT, "reference")
    forget(store, [OTHER.ref], delete=True)
    assert said(store) == [FIRST.summary, "The API listens on port 4200", "Tickets are in Linear"]


def test_what_is_left_of_the_two_is_the_record(store: MarkdownStore) -> None:
    text = path(store).read_text(encoding="utf-8")
    begin, end = text.index(f"## {FIRST.summary}"), text.index("## The API listens on port 4200")
    path(store).write_text(text[:begin] + text[end:], encoding="utf-8")
    forget(store, [FIRST.ref], delete=False)
    told = [(e.kind, e.reason, e.before and e.before.summary) for e in store.history(PROJECT)]
    assert told[-2:] == [
        ("update", "edited by hand", FIRST.summary),
        ("archive", "you asked to forget it", "The API listens on port 4200"),
    ]


def test_without_its_marker_a_copy_is_a_record_of_its_own(store: MarkdownStore) -> None:
    head, marker, rest = path(store).read_text(encoding="utf-8").rpartition('<!-- cam:record {"id": "port"')
    path(store).write_text(head + rest.partition("-->\n")[2] if marker else "", encoding="utf-8")
    assert not store.snapshot().problems
    assert not doubled(store.snapshot().records)
    forget(store, [FIRST.ref], delete=True)
    assert said(store) == ["The API listens on port 4200", OTHER.summary]


def test_one_id_active_and_archived_is_refused_as_well(store: MarkdownStore) -> None:
    archive = Path(store.layout.topic_file(PROJECT, MemoryState.ARCHIVED, "reference"))
    archive.parent.mkdir(parents=True, exist_ok=True)
    text = path(store).read_text(encoding="utf-8")
    archive.write_text(text[text.index("## The host") :], encoding="utf-8")
    with pytest.raises(DoubledIdError, match="archive"):
        forget(store, [OTHER.ref], delete=True)


def test_what_is_about_a_doubled_id_can_be_left_out(store: MarkdownStore) -> None:
    records = store.snapshot().records
    operations = [
        MemoryOperation(OperationKind.ARCHIVE, FIRST.archived("old", NOW), "corrected"),
        MemoryOperation(OperationKind.ADD, fact("new", "The API listens on port 4300"), "said"),
    ]
    plan = build_plan(operations, records, doubled(records))
    assert [change.ref.id for change in plan.changes] == ["new"]
    assert [(noop.record.id, "stands twice" in noop.reason) for noop in plan.noops] == [("port", True)]
