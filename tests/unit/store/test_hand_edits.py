"""People edit the files: their deletions hold, their stale saves lose nothing, and the history says so."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from cam.core.errors import IntegrityError
from cam.core.operations import MemoryOperation, MemoryPlan, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.store import limits, transaction
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.verify import verify
from cam.system.files import exchange

AT = "2026-11-30T10:00:00.000Z"
PROJECT, ACTIVE = MemoryScope.PROJECT, MemoryState.ACTIVE


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(tmp_path / "store"), "p", "p"))


def fact(name: str, text: str = "") -> MemoryRecord:
    return MemoryRecord(PROJECT, "workflow", name, text or f"Fact {name}", created_at=AT, updated_at=AT)


def do(store: MarkdownStore, *operations: MemoryOperation) -> MemoryPlan:
    return transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))[0]


def add(store: MarkdownStore, *names: str) -> None:
    do(store, *(MemoryOperation(OperationKind.ADD, fact(name), "said") for name in names))


def update(store: MarkdownStore, name: str, text: str) -> None:
    do(store, MemoryOperation(OperationKind.UPDATE, fact(name, text), "corrected"))


def path(store: MarkdownStore) -> Path:
    return Path(store.layout.topic_file(PROJECT, ACTIVE, "workflow"))


def texts(store: MarkdownStore) -> list[str]:
    return [r.summary for r in store.snapshot().records if r.state is ACTIVE]


def save(target: Path, text: str) -> None:
    """As editors do: a new file, renamed over the old one."""
    other = target.with_suffix(".swp")
    other.write_text(text, encoding="utf-8")
    other.replace(target)


def events(store: MarkdownStore) -> list[tuple[str, str, str]]:
    return [
        (str(e.kind), e.actor, e.ref.rpartition(":")[2]) for e in store.history(PROJECT) if e.actor == "file"
    ]


def test_a_stale_save_gets_back_what_came_after(store: MarkdownStore) -> None:
    add(store, "a", "b")
    opened = path(store).read_text()
    add(store, "c")
    add(store, "d")
    save(path(store), opened.replace("Fact a", "Fact a, edited") + "\n## By hand\nnew\n")
    assert texts(store) == ["Fact a, edited", "Fact b", "By hand", "Fact c", "Fact d"]
    add(store, "e")
    assert texts(store) == ["Fact a, edited", "Fact b", "By hand", "Fact c", "Fact d", "Fact e"]
    assert [e[:2] for e in events(store)] == [("update", "file"), ("add", "file")]


def test_a_record_missing_from_the_newest_version_was_deleted_by_hand(store: MarkdownStore) -> None:
    add(store, "a", "b")
    add(store, "c")
    text = path(store).read_text()
    start = text.index("## Fact c")
    save(path(store), text[:start])
    assert texts(store) == ["Fact a", "Fact b"]
    add(store, "d")
    assert texts(store) == ["Fact a", "Fact b", "Fact d"]
    assert events(store) == [("delete", "file", "c")]


def test_what_was_archived_after_a_stale_version_stays_archived(store: MarkdownStore) -> None:
    add(store, "a", "b")
    opened = path(store).read_text()
    do(store, MemoryOperation(OperationKind.ARCHIVE, fact("a").archived("old", AT), "old"))
    save(path(store), opened + "\n## By hand\n")
    assert texts(store) == ["Fact b", "By hand"]
    add(store, "c")
    assert texts(store) == ["Fact b", "By hand", "Fact c"]


def test_an_update_after_a_stale_version_holds(store: MarkdownStore) -> None:
    add(store, "a", "b")
    opened = path(store).read_text()
    update(store, "a", "Fact a, corrected")
    save(path(store), opened.replace("Fact b", "Fact b, edited"))
    assert texts(store) == ["Fact a, corrected", "Fact b, edited"]


def test_both_changed_one_record_keeps_both(store: MarkdownStore) -> None:
    add(store, "a")
    opened = path(store).read_text()
    update(store, "a", "Fact a, corrected")
    save(path(store), opened.replace("Fact a", "Fact a, edited"))
    add(store, "b")
    assert texts(store) == ["Fact a, edited", "Fact a, corrected", "Fact b"]
    kept = next(r for r in store.snapshot().records if r.id == "a-2")
    assert "both are kept" in kept.reason


def test_edits_of_the_newest_version_are_noted_once(store: MarkdownStore) -> None:
    add(store, "a")
    save(path(store), path(store).read_text().replace("Fact a", "Fact a, edited"))
    add(store, "b")
    add(store, "c")
    assert events(store) == [("update", "file", "a")]


def test_a_stale_save_byte_for_byte_changes_nothing(store: MarkdownStore) -> None:
    add(store, "a")
    opened = path(store).read_bytes()
    add(store, "b")
    newest = path(store).read_bytes()
    path(store).write_bytes(opened)
    assert texts(store) == ["Fact a", "Fact b"]
    add(store, "c")
    do(store, MemoryOperation(OperationKind.DELETE, fact("c"), "x"))
    assert path(store).read_bytes() == newest
    assert events(store) == []


def test_a_file_that_was_deleted_by_hand(store: MarkdownStore) -> None:
    add(store, "a", "b")
    path(store).unlink()
    assert texts(store) == []
    add(store, "c")
    assert texts(store) == ["Fact c"]
    assert events(store) == [("delete", "file", "a"), ("delete", "file", "b")]


def test_a_suddenly_empty_file_is_a_problem_and_no_deletion(store: MarkdownStore) -> None:
    add(store, "a", "b")
    path(store).write_bytes(b"")
    snapshot = store.snapshot()
    assert [r.id for r in snapshot.records] == ["a", "b"]
    assert "empty" in snapshot.problems[0].reason
    add(store, "c")
    assert texts(store) == ["Fact a", "Fact b", "Fact c"]


def test_a_huge_file_is_named_at_once_and_left_alone(store: MarkdownStore) -> None:
    add(store, "a")
    with path(store).open("ab") as file:
        file.truncate(200_000_000)  # takes no room on the disk
    with pytest.raises(IntegrityError, match=r"200,000,000 bytes.*take out"):
        add(store, "b")
    assert path(store).stat().st_size == 200_000_000
    other = replace(fact("x"), topic="commands")
    do(store, MemoryOperation(OperationKind.ADD, other, "said"))
    snapshot = store.snapshot()
    assert [r.id for r in snapshot.records] == ["x"]
    assert "200,000,000" in snapshot.problems[0].reason
    assert len(verify(store.layout.root).problems) == 1


def test_a_broken_section_is_not_a_deleted_one(store: MarkdownStore) -> None:
    add(store, "a", "b")
    save(path(store), path(store).read_text().replace('{"id": "a"', '{"id": broken'))
    add(store, "c")
    assert events(store) == []
    assert '{"id": broken' in path(store).read_text()


def test_without_cache_and_history_the_files_are_taken_as_they_are(store: MarkdownStore) -> None:
    import shutil

    add(store, "a")
    opened = path(store).read_text()
    add(store, "b")
    shutil.rmtree(Path(store.layout.root) / "cache")
    Path(store.layout.history_file(PROJECT)).unlink()
    save(path(store), path(store).read_text().replace("Fact a", "Fact a, edited"))
    add(store, "c")
    assert texts(store) == ["Fact a, edited", "Fact b", "Fact c"]
    save(path(store), opened)
    add(store, "d")
    assert "Fact d" in texts(store)


WHOLE = "CAM_TEST_WHOLE" in os.environ  # with as many as a store must bear; no test sees the environment
WRITER = """
import sys
from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact

root, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = MarkdownStore(StoreLayout(root, "p", "p"))
at = "2026-11-30T10:00:00.000Z"
for n in range(count):
    name, text = f"w{who}-{n}", f"Fact {who} {n}"
    record = MemoryRecord(MemoryScope.PROJECT, "workflow", name, text, created_at=at, updated_at=at)
    operation = MemoryOperation(OperationKind.ADD, record, "said")
    transact(store, lambda snapshot: (build_plan([operation], snapshot.records), None))
    print(n, flush=True)
"""


def test_what_was_saved_in_the_moment_of_a_write_outlives_an_editor_that_opened_just_then(
    store: MarkdownStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "a")
    opened: list[str] = []

    def beside_an_editor(temporary: str, target: str) -> bytes | None:
        if target != str(path(store)):
            return exchange(temporary, target)
        if not opened:
            save(path(store), path(store).read_text() + "\n## Edit 1\nby hand\n")
        found = exchange(temporary, target)
        opened.append(path(store).read_text())
        return found

    monkeypatch.setattr(transaction, "exchange", beside_an_editor)
    add(store, "b")
    monkeypatch.undo()
    assert "Edit 1" not in opened[0]  # it was not merged yet
    assert texts(store) == ["Fact a", "Fact b", "Edit 1"]
    assert [kind for kind, actor, _ in events(store) if actor == "file"] == ["add"]
    save(path(store), opened[0] + "\n## Edit 2\nby hand\n")
    add(store, "c")
    assert sorted(texts(store)) == ["Edit 1", "Edit 2", "Fact a", "Fact b", "Fact c"]
    assert verify(store.layout.root).problems == ()


def test_many_writers_and_an_editor_without_a_lock_lose_nothing(store: MarkdownStore) -> None:
    writers, count, saves = (32, 50, 60) if WHOLE else (8, 12, 20)
    add(store, "first")
    root = store.layout.root
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, root, str(n), str(count)], stdout=subprocess.PIPE)
        for n in range(writers)
    ]
    for number in range(saves):
        opened = path(store).read_text(encoding="utf-8")
        line = running[number % writers].stdout
        assert line is not None
        line.readline()  # wait until somebody has written meanwhile
        save(path(store), opened + f"\n## Edit {number}\nby hand\n")
    for process in running:
        process.communicate()
        assert process.returncode == 0
    found = texts(store)
    assert len(found) == len(set(found)) == 1 + writers * count + saves
    assert sum(text.startswith("Edit ") for text in found) == saves


def test_many_commands_and_an_editor_lose_nothing(tmp_path: Path) -> None:
    commands, count, saves = (16, 12, 40) if WHOLE else (4, 2, 4)
    (tmp_path / "repo").mkdir()
    environment = os.environ | {"CAM_HOME": str(tmp_path / "store"), "CAM": f"{sys.executable} -m cam"}
    say = 'for n in $(seq "$2"); do $CAM --cwd "$3" remember "Fact $1 $n" --topic workflow || exit; done'
    running = [
        subprocess.Popen(
            ["sh", "-c", say, "sh", str(who), str(count), str(tmp_path / "repo")],
            env=environment, stdout=subprocess.PIPE,
        )
        for who in range(commands)
    ]  # fmt: skip
    place: Path | None = None
    for number in range(saves):
        one, other = (running[(number + n) % commands].stdout for n in range(2))
        assert one is not None
        assert other is not None
        one.readline()  # somebody has written
        place = place or next((tmp_path / "store").glob("projects/*/project/workflow.md"))
        opened = place.read_text(encoding="utf-8")
        other.readline()  # and so has another
        save(place, opened + f"\n## Edit {number}\nby hand\n")
    for process in running:
        process.communicate()
        assert process.returncode == 0
    assert place is not None
    name = place.parent.parent.name
    found = texts(MarkdownStore(StoreLayout(str(tmp_path / "store"), name, name)))
    assert len(found) == len(set(found)) == commands * count + saves
    assert verify(str(tmp_path / "store")).problems == ()


def append_once_replaced(target: Path, text: bytes) -> None:
    """As a shell's ``>>`` that is a moment late: it has the file open while another takes its place."""
    with target.open("ab") as file:
        opened.set()
        while os.fstat(file.fileno()).st_ino == target.stat().st_ino:
            pass
        file.write(text)


