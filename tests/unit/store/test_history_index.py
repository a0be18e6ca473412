"""A long history is looked through by an index, and tells the same with and without it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from cam.core.operations import Change, MemoryOperation, OperationKind
from cam.core.records import MemoryRecord, MemoryScope
from cam.formats.history import HistoryEvent, event_of, render_event
from cam.store import history_index
from cam.store.layout import StoreLayout
from cam.store.life import events_about

PROJECT = MemoryScope.PROJECT


def event(number: int, text: str = "said", **more: str) -> HistoryEvent:
    record = MemoryRecord(PROJECT, "reference", f"fact-{number}", f"Fact {number} {text}", ("with a line",))
    operation = MemoryOperation(OperationKind.UPDATE, record, "said", **more)  # type: ignore[arg-type]
    return event_of(Change(operation, record, replace(record, reason=text)), f"tx{number}", "2026-11-30")


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoreLayout:
    monkeypatch.setattr(history_index, "LEAST", 8192)
    monkeypatch.setattr(history_index, "_STRETCH", 2048)
    layout = StoreLayout(str(tmp_path / "store"), "p", "p")
    os.makedirs(layout.scope_folder(PROJECT))
    write(layout, *(event(n % 40) for n in range(120)))
    return layout


def write(layout: StoreLayout, *events: HistoryEvent, mode: str = "a") -> None:
    with open(layout.history_file(PROJECT), mode, encoding="utf-8") as file:
        file.writelines(f"{render_event(each)}\n" for each in events)


def index(layout: StoreLayout) -> Path:
    (path,) = Path(layout.cache_file("recall")).glob("*history*")
    return path


def same(layout: StoreLayout) -> None:
    """What an index tells is what looking through everything tells."""
    for number in (0, 1, 17, 39, 77, 200):
        ref = event(number).after
        assert ref is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(history_index, "LEAST", 1 << 40)
            whole = events_about(layout, ref.ref)
        assert events_about(layout, ref.ref) == whole, number


def test_with_and_without_an_index(layout: StoreLayout) -> None:
    same(layout)
    assert len(events_about(layout, event(7).after.ref)) == 3  # type: ignore[union-attr]
    kept = index(layout).read_bytes()
    same(layout)
    assert index(layout).read_bytes() == kept


def test_what_was_added_is_told_and_indexed_where_it_is_much(layout: StoreLayout) -> None:
    same(layout)
    kept = index(layout).read_bytes()
    write(layout, event(77), event(17, "again", replaced_by="reference:fact-39"))
    same(layout)
    assert index(layout).read_bytes() == kept
    write(layout, *(event(200 + n) for n in range(60)))
    same(layout)
    assert index(layout).read_bytes() != kept
    with open(layout.history_file(PROJECT), "a", encoding="utf-8") as file:
        file.write(render_event(event(77))[:-1])  # torn
    same(layout)


def test_a_history_written_anew_is_indexed_anew(layout: StoreLayout) -> None:
    same(layout)
    path = Path(layout.history_file(PROJECT))
    other = path.with_name("other")
    other.write_text("".join(f"{render_event(event(n))}\n" for n in range(77, 20, -1)) * 2)
    os.replace(other, path)
    same(layout)
    write(layout, *(event(n) for n in range(30)), mode="w")  # the same file, other bytes
    same(layout)


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]\n", b'{"is": 1}\nxx', b"\xff" * 100])
def test_an_index_that_is_none_is_no_matter(layout: StoreLayout, damage: bytes) -> None:
    same(layout)
    path = index(layout)
    kept = path.read_bytes()
    for data in (damage, kept[:-1], kept[:40] + b"9" + kept[41:], kept[:-9] + b"\x00" + kept[-8:]):
        path.write_bytes(data)
        same(layout)
    path.unlink()
    path.mkdir()
    same(layout)
