"""The store: what is acknowledged is on disk, whole; what cannot be read is named."""

import json
import os
import shutil
from pathlib import Path

import pytest

from cam.core.errors import IntegrityError, StalePlanError, StoreUnavailableError
from cam.core.operations import MemoryOperation, MemoryPlan, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.core.seams import Attachment
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.start_index import StartIndex

AT = "2026-11-30T10:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))


def fact(
    name: str, text: str = "Never push to main", scope: MemoryScope = MemoryScope.PROJECT
) -> MemoryRecord:
    return MemoryRecord(scope, "workflow", name, text, created_at=AT, updated_at=AT)


def add(record: MemoryRecord) -> MemoryOperation:
    return MemoryOperation(OperationKind.ADD, record, "you said so")


def do(store: MarkdownStore, *operations: MemoryOperation) -> MemoryPlan:
    return transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))[0]


def files(store: MarkdownStore) -> set[str]:
    root = Path(store.layout.root)
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}


def test_a_new_store_has_only_what_was_written(store: MarkdownStore) -> None:
    assert store.snapshot().records == ()
    assert not os.path.exists(store.layout.root)  # reading makes nothing
    do(store, add(fact("a")))
    assert files(store) == {
        "projects/shop-1/project/workflow.md", "projects/shop-1/project/MEMORY.md",
        "projects/shop-1/project/memory-history.jsonl", ".lock", ".lock.owner",
        "cache/shadow/projects/shop-1/project/workflow.md",
        "cache/shadow/projects/shop-1/project/MEMORY.md",
    }  # fmt: skip
    for path in Path(store.layout.root).rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_every_scope_and_state_is_read(store: MarkdownStore) -> None:
    wanted = [fact("a", scope=scope) for scope in MemoryScope] + [
        fact("b", scope=scope).archived("old", AT) for scope in MemoryScope
    ]
    do(store, *map(add, wanted))
    assert sorted(store.snapshot().records, key=lambda r: r.ref) == sorted(wanted, key=lambda r: r.ref)