opened = threading.Event()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells who has a file open")
@pytest.mark.parametrize("name", ["workflow.md", "MEMORY.md"])
def test_what_is_appended_in_place_while_we_write_stays(store: MarkdownStore, name: str) -> None:
    add(store, "a")
    target = path(store).with_name(name)
    opened.clear()
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(append_once_replaced, target, b"\n## By hand\nin place\n")
        assert opened.wait(10)
        add(store, "b")
        late.result()
    assert "## By hand" in target.read_text()
    assert texts(store)[:2] == ["Fact a", "Fact b"]
    assert "workflow.md): 2 records" in path(store).with_name("MEMORY.md").read_text().replace("3 re", "2 re")


def test_an_old_memory_md_saved_over_is_counted_anew_and_its_edit_stays(store: MarkdownStore) -> None:
    add(store, "a")
    index = path(store).with_name("MEMORY.md")
    old = index.read_text()
    add(store, "b", "c")
    save(index, f"{old}\nAsk before a release.\n")
    assert len(verify(store.layout.root).problems) == 1
    other = replace(fact("x"), topic="commands")
    do(store, MemoryOperation(OperationKind.ADD, other, "said"))
    text = index.read_text()
    assert "[workflow](workflow.md): 3 records" in text
    assert "[commands](commands.md): 1 record" in text
    assert text.endswith("\nAsk before a release.\n")
    assert store.person_notes(PROJECT) == "Ask before a release."
    assert verify(store.layout.root).problems == ()


