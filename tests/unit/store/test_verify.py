"""``cam store verify`` finds what breaks a rule, names file and line, and passes what people may do."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cam.core.records import MemoryScope, MemoryState
from cam.memory.flow import forget, remember, undo
from cam.setup.doctor import check_store
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.verify import verify

ACTIVE, ARCHIVED = MemoryState.ACTIVE, MemoryState.ARCHIVED


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    found = MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))
    for number, scope in enumerate(MemoryScope):
        remember(found, f"Rule number {number}", ["a detail"], scope, "workflow")
    forget(found, [found.snapshot().records[0].ref], delete=False)
    return found


def topic(store: MarkdownStore, scope: MemoryScope = MemoryScope.PROJECT) -> Path:
    return Path(store.layout.topic_file(scope, ACTIVE, "workflow"))


def test_what_cam_and_people_do_is_sound(store: MarkdownStore) -> None:
    root = store.layout.root
    assert verify(root).problems == ()
    topic(store).write_text(topic(store).read_text() + "\n## By hand\nas people do\n")
    (topic(store).parent / "own-topic.md").write_text("## Also by hand\n")
    assert verify(root).problems == ()
    remember(store, "Another rule", [], MemoryScope.PROJECT, "workflow")
    undo(store)
    topic(store).unlink()
    assert verify(root).problems == ()
    remember(store, "Another rule", [], MemoryScope.PROJECT, "workflow")
    assert verify(root).problems == ()


def test_nothing_at_all_is_sound(tmp_path: Path) -> None:
    assert verify(str(tmp_path / "none")).problems == ()


def test_without_what_is_derived_it_is_sound(store: MarkdownStore) -> None:
    for path in Path(store.layout.root).rglob("*.jsonl"):
        path.unlink()
    for path in Path(store.layout.cache_file()).rglob("*"):
        if path.is_file():
            path.unlink()
    assert verify(store.layout.root).problems == ()


def second_id(store: MarkdownStore) -> Path:
    text = topic(store).read_text()
    archived = Path(store.layout.topic_file(MemoryScope.PROJECT, ARCHIVED, "workflow"))
    archived.parent.mkdir(exist_ok=True)
    archived.write_text(text)
    return archived


def broken_section(store: MarkdownStore) -> Path:
    topic(store).write_text(topic(store).read_text() + "\n## X\n<!-- cam:record {oops} -->\n")
    return topic(store)


def bound_that_is_no_date(store: MarkdownStore) -> Path:
    text = topic(store).read_text()
    topic(store).write_text(text.replace('"created":', '"valid_from": "whenever", "created":', 1))
    return topic(store)


def bound_that_is_no_text(store: MarkdownStore) -> Path:
    text = topic(store).read_text()
    topic(store).write_text(text.replace('"created":', '"valid_from": 9, "created":', 1))
    return topic(store)


def wrong_count(store: MarkdownStore) -> Path:
    path = Path(store.layout.index_file(MemoryScope.PROJECT))
    path.write_text(path.read_text().replace(": 1 record", ": 7 records"))
    return path


def topic_without_file(store: MarkdownStore) -> Path:
    path = Path(store.layout.index_file(MemoryScope.PROJECT))
    path.write_text(path.read_text().replace("- [workflow]", "- [ghost](ghost.md): 2 records\n- [workflow]"))
    return path


def no_topic(store: MarkdownStore) -> Path:
    path = topic(store).parent / "No Topic.md"
    path.write_text("## x\n")
    return path


def link(store: MarkdownStore) -> Path:
    path = topic(store).parent / "reference.md"
    path.symlink_to("/etc/hostname")
    return path


def folder_as_topic(store: MarkdownStore) -> Path:
    path = topic(store).parent / "reference.md"
    os.mkfifo(path)
    return path


def torn_history(store: MarkdownStore) -> Path:
    path = Path(store.layout.history_file(MemoryScope.PROJECT))
    path.write_text('{"tx": "half\n' + path.read_text())
    return path


def foreign_history(store: MarkdownStore) -> Path:
    path = Path(store.layout.history_file(MemoryScope.PROJECT))
    path.write_text(path.read_text() + '{"hello": 1}\n')
    return path


def torn_audit(store: MarkdownStore) -> Path:
    path = Path(store.layout.audit_file)
    path.write_text(path.read_text() + "{{{\n")
    return path


def open_to_others(store: MarkdownStore) -> Path:
    path = Path(store.layout.root)
    path.chmod(0o750)
    return path


def unreadable(store: MarkdownStore) -> Path:
    topic(store).chmod(0o200)
    return topic(store)


def wrong_version(store: MarkdownStore) -> Path:
    text = topic(store).read_text()
    start = text.index("cam:version ") + len("cam:version ")
    text = text[:start] + "0123456789" + text[start + 10 :]
    shadow = Path(store.layout.cache_file("shadow", "projects/shop-1/project/workflow.md"))
    for path in (topic(store), shadow):
        path.write_text(text)
    return topic(store)


@pytest.mark.parametrize(
    "damage",
    [
        second_id, broken_section, wrong_count, topic_without_file, no_topic, link, folder_as_topic,
        torn_history, foreign_history, torn_audit, open_to_others, unreadable, wrong_version,
        bound_that_is_no_date, bound_that_is_no_text,
    ],
)  # fmt: skip
def test_each_kind_of_damage_is_named(store: MarkdownStore, damage: Callable[[MarkdownStore], Path]) -> None:
    path = damage(store)
    problems = verify(store.layout.root).problems
    assert {p.path for p in problems} == {str(path)}
    assert all(p.reason and p.advice for p in problems)


def test_lines_are_right(store: MarkdownStore) -> None:
    path = broken_section(store)
    (problem,) = verify(store.layout.root).problems
    assert path.read_text().split("\n")[problem.line - 1] == "## X"
    history = torn_history(store)
    problem = next(p for p in verify(store.layout.root).problems if p.path == str(history))
    assert problem.line == 1


def test_what_a_crash_leaves_is_a_note_and_a_waiting_write_is_finished(store: MarkdownStore) -> None:
    root = store.layout.root
    Path(root, "global", ".workflow.md.20260101T000000-abcdef01.tmp").write_text("x")
    history = Path(store.layout.history_file(MemoryScope.PROJECT))
    lines = history.read_text().splitlines(keepends=True)
    history.write_text(lines[-1][:30] + "\n" + "".join(lines))  # torn, then written again whole
    Path(root, "journal", "t1.json").write_text(
        json.dumps({"id": "t1", "project": None, "worktree": None, "changes": [], "appends": [], "files": {}})
    )
    report = verify(root)
    assert report.problems == ()
    assert [note.path for note in report.notes] == [
        os.path.join(root, "global", ".workflow.md.20260101T000000-abcdef01.tmp")
    ]
    assert os.listdir(os.path.join(root, "journal")) == []


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
@pytest.mark.parametrize("place", ["topic", "history", "audit log"])
def test_what_stands_for_a_file_is_named_once_by_verify_and_by_doctor(
    store: MarkdownStore, place: str, kind: str
) -> None:
    layout = store.layout
    history, log = layout.history_file(MemoryScope.PROJECT), layout.audit_file
    path = {"topic": topic(store), "history": Path(history), "audit log": Path(log)}[place]
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    assert [p.path for p in verify(layout.root).problems if "regular" in p.reason] == [str(path)]
    assert [str(path) in f.text for f in check_store(store)][1:] == [True]


def test_a_file_that_stands_for_a_folder_is_named(store: MarkdownStore) -> None:
    audit = Path(store.layout.audit_folder)
    audit.rename(audit.parent / "kept")
    audit.write_text("")
    assert str(audit) in {p.path for p in verify(store.layout.root).problems}