def test_archiving_moves_the_record(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    gone = fact("a").archived("you asked", AT)
    do(store, MemoryOperation(OperationKind.ARCHIVE, gone, "you asked"))
    assert store.snapshot().records == (gone,)
    assert not os.path.exists(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow"))
    index = Path(store.layout.index_file(MemoryScope.PROJECT)).read_text()
    assert "- nothing yet" in index
    archive = Path(store.layout.index_file(MemoryScope.PROJECT, MemoryState.ARCHIVED)).read_text()
    assert "- [workflow](workflow.md): 1 record" in archive


def test_history_holds_the_text_before_and_after(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    do(store, MemoryOperation(OperationKind.UPDATE, fact("a", "Never push to release"), "you corrected it"))
    do(store, MemoryOperation(OperationKind.DELETE, fact("a", "Never push to release"), "you asked"))
    events = store.history(MemoryScope.PROJECT)
    assert [(e.before and e.before.summary, e.after and e.after.summary) for e in events] == [
        (None, "Never push to main"),
        ("Never push to main", "Never push to release"),
        ("Never push to release", None),
    ]


def test_a_repeat_is_a_noop_with_its_reason(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    plan = do(store, add(fact("a")))
    assert plan.changes == ()
    assert plan.noops[0].reason == "project:active:workflow:a is so already"
    assert [e.applied for e in store.history(MemoryScope.PROJECT)] == [True, False]


def test_a_stale_plan_writes_nothing(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    stale = build_plan(
        [MemoryOperation(OperationKind.UPDATE, fact("a", "mine"), "x")], store.snapshot().records
    )
    do(store, MemoryOperation(OperationKind.UPDATE, fact("a", "theirs"), "x"))
    with pytest.raises(StalePlanError):
        store.commit(stale)
    assert [r.summary for r in store.snapshot().records] == ["theirs"]


def test_hand_edits_made_meanwhile_are_merged_by_id(store: MarkdownStore) -> None:
    do(store, add(fact("a")), add(fact("b", "Tests run with make check")))
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow"))

    def plan(snapshot: object) -> tuple[MemoryPlan, None]:
        text = path.read_text().replace("Never push to main", "Never ever push to main")
        path.write_text(text + "\n## Deploy window\nTuesdays only.\n")  # a person saves now
        return build_plan([add(fact("c", "Use tabs"))], ()), None

    transact(store, plan)
    assert [r.summary for r in store.snapshot().records] == [
        "Never ever push to main", "Tests run with make check", "Deploy window", "Use tabs",
    ]  # fmt: skip


def test_the_persons_text_in_memory_md_stays(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    path = Path(store.layout.index_file(MemoryScope.PROJECT))
    path.write_bytes(b"my own words\r\n\r\n" + path.read_bytes() + b"after, no newline")
    do(store, add(fact("b", "Another")))
    data = path.read_bytes()
    assert data.startswith(b"my own words\r\n\r\n# Project memory\n")
    assert data.endswith(b"after, no newline")
    assert b"2 records" in data
    notes = store.person_notes(MemoryScope.PROJECT)
    assert [line for line in notes.split("\n") if line] == ["my own words", "after, no newline"]


def test_a_broken_section_is_set_aside_and_survives_writes(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow"))
    broken = "\n## broken\n<!-- cam:record {not json} -->\n- kept\n"
    path.write_text(path.read_text() + broken)
    snapshot = store.snapshot()
    assert [r.id for r in snapshot.records] == ["a"]
    assert (snapshot.problems[0].path, snapshot.problems[0].line) == (str(path), 7)
    do(store, add(fact("b", "Another")))
    assert broken in path.read_text()
    assert [r.id for r in store.snapshot().records] == ["a", "b"]


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "dangling"])
def test_what_is_no_regular_file_is_named_and_left_alone(
    store: MarkdownStore, tmp_path: Path, kind: str
) -> None:
    do(store, add(fact("a")))
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "commands"))
    outside = tmp_path / "outside.md"
    outside.write_text("## theirs\n")
    {
        "folder": path.mkdir,
        "fifo": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to(outside),
        "dangling": lambda: path.symlink_to(tmp_path / "nowhere"),
    }[kind]()
    snapshot = store.snapshot()
    assert [r.id for r in snapshot.records] == ["a"]
    assert [p.path for p in snapshot.problems] == [str(path)]
    record = MemoryRecord(MemoryScope.PROJECT, "commands", "x", "Run make", created_at=AT, updated_at=AT)
    with pytest.raises(IntegrityError):
        do(store, add(record))
    assert outside.read_text() == "## theirs\n"
    assert not (tmp_path / "nowhere").exists()
    do(store, add(fact("b", "Another")))  # other topics go on
    assert [r.id for r in store.snapshot().records] == ["a", "b"]


def test_an_unreadable_file_is_never_an_empty_one(store: MarkdownStore, tmp_path: Path) -> None:
    do(store, add(fact("a")))
    (tmp_path / "file").write_text("")
    blocked = MarkdownStore(StoreLayout(str(tmp_path / "file"), "shop-1", "shop-1"))
    with pytest.raises(StoreUnavailableError, match="a file stands where a folder is expected"):
        do(blocked, add(fact("b")))
    assert (tmp_path / "file").read_text() == ""


def test_attachments_are_written_with_the_plan(store: MarkdownStore) -> None:
    line = json.dumps({"session": "s"})
    store.commit(MemoryPlan(), Attachment((("audit/x.jsonl", line),), {"audit/y.json": "{}"}))
    root = Path(store.layout.root)
    assert (root / "audit/x.jsonl").read_text() == line + "\n"
    assert (root / "audit/y.json").read_text() == "{}"
    assert store.commit(MemoryPlan()) == ""


def test_a_torn_line_before_an_append_is_closed(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    path = Path(store.layout.history_file(MemoryScope.PROJECT))
    path.write_bytes(path.read_bytes() + b'{"tx":"torn')
    do(store, add(fact("b", "Another")))
    assert [e.ref for e in store.history(MemoryScope.PROJECT)] == [
        "project:active:workflow:a", "project:active:workflow:b",
    ]  # fmt: skip


def test_a_file_whose_name_is_no_topic_is_a_problem(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    (Path(store.layout.scope_folder(MemoryScope.PROJECT)) / "My Notes.md").write_text("## x\n")
    assert [p.reason for p in store.snapshot().problems] == ["the file's name is no topic"]


def everything(store: MarkdownStore) -> set[str]:
    root = Path(store.layout.root)
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.name not in (".lock", ".lock.owner")}


def test_what_is_derived_and_cannot_be_read_counts_as_none(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    shutil.rmtree(store.layout.cache_file())
    Path(store.layout.cache_file()).write_text("no folder")
    snapshot = store.snapshot()
    assert ([r.id for r in snapshot.records], snapshot.problems) == (["a"], ())
    index = StartIndex(store.layout)
    assert ([c.id for c in index.candidates], index.problems) == (["a"], [])
    index.save()
    before = everything(store)
    with pytest.raises(IntegrityError, match="cache: a folder is expected here"):
        do(store, add(fact("b", "Another rule")))
    assert everything(store) == before


@pytest.mark.parametrize("place", ["history", "audit", "index", "topic", "processed"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_cannot_be_carried_out_is_refused_before_anything_is_written(
    store: MarkdownStore, place: str, kind: str
) -> None:
    do(store, add(fact("a")))
    layout, scope = store.layout, MemoryScope.PROJECT
    path = Path(
        {
            "history": layout.history_file(scope),
            "audit": layout.audit_file,
            "index": layout.index_file(scope),
            "topic": layout.topic_file(scope, MemoryState.ACTIVE, "workflow"),
            "processed": layout.processed_file,
        }[place]
    )
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "link": lambda: path.symlink_to("/dev/null")}[
        kind
    ]()
    refused(store)


def test_a_file_where_the_audit_folder_belongs_is_refused(store: MarkdownStore) -> None:
    do(store, add(fact("a")))
    Path(store.layout.audit_folder).write_text("no folder")
    refused(store)


def refused(store: MarkdownStore) -> None:
    """A write is refused, and nothing of it is there then or later."""
    layout, before = store.layout, everything(store)
    root = layout.root
    appends = tuple((os.path.relpath(p, root), "{}") for p in (layout.audit_file, layout.processed_file))
    plan = build_plan([add(fact("b", "Another rule"))], [])
    with pytest.raises(IntegrityError):
        store.commit(plan, Attachment(appends))
    assert everything(store) == before
    assert "b" not in {r.id for r in store.snapshot().records}