def test_memory_md_saved_between_our_reading_and_our_writing(
    store: MarkdownStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "a")
    index = path(store).with_name("MEMORY.md")

    def late(*arguments: object) -> bytes | None:
        if arguments[1] == str(index):
            save(index, index.read_text().replace("2 records", "1 record") + "Mine.\n")
            monkeypatch.undo()
        return exchange(*arguments)

    monkeypatch.setattr(transaction, "exchange", late)
    add(store, "b")
    assert "2 records" in index.read_text()
    assert index.read_text().endswith("Mine.\n")
    assert verify(store.layout.root).problems == ()


def test_saves_in_quick_succession_while_others_write_are_all_kept(store: MarkdownStore) -> None:
    add(store, "first")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, store.layout.root, str(n), "12"], stdout=subprocess.PIPE
        )
        for n in range(3)
    ]
    saves = 0
    for line in range(12):
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        for _ in range(3):  # the others are at their next write now
            save(
                path(store), path(store).read_text(encoding="utf-8") + f"\n## Edit {saves}\nby hand {line}\n"
            )
            saves += 1
    for process in running:
        process.communicate()
        assert process.returncode == 0
    found = texts(store)
    assert {f"Edit {n}" for n in range(saves)} <= set(found)
    assert {f"Fact {who} {n}" for who in range(3) for n in range(12)} <= set(found)


@pytest.mark.parametrize(
    "text", ["# Mine\n\nprose\n\n## One\nbody\n", "no newline", "", "## A\r\nb\r\n", "\n\n", "# T\n\n\n\n"]
)
def test_the_same_bytes_after_add_and_delete(store: MarkdownStore, text: str) -> None:
    target = path(store)
    target.parent.mkdir(parents=True)
    target.write_bytes(text.encode())
    add(store, "x")
    do(store, MemoryOperation(OperationKind.DELETE, fact("x"), "y"))
    assert (target.read_bytes() if target.exists() else b"") == text.encode()


def test_a_full_update_keeps_place_and_neighbours(store: MarkdownStore) -> None:
    add(store, "a", "b", "c")
    update(store, "b", "Fact b, corrected")
    assert texts(store) == ["Fact a", "Fact b, corrected", "Fact c"]
    do(store, MemoryOperation(OperationKind.UPDATE, replace(fact("b", "x"), details=("one", "two")), "y"))
    assert path(store).read_text().count("\n\n## ") + 1 == 3
    assert sorted(os.listdir(path(store).parent)) == ["MEMORY.md", "memory-history.jsonl", "workflow.md"]


def test_a_file_that_grew_beyond_any_memory_is_not_read_for_edits_either(
    store: MarkdownStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "one")
    with path(store).open("a") as file:
        file.writelines(f"## log line {n}\n" for n in range(100))
    assert len(store.edits()) == 100
    monkeypatch.setattr(limits, "MAX_TOPIC_BYTES", 500)
    assert store.edits() == ()
    (problem,) = store.snapshot().problems
    assert "is left alone" in str(problem)
