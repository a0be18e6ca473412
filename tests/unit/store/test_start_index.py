"""The start's index: the same as the files say, whatever happened to them since, and to it."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.core.settings import merge_settings
from cam.startup.flow import startup_payload
from cam.store import topics
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.start_index import StartIndex
from cam.store.topics import read_topic
from tests.candidates import candidate_of

AT = "2026-11-30T10:00:00.000Z"


def fact(n: int, scope: MemoryScope = MemoryScope.PROJECT, **more: object) -> MemoryRecord:
    record = MemoryRecord(
        scope, f"topic-{n % 3}", f"r-{n}", f"Fact {n}", ("x",), created_at=AT, updated_at=AT
    )
    return replace(record, **more)  # type: ignore[arg-type]


def store_of(root: Path, *records: MemoryRecord) -> MarkdownStore:
    store = MarkdownStore(StoreLayout(str(root / "store"), "p", "p"))
    change(store, OperationKind.ADD, *records)
    return store


def change(store: MarkdownStore, kind: OperationKind, *records: MemoryRecord) -> None:
    operations = [MemoryOperation(kind, record, "test") for record in records]
    transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))


def agrees(layout: StoreLayout) -> StartIndex:
    """The index and the store say the same, problems too; said twice, the second time from the index."""
    for _ in range(2):
        index = StartIndex(layout)
        snapshot = MarkdownStore(layout).snapshot()
        held = [candidate_of(r) for r in snapshot.records if r.state is MemoryState.ACTIVE]
        assert sorted(index.candidates) == sorted(held)
        assert set(index.problems) == {p for p in snapshot.problems if "/archive/" not in p.path}
        index.save()
    return index


def age(layout: StoreLayout) -> None:
    """Let all topic files be older than the time in which a change may go unnoticed."""
    for folder, _, names in os.walk(layout.root):
        for name in names:
            if name.endswith(".md"):
                os.utime(os.path.join(folder, name), (1_600_000_000, 1_600_000_000))


def test_it_follows_every_kind_of_change(tmp_path: Path) -> None:
    store = store_of(tmp_path, *(fact(n) for n in range(9)), fact(10, MemoryScope.GLOBAL, pinned=True))
    layout = store.layout
    agrees(layout)
    change(store, OperationKind.UPDATE, fact(1, summary="Fact one, changed", valid_until="2027-01-01"))
    change(store, OperationKind.ARCHIVE, fact(2))
    agrees(layout)
    file = Path(layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "topic-1"))
    file.write_text(file.read_text() + "\n## By hand\n\nA person wrote this.\n")
    agrees(layout)
    file.write_bytes(b"\xff\xfe broken")
    agrees(layout)
    file.unlink()
    agrees(layout)
    Path(layout.topics_folder(MemoryScope.PROJECT, MemoryState.ACTIVE), "Not a topic.md").write_text("x")
    agrees(layout)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"files": 5}', b'{"rules": []}', b"\xff"])
def test_a_damaged_index_does_not_count(tmp_path: Path, damage: bytes) -> None:
    layout = store_of(tmp_path, fact(1), fact(2)).layout
    agrees(layout)
    (kept,) = Path(layout.cache_file("start")).glob("*~*.json")
    kept.write_bytes(damage)
    agrees(layout)


def test_an_edit_in_the_same_moment_is_seen(tmp_path: Path) -> None:
    """A file that was just written may be written again without another size or time."""
    layout = store_of(tmp_path, fact(1)).layout
    StartIndex(layout).save()
    file = Path(layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "topic-1"))
    status = file.stat()
    with file.open("r+b") as open_file:
        text = open_file.read().replace(b"Fact 1", b"Fict 1")
        open_file.seek(0)
        open_file.write(text)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert StartIndex(layout).candidates[0].summary == "Fict 1"


def test_notes_are_quoted_and_follow_the_file(tmp_path: Path) -> None:
    layout = store_of(tmp_path, fact(1)).layout
    index_file = Path(layout.index_file(MemoryScope.PROJECT))
    index_file.write_text(f"Ask Ada first <private>her number</private>\n\n{index_file.read_text()}")
    for _ in range(2):
        index = StartIndex(layout)
        assert index.notes[MemoryScope.PROJECT][:1] == ["| Ask Ada first"]
        index.save()
    index_file.unlink()
    assert MemoryScope.PROJECT not in StartIndex(layout).notes


def test_lines_are_worked_out_once_and_private_ones_are_none(tmp_path: Path) -> None:
    long = "x" * 5000 + " <private>y</private>"
    layout = store_of(tmp_path, fact(1), fact(2, summary=long)).layout
    index = StartIndex(layout)
    lines = {c.id: index.line(c.summary) for c in index.candidates}
    assert lines == {"r-1": "Fact 1", "r-2": ""}
    index.save()
    assert {c.id: StartIndex(layout).line(c.summary) for c in index.candidates} == lines


def test_a_store_that_cannot_be_written_is_told_all_the_same(tmp_path: Path) -> None:
    layout = store_of(tmp_path, fact(1)).layout
    Path(layout.cache_file("start")).write_text("in the way")
    agrees(layout)


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from("auxh")), max_size=8), st.booleans())
def test_any_order_of_changes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str]], old: bool
) -> None:
    store = store_of(tmp_path_factory.mktemp("s"), fact(100))
    for n, step in steps:
        known = {r.id: r for r in store.snapshot().records if r.state is MemoryState.ACTIVE}
        file = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, f"topic-{n % 3}"))
        if step == "a" and f"r-{n}" not in known:
            change(store, OperationKind.ADD, fact(n))
        elif step == "u" and f"r-{n}" in known:
            change(store, OperationKind.UPDATE, replace(known[f"r-{n}"], summary=f"Other {n}"))
        elif step == "x" and f"r-{n}" in known:
            change(store, OperationKind.DELETE, known[f"r-{n}"])
        elif step == "h" and file.exists():
            file.write_text(file.read_text().replace("Fact", "Hand-made"))
        if old:
            age(store.layout)
        StartIndex(store.layout).save()
    agrees(store.layout)


def test_a_topic_in_which_nothing_holds_now_is_not_named(tmp_path: Path) -> None:
    past = fact(0, valid_from="2020-01-01T00:00:00Z", valid_until="2020-02-01T00:00:00Z")
    store = store_of(tmp_path, past, fact(1), replace(past, topic="topic-1", id="r-2", summary="Fact 2"))
    payload, _ = startup_payload(store.layout, merge_settings([]))
    assert "topic-0" not in payload.text
    assert "project/topic-1: 1 record," in payload.text


def test_a_store_that_was_copied_is_not_parsed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(tmp_path, *(fact(n) for n in range(6)))
    age(store.layout)
    agrees(store.layout)
    shutil.copytree(store.layout.root, tmp_path / "copy")
    copy = replace(store.layout, root=str(tmp_path / "copy"))
    age(copy)
    read = []
    monkeypatch.setattr(
        topics, "read_topic", lambda *args, **more: read.append(args) or read_topic(*args, **more)
    )
    index = StartIndex(copy)
    assert index.candidates == StartIndex(store.layout).candidates
    assert read == []
    index.save()
    topic = Path(copy.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "topic-1"))
    topic.write_text(topic.read_text().replace("Fact 1", "Fact 9"))  # of the same size
    age(copy)
    assert {c.summary for c in StartIndex(copy).candidates} >= {"Fact 9", "Fact 2"}
    assert len(read) == 1
    agrees(copy)
