"""The sidecar: a wrong, stale, damaged or missing one gives the same answer as the files, always."""

import json
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cam.core.operations import MemoryOperation, MemoryPlan, OperationKind, build_plan
from cam.core.ranking import document_of
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState
from cam.core.seams import Snapshot
from cam.memory.flow import forget, matches, named_terms
from cam.recall.flow import Recall
from cam.recall.result import SearchResult
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.sidecar_build import build, read_file
from tests.unit.recall.ask import request, search

AT = "2026-11-30T10:00:00.000Z"
NOW = "2026-12-01T00:00:00.000Z"
WORDS = "deploy tests port server cache queue 部署 測試 cart invoice staging pnpm".split()
QUERIES = [
    "how do the tests run",
    "port of the server",
    "部署",
    "deployment cache",
    "xyz",
    "servr",
    "queue pnpm cart",
]


def fact(n: int, scope: MemoryScope = MemoryScope.PROJECT, topic: str = "") -> MemoryRecord:
    text = f"The {WORDS[n % 12]} of {WORDS[n * 7 % 12]} uses {WORDS[n * 5 % 11]} number {n}"
    topic = topic or f"topic-{n // 20}"
    changed = f"2026-11-30T10:{n * 17 % 7:02}:00.000Z"
    return MemoryRecord(
        scope, topic, f"r-{n}", text, (f"detail {WORDS[n * 3 % 12]}",), created_at=AT, updated_at=changed
    )


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return filled(tmp_path / "store")


def filled(root: Path) -> MarkdownStore:
    store = MarkdownStore(StoreLayout(str(root), "p", "p"))
    records = [fact(n) for n in range(120)] + [fact(n, MemoryScope.GLOBAL) for n in range(20)]
    records.append(replace(fact(500), valid_until="2026-11-30"))
    records.append(replace(fact(501), summary="The port <private>secret place</private> is open"))
    records += [fact(n).archived("old", AT) for n in range(600, 620)]
    add(store, *records)
    return store


def add(store: MarkdownStore, *records: MemoryRecord) -> None:
    operations = [MemoryOperation(OperationKind.ADD, r, "said") for r in records]
    transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))


def answer(result: SearchResult) -> list[tuple[str, float, tuple[str, ...], tuple[str, ...]]]:
    return [(str(c.ref), c.score, c.fields, c.terms) for c in result.cards] + [
        (result.state, result.total, (), ())
    ]


def same(store: MarkdownStore, **options: Any) -> None:
    """The answers of files and sidecar are the same, and so is what is seen of either."""
    as_found(store)
    records = store.snapshot().records
    for query in QUERIES:
        expected = search(records, query, now=NOW, **options)
        assert answer(found(store, query, **options)) == answer(expected), query


def as_found(store: MarkdownStore) -> None:
    read, seen, count = store.snapshot(), store.view(), store.count(newest=5)
    assert (seen.records, seen.problems) == (read.records, read.problems)
    active = [r for r in read.records if r.state is MemoryState.ACTIVE]
    assert (count.active, count.archived) == (len(active), len(read.records) - len(active))
    assert count.topics == Counter((r.scope, r.state, r.topic) for r in read.records)
    assert count.newest == tuple(sorted(active, key=lambda r: r.updated_at, reverse=True)[:5])
    assert (count.problems, store.count().newest) == (read.problems, ())
    for query in QUERIES:
        some = store.view(named_terms(query))
        assert (matches(some.records, query), some.problems) == (matches(read.records, query), read.problems)


def found(store: MarkdownStore, query: str, **options: Any) -> SearchResult:
    return Recall(store.layout, now=NOW).search(request(query, **options))


