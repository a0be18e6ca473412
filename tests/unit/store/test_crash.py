"""A crash at any point of a write leaves the old state or the new one, whole.

Each write path is tried with a power cut at every file operation (``tests/fakes/crashes.py`` says how); the
states that the death of the process leaves are among those, and one path dies for real. Each also meets a
full disk at every operation that writes. Two commands are killed at every system call.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cam.cli.entry import main
from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.core.seams import Attachment
from cam.formats.project_file import KnownProject
from cam.memory.carry import import_memory
from cam.memory.erase import erase
from cam.memory.flow import forget, remember, undo
from cam.memory.transfer import Export, export_json
from cam.setup.care import restore_ts
from cam.store.gc import Keep, clear
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.projects import adopt_worktree, attach, project_ids, read_project
from cam.store.verify import verify
from tests.fakes.crashes import CannotTraceError, Crash, Crashes, deaths, faults, kills, power_cuts

AT = "2026-11-30T10:00:00.000Z"
GOLDEN = Path(__file__).parents[2] / "golden" / "ts-store" / "home" / ".codex-auto-memory"
PERSON = (
    b"# Ours\r\n\r\n\r\n## One\r\ntext\r\n\r\n\r\n## Two\r\n* star\r\n\r\n## Three\r\nno newline at the end"
)


@pytest.fixture(autouse=True)
def looking_needs_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written while the states are looked at need not be durable; the work runs elsewhere."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def store(root: str, project: str = "p") -> MarkdownStore:
    return MarkdownStore(StoreLayout(root, project, project))


def record(scope: MemoryScope, topic: str, name: str, summary: str) -> MemoryRecord:
    return MemoryRecord(scope, topic, name, summary, created_at=AT, updated_at=AT)


def texts(root: str, project: str) -> set[str]:
    return {r.summary for r in store(root, project).snapshot().records}


# Writes that are whole or not at all


def fill_empty(root: str) -> None:
    os.makedirs(root, mode=0o700)


def fill_one(root: str) -> None:
    old = record(MemoryScope.PROJECT, "workflow", "old", "Deploy on Mondays")
    operations = [MemoryOperation(OperationKind.ADD, old, "said")]
    transact(store(root), lambda snapshot: (build_plan(operations, snapshot.records), None))


def fill_export(root: str) -> None:
    fill_one(root)
    new = record(MemoryScope.PROJECT, "workflow", "new", "Ask first")
    export = Export((new,), {MemoryScope.PROJECT: "Be brief.", MemoryScope.GLOBAL: "Answer in German."})
    Path(root, "list.json").write_text(export_json(export, "p", AT))


def fill_by_hand(root: str) -> None:
    path = Path(store(root).layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "ours"))
    os.makedirs(root, mode=0o700)
    path.parent.mkdir(parents=True)
    path.write_bytes(PERSON)
    remember(store(root), "Something else", (), MemoryScope.PROJECT, "workflow")


def fill_forgotten(root: str) -> None:
    fill_by_hand(root)
    found = [r.ref for r in store(root).snapshot().records if r.summary in ("Two", "Three")]
    forget(store(root), found, delete=False)


def fill_list(root: str) -> None:
    fill_one(root)
    Path(root, "list.json").write_text(
        '[{"topic": "workflow", "summary": "Ask first"}, {"summary": "Port 80"}]'
    )


def first_write(root: str) -> None:
    remember(store(root), "Deploy on Tuesdays", ("at noon",), MemoryScope.PROJECT_LOCAL, "workflow")


def several(root: str) -> None:
    at = "2026-11-30T11:00:00.000Z"
    old = record(MemoryScope.PROJECT, "workflow", "old", "Deploy on Mondays")
    new = record(MemoryScope.PROJECT, "workflow", "new", "Deploy on Tuesdays")
    other = record(MemoryScope.GLOBAL, "preferences", "p", "Answer in German")
    operations = [
        MemoryOperation(OperationKind.ADD, new, "said"),
        MemoryOperation(OperationKind.ADD, other, "said"),
        MemoryOperation(OperationKind.ARCHIVE, old.archived("replaced", at), "corrected"),
    ]
    attachment = Attachment((("projects/p/audit/sync-log.jsonl", '{"n":1}'),), {"projects/p/mark": "read"})
    transact(store(root), lambda snapshot: (build_plan(operations, snapshot.records), attachment))


def undo_forget(root: str) -> None:
    undo(store(root))


def forget_by_hand(root: str) -> None:
    found = [r.ref for r in store(root).snapshot().records if r.summary == "Two"]
    forget(store(root), found, delete=True)


def import_list(root: str) -> None:
    import_memory(store(root), f"{root}/list.json", MemoryScope.PROJECT)


def fill_imported(root: str) -> None:
    fill_export(root)
    import_list(root)


def remember_command(root: str) -> None:
    _command(root, "remember", "Deploy on Tuesdays", "--scope", "global", "--topic", "workflow")


def undo_command(root: str) -> None:
    _command(root, "undo", folder="/")  # no project: whatever changed global memory did so here


def _command(root: str, *words: str, folder: str = "") -> None:
    os.environ["CAM_HOME"] = root
    folder = folder or f"{root}.repo"
    os.makedirs(folder, exist_ok=True)
    code = main(["--cwd", folder, *words, "--json"])
    assert code == 0


def fill_global(root: str) -> None:
    for text in ("Answer in German", "Answer in English"):  # from no project: any may take it back
        remember(MarkdownStore(StoreLayout(root)), text, (), MemoryScope.GLOBAL, "preferences")


@dataclass(frozen=True, slots=True)
class Write:
    """One write path that is whole or not at all."""

    fill: Callable[[str], None]
    work: Callable[[str], None]


WRITES = {
    "the first": Write(fill_empty, first_write),
    "several scopes": Write(fill_one, several),
    "undo": Write(fill_forgotten, undo_forget),
    "delete": Write(fill_by_hand, forget_by_hand),
    "import": Write(fill_list, import_list),
    "import with notes": Write(fill_export, import_list),
    "undo of one": Write(fill_imported, undo_forget),
}


def state(root: str) -> tuple[object, ...]:
    """What must be old or new as a whole: records, what is told of them, and the files that go with them."""
    here = MarkdownStore(StoreLayout(root, "p", "p"))
    snapshot = here.snapshot()
    assert not snapshot.problems
    assert not snapshot.has_edits
    events = [(e.kind, e.ref) for scope in here.layout.scopes for e in here.history(scope)]
    audit = Path(here.layout.audit_file)
    lines = audit.read_text().count("\n") if audit.exists() else 0
    return (
        {str(r.ref): r.text for r in snapshot.records},
        events,
        lines,
        Path(root, "projects/p/mark").exists(),
        [here.person_notes(scope) for scope in here.layout.scopes],
    )


def old_or_new(write: Write, crashes: Crashes, before: Path) -> None:
    old, new = state(str(before)), next(state(str(c.root)) for c in crashes.states if c.is_done)
    seen = set()
    for crash in crashes.states:
        root = str(crash.root)
        found = state(root)
        assert found in ((new,) if crash.is_done else (old, new)), crash
        seen.add(found == new)
        sound(root, crash)
        remember(store(root), "Goes on", (), MemoryScope.PROJECT, "workflow")
        assert "Goes on" in texts(root, "p")
    assert seen == {True, False}
    assert crashes.points >= 20


def sound(root: str, crash: object = None) -> None:
    report = verify(root)
    assert report.problems == (), (crash, report.problems)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("several scopes", deaths), *((n, faults) for n in WRITES), *((n, power_cuts) for n in WRITES)],
)
def test_a_write_is_whole_or_not_at_all(name: str, kind: Callable[..., Crashes], tmp_path: Path) -> None:
    write = WRITES[name]
    before = tmp_path / "before"
    write.fill(str(before))
    old_or_new(write, kind(write.work, before, tmp_path / "after"), before)


@pytest.mark.parametrize(
    "write", [Write(fill_one, remember_command), Write(fill_global, undo_command)], ids=["remember", "undo"]
)
def test_a_command_killed_at_every_system_call(write: Write, tmp_path: Path) -> None:
    before = tmp_path / "before"
    write.fill(str(before))
    try:
        crashes = kills(write.work, before, tmp_path / "after")
    except CannotTraceError as error:
        pytest.skip(str(error))
    old_or_new(write, crashes, before)


# Care for the whole store: what is done stays done, and a repeat does the rest

FACTS = ("Deploys run on Tuesdays", "Lint before you push", "Port 5001 is taken")


def fill_projects(root: str) -> None:
    remember(store(root, "old-1"), FACTS[0], [], MemoryScope.PROJECT, "workflow")
    remember(store(root, "old-1"), FACTS[2], [], MemoryScope.PROJECT_LOCAL, "reference")
    new = store(root, "new-2")
    remember(new, FACTS[1], [], MemoryScope.PROJECT, "workflow")
    remember(new, "Never on Fridays", [], MemoryScope.PROJECT, "workflow")
    forget(new, [r.ref for r in new.snapshot().records if "Fridays" in r.text], delete=False)


def fill_predecessor(root: str) -> None:
    shutil.copytree(GOLDEN, root)
    remember(store(root, "shop-a064ce9bbf9b"), "A rule of ours", [], MemoryScope.PROJECT, "workflow")


def move(root: str) -> None:
    attach(root, "old-1", KnownProject("new-2", "/there"), {"old-1": "new-2"})


def clear_all(root: str) -> None:
    clear(root, Keep(0, 0, 0), now=4_000_000_000)


def erase_one(root: str) -> None:
    here = store(root, "new-2")
    found = [r.ref for r in here.snapshot().records if "Lint" in r.text]
    erase(here, found or [here.snapshot().records[0].ref], "/nowhere")


def restore(root: str) -> None:
    restore_ts(root)


def adopt(root: str) -> None:
    adopt_worktree(root, read_project(root, "old-1"), "old-1", "tree-3")


def fill_moved(root: str) -> None:
    fill_projects(root)
    move(root)


def move_back(root: str) -> None:
    undo(store(root, "new-2"))


def moved_back(crash: Crash) -> None:
    root = str(crash.root)
    sound(root, crash)
    old, new = texts(root, "old-1"), texts(root, "new-2")
    whole = {*FACTS, "Never on Fridays"}
    assert old in (set(), {FACTS[0], FACTS[2]}), crash
    assert new in (whole, {FACTS[1], "Never on Fridays"}), crash
    assert old | new == whole, crash
    assert not (crash.is_done and new == whole)
    if new == whole:
        move_back(root)
    assert (texts(root, "old-1"), texts(root, "new-2")) == (
        {FACTS[0], FACTS[2]}, {FACTS[1], "Never on Fridays"},
    ), crash  # fmt: skip
    sound(root, crash)


def adopted(crash: Crash) -> None:
    root = str(crash.root)
    sound(root, crash)
    views = [MarkdownStore(StoreLayout(root, "old-1", worktree)) for worktree in ("old-1", "tree-3")]
    before, after = ({r.summary for r in view.snapshot().records} for view in views)
    assert (before, after) in (({FACTS[0], FACTS[2]}, {FACTS[0]}), ({FACTS[0]}, {FACTS[0], FACTS[2]})), crash
    assert not (crash.is_done and FACTS[2] in before)
    if FACTS[2] in before:
        adopt(root)
    assert {r.summary for r in views[1].snapshot().records} == {FACTS[0], FACTS[2]}, crash
    sound(root, crash)


def moved(crash: Crash) -> None:
    root = str(crash.root)
    sound(root, crash)
    old, new = texts(root, "old-1"), texts(root, "new-2")
    assert new in ({FACTS[1], "Never on Fridays"}, {*FACTS, "Never on Fridays"}), crash
    assert old | new >= set(FACTS), crash
    assert not (crash.is_done and old)
    if "old-1" in project_ids(root):
        move(root)
    assert texts(root, "new-2") == {*FACTS, "Never on Fridays"}, crash
    assert texts(root, "old-1") == set()
    sound(root, crash)
    move_back(root)
    assert texts(root, "old-1") == {FACTS[0], FACTS[2]}, crash
    move(root)
    clear(root, Keep())
    assert verify(root).notes == (), crash


def cleared(crash: Crash) -> None:
    root = str(crash.root)
    sound(root, crash)
    assert texts(root, "new-2") >= {FACTS[1]}, crash
    assert texts(root, "old-1") == {FACTS[0], FACTS[2]}
    waste = clear(root, Keep(0, 0, 0), now=4_000_000_000)
    assert not crash.is_done or {w.kind for w in waste} <= {"leftover"}, crash  # a copy's, never synced
    assert texts(root, "new-2") == {FACTS[1]}
    assert clear(root, Keep(0, 0, 0), now=4_000_000_000) == ()


def erased(crash: Crash) -> None:
    root = str(crash.root)
    sound(root, crash)
    if FACTS[1] in texts(root, "new-2"):
        assert not crash.is_done
        erase_one(root)
    left = [p for p in crash.root.rglob("*") if p.is_file() and b"Lint before" in p.read_bytes()]
    assert left == [], crash
    assert texts(root, "new-2") == {"Never on Fridays"}
    sound(root, crash)


def restored(crash: Crash) -> None:
    root = str(crash.root)
    restore(root)
    assert len(store(root, "shop-a064ce9bbf9b").snapshot().records) == 9, crash
    kept = [p for p in crash.root.rglob("workflow.md") if b"A rule of ours" in p.read_bytes()]
    assert kept, crash  # aside, wherever the crash was
    assert os.stat(root).st_mode & 0o077 == 0


CARE = {
    "move": (fill_projects, move, moved),
    "move back": (fill_moved, move_back, moved_back),
    "worktree": (fill_projects, adopt, adopted),
    "clear": (fill_projects, clear_all, cleared),
    "erase": (fill_projects, erase_one, erased),
    "restore": (fill_predecessor, restore, restored),
}


@pytest.mark.parametrize(("name", "kind"), [(n, power_cuts) for n in CARE])
def test_care_loses_nothing(name: str, kind: Callable[..., Crashes], tmp_path: Path) -> None:
    fill, work, check = CARE[name]
    before = tmp_path / "before"
    fill(str(before))
    crashes = kind(work, before, tmp_path / "after")
    assert crashes.points > 20
    for crash in crashes.states:
        check(crash)
