"""Labels that are refused, labels that recall misses, and a report that says so."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope
from cam.recall.benchmark import read_labels, run_benchmark
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact

AT = "2026-11-01T00:00:00.000Z"
REF = "project:active:commands:"
GOOD = {"id": "q1", "query": "how do I run the tests", "expected_ids": [f"{REF}tests"]}


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    layout = StoreLayout(str(tmp_path / "store"), "p", "p")
    texts = {
        "tests": "Run the tests with make check",
        "port": "The API listens on 4100",
        "vault": "Ada has the key",
    }
    records = [
        MemoryRecord(MemoryScope.PROJECT, "commands", name, text, created_at=AT, updated_at=AT)
        for name, text in texts.items()
    ]
    operations = [MemoryOperation(OperationKind.ADD, r, "said") for r in records]
    transact(MarkdownStore(layout), lambda snapshot: (build_plan(operations, snapshot.records), None))
    return layout


def run(layout: StoreLayout, folder: Path, *labels: dict[str, Any]) -> dict[str, Any]:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(map(json.dumps, labels)))
    return run_benchmark(layout, str(path), str(folder / "report.json"), now=AT, command="cam")


def test_a_miss_can_be_labelled_and_is_listed(layout: StoreLayout, tmp_path: Path) -> None:
    missed = {
        "id": "q2",
        "query": "who opens the safe",
        "expected_ids": [f"{REF}vault"],
        "false_ids": [f"{REF}port"],
    }
    report = run(layout, tmp_path, GOOD, missed)
    assert json.loads((tmp_path / "report.json").read_text()) == report
    names = [config["name"] for config in report["configs"]]
    assert names == ["grep-baseline", "whole-records", "cards-first"]
    assert report["configs"][1]["recall_at_5"] == report["configs"][1]["mrr"] == 0.5
    assert report["vector_config"] is None
    assert [(m["id"], m["missing"]) for m in report["misses"]] == [("q2", [f"{REF}vault"])]
    measured = report["measurements"]
    assert measured["peak_rss_bytes"] > 5_000_000
    assert measured["cold_process_ms"] > measured["p95_latency_ms"] > 0
    with pytest.raises(InvalidInputError, match="already"):
        run(layout, tmp_path, GOOD)


@pytest.mark.parametrize(
    "change",
    [{"id": ""}, {"id": 1}, {"query": "?!"}, {"query": "x" * 2049}, {"expected_ids": []},
     {"expected_ids": "x"}, {"expected_ids": ["tests"]}, {"expected_ids": [f"{REF}tests"] * 2}, {"more": 1},
     {"false_ids": [f"{REF}x{n}" for n in range(101)]}],
)  # fmt: skip
def test_a_label_that_is_none_is_named(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="line 2"):
        read_labels(f"\n{json.dumps(GOOD | change)}\n".encode())


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"[]", b"{torn", b"\xff", b"x" * (1 << 20) + b"x", json.dumps(GOOD).encode() * 2]
)
def test_a_file_that_holds_no_labels_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError):
        read_labels(data)
    twice = "\n".join([json.dumps(GOOD)] * 2).encode()
    with pytest.raises(InvalidInputError, match="same id"):
        read_labels(twice)


def test_nothing_is_written_where_something_is_missing(layout: StoreLayout, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        run(layout, tmp_path, GOOD | {"expected_ids": [f"{REF}nothing"]})
    with pytest.raises(InvalidInputError, match="no folder"):
        run_benchmark(layout, "x", str(tmp_path / "no" / "report.json"), now=AT, command="cam")
    with pytest.raises(NotFoundError):
        run_benchmark(layout, str(tmp_path / "none"), str(tmp_path / "r.json"), now=AT, command="cam")
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".json")]