_TEXTS = st.lists(
    st.sampled_from(
        [
            *WORDS,
            "<private>",
            "<private>cart</private>",
            "<private>pnpm queue</private>",
            "</private>",
            "AKIAIOSFODNN7EXAMPLE",
            "runTests",
            "docs/run.md",
            "v1.2",
            "Café",
            "the",
        ]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)


@settings(max_examples=30, deadline=None)
@example(
    texts=[("The <private>cart</private> waits", "x", True), ("port", "x", True)], late=0, queries=["cart"]
)
@example(texts=[("deploy", "</private>", True)], late=0, queries=["<private>"])
@example(texts=[("Die Häuser sind nicht auf dem Server", "x", True)], late=0, queries=["Haus", "Häuser"])
@given(
    texts=st.lists(st.tuples(_TEXTS, _TEXTS, st.booleans()), min_size=1, max_size=12),
    late=st.integers(0, 4),
    queries=st.lists(_TEXTS, min_size=1, max_size=5),
)
def test_what_forget_means_is_the_same_through_the_index(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str, bool]],
    late: int,
    queries: list[str],
) -> None:
    """Private spans, secrets, archived records and files that the index does not know yet among them."""
    store = MarkdownStore(StoreLayout(str(tmp_path_factory.mktemp("forget") / "store"), "p", "p"))
    records = [
        MemoryRecord(
            MemoryScope.PROJECT if n % 3 else MemoryScope.GLOBAL,
            f"topic-{n % 3}", f"r-{n}", summary, (detail,), created_at=AT, updated_at=AT,
        )
        for n, (summary, detail, _) in enumerate(texts)
    ]  # fmt: skip
    records = [r if keeps else r.archived("old", AT) for r, (_, _, keeps) in zip(records, texts, strict=True)]
    add(store, *records[late:])
    found(store, "warm")
    add(store, *records[:late])
    for query in queries:
        whole = matches(store.snapshot().records, query)
        assert matches(store.view(named_terms(query)).records, query) == whole, query


def indexes(store: MarkdownStore) -> list[Path]:
    return sorted((Path(store.layout.root) / "cache" / "recall").glob("*"))


@pytest.mark.parametrize(
    "options",
    [{}, {"scope": MemoryScope.GLOBAL}, {"topic": "topic-2"}, {"since": "2026-11-30"}, {"session": "none"}],
)
def test_cold_and_warm_answers_are_the_files(store: MarkdownStore, options: dict[str, Any]) -> None:
    same(store, **options)
    assert indexes(store)
    same(store, **options)


def test_every_change_is_seen_at_once(store: MarkdownStore) -> None:
    same(store)
    add(store, fact(700, topic="topic-1"), fact(701, topic="brand-new"))
    same(store)
    forget(store, [r.ref for r in store.snapshot().records[:3]], delete=False)
    same(store)
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "topic-2"))
    path.write_text(path.read_text().replace("number 41", "number 41 and the pnpm port"))
    same(store)
    path.write_text(path.read_text() + "\n## By hand the deploy cache\nport\n")
    same(store)
    path.unlink()
    same(store)
    for n in range(800, 900, 20):
        add(store, *(fact(m) for m in range(n, n + 20)))  # enough to build anew
        same(store)


def test_an_edit_that_keeps_size_and_time_is_seen(store: MarkdownStore) -> None:
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "topic-2"))
    status = path.stat()
    same(store)
    path.write_text(path.read_text().replace("number 41", "number 14"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    same(store)


def test_what_an_index_has_wrong_is_planned_again_from_the_files(store: MarkdownStore) -> None:
    same(store)
    key = (MemoryScope.PROJECT, MemoryState.ACTIVE)
    names = [path.name for path in Path(store.layout.topics_folder(*key)).glob("topic-*.md")]
    files = [read_file(store.layout, key, name, "") for name in names]
    wrong = [file._replace(records=[replace(r, summary="Not so") for r in file.records]) for file in files]
    data, _ = build(wrong, document_of)
    (path,) = (p for p in indexes(store) if p.name == "projects~p~project.idx")
    path.write_bytes(data)
    seen: list[str] = []

    def forget_it(snapshot: Snapshot) -> tuple[MemoryPlan, None]:
        record = next(r for r in snapshot.records if r.id == "r-7" and r.scope is MemoryScope.PROJECT)
        seen.append(record.summary)
        return build_plan([MemoryOperation(OperationKind.DELETE, record, "")], snapshot.records), None

    transact(store, forget_it)
    assert seen == ["Not so", fact(7).summary]
    assert fact(7) not in store.snapshot().records


def test_a_missing_or_foreign_index_is_no_matter(store: MarkdownStore) -> None:
    same(store)
    for path in indexes(store):
        path.write_bytes(b"something else")
    same(store)
    shutil.rmtree(Path(store.layout.root) / "cache" / "recall")
    same(store)
    for path in indexes(store):
        path.unlink()
        path.mkdir()
    same(store)


@given(st.integers(0, 10**9), st.integers(0, 255), st.booleans())
@settings(max_examples=60)
def test_a_damaged_index_gives_the_same_answer(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int, cut: bool
) -> None:
    template = getattr(test_a_damaged_index_gives_the_same_answer, "template", None)
    if template is None:
        template = tmp_path_factory.mktemp("damaged") / "store"
        same(filled(template))
        test_a_damaged_index_gives_the_same_answer.template = template  # type: ignore[attr-defined]
    store = MarkdownStore(StoreLayout(str(template), "p", "p"))
    path = next(p for p in indexes(store) if "project" in p.name and "archive" not in p.name)
    whole = path.read_bytes()
    at = place % len(whole)
    path.write_bytes(whole[:at] if cut else whole[:at] + bytes([value]) + whole[at + 1 :])
    try:
        same(store)
    finally:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(whole)


@pytest.mark.parametrize(
    "section",
    [
        "record_spans",
        "records",
        "block_spans",
        "blocks",
        "heads",
        "documents",
        "kinds",
        "class_counts",
        "class_lengths",
        "names",
        "stamps",
        "firsts",
        "bounds",
        "order",
        "changes",
    ],
)
def test_damage_in_any_section_gives_the_same_answer(store: MarkdownStore, section: str) -> None:
    same(store)
    path = next(p for p in indexes(store) if "project" in p.name and "archive" not in p.name)
    whole = path.read_bytes()
    header = json.JSONDecoder().raw_decode(whole[whole.index(b'{"') :].decode("utf-8", "replace"))[0]
    last = max(offset + length for offset, length, _ in header["sections"].values())
    offset, length, _ = header["sections"][section]
    start = len(whole) - last + offset
    expected = search(store.snapshot().records, "number port", now=NOW)
    for place in range(start, start + length, max(1, length // 8)):
        path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        as_found(store)
        assert found(store, "number port", page_size=100).total == expected.total


def test_what_cannot_be_read_is_said_from_the_index_too(store: MarkdownStore) -> None:
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "topic-3"))
    path.write_text(path.read_text() + "\n## broken\n<!-- cam:record {x -->\n")
    for _ in range(2):
        as_found(store)
        result = found(store, "port")
        assert [(p.path, p.line) for p in result.problems] == [(str(path), path.read_text().count("\n") - 1)]


def test_the_private_part_is_not_found_and_not_shown(store: MarkdownStore) -> None:
    for _ in range(2):
        assert found(store, "secret place").total == 0
        cards = found(store, "port open", page_size=100).cards
        assert any("is open" in c.summary for c in cards)
        assert not any("secret place" in c.summary for c in cards)


def test_the_size_is_bounded(store: MarkdownStore) -> None:
    same(store)
    markdown = sum(p.stat().st_size for p in Path(store.layout.root).rglob("*.md") if "cache" not in p.parts)
    assert sum(p.stat().st_size for p in indexes(store)) <= 3 * markdown


def test_refs_are_records(store: MarkdownStore) -> None:
    for card in found(store, "deploy").cards:
        assert isinstance(card.ref, MemoryRef)
