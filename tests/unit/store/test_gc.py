"""``cam gc``: what is old goes, active records and what was taken out stay as they are."""

import json
import os
import tempfile
import time
from pathlib import Path

import pytest

from cam.core.records import MemoryScope, MemoryState
from cam.core.tombstones import tombstone_key
from cam.formats.receipts import InjectionReceipt
from cam.memory.flow import forget, remember
from cam.startup.flow import write_run
from cam.startup.result import StartupPayload
from cam.store.gc import DAY, Keep, clear, find_waste
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.processed import Mark, mark_line, read_marks
from cam.store.recall_evidence import evidence_file
from cam.store.receipts import add_receipt, read_receipts
from cam.store.runs import old_runs, passing_store
from cam.store.tombstones import read_tombstones
from cam.store.verify import verify

LATER = 400 * DAY


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    found = MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))
    for scope in MemoryScope:
        remember(found, f"Rule of {scope}", [], scope, "workflow")
    remember(found, "Never deploy on Fridays", [], MemoryScope.PROJECT, "workflow")
    remember(found, "Use tabs", [], MemoryScope.GLOBAL, "preferences")
    for text, delete in (("Never deploy on Fridays", False), ("Use tabs", True)):
        gone = [r.ref for r in found.snapshot().records if r.summary == text]
        forget(found, gone, delete=delete)
    return found


def tree(root: str) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in Path(root).rglob("*") if p.is_file()}


def active(store: MarkdownStore) -> list[str]:
    return sorted(r.summary for r in store.snapshot().records if r.state is MemoryState.ACTIVE)


def test_looking_changes_nothing_and_young_things_stay(store: MarkdownStore) -> None:
    before = tree(store.layout.root)
    assert find_waste(store.layout.root, Keep()) == ()
    assert find_waste(store.layout.root, Keep(), time.time() + LATER)
    assert tree(store.layout.root) == before
    assert find_waste(os.path.join(store.layout.root, "nowhere"), Keep()) == ()


def test_old_history_audit_and_archive_go_and_tombstones_hold(store: MarkdownStore) -> None:
    root, now = store.layout.root, time.time() + LATER
    kept = active(store)
    keep = Keep(30, 30, 30)
    planned = find_waste(root, keep, now)
    done = clear(root, keep, now)
    assert {w.kind for w in planned} == {w.kind for w in done} == {"history", "audit", "archive"}
    assert sum(w.size for w in planned if w.kind == "archive") == len("Never deploy on Fridays")
    assert active(store) == kept
    assert all(r.state is MemoryState.ACTIVE for r in store.snapshot().records)
    assert all(b"Fridays" not in data and b"Use tabs" not in data for data in tree(root).values())
    dead = read_tombstones(store)
    assert tombstone_key("never deploy on fridays!") in dead
    assert tombstone_key("use tabs") in dead
    assert tombstone_key("Rule of global") not in dead
    other = MarkdownStore(StoreLayout(root, "other-2", "other-2"))
    assert tombstone_key("Never deploy on Fridays") not in read_tombstones(other)
    assert tombstone_key("Use tabs") in read_tombstones(other)  # a person's own scope counts everywhere
    assert verify(root).problems == ()
    assert clear(root, keep, now) == ()
    remember(store, "Use tabs", [], MemoryScope.GLOBAL, "preferences")
    assert "Use tabs" in active(store)


def test_the_hash_is_salted(store: MarkdownStore) -> None:
    clear(store.layout.root, Keep(0, 0, 0), time.time() + LATER)
    lines = [
        json.loads(line) for line in Path(store.layout.root, "tombstones.jsonl").read_text().splitlines()
    ]
    assert len(lines[0]["salt"]) == 32
    assert tombstone_key("Use tabs") not in {line.get("hash") for line in lines}


def test_marks_that_were_replaced(store: MarkdownStore) -> None:
    path = Path(store.layout.processed_file)
    path.write_text(
        "".join(f"{mark_line(Mark('s', size, 1), '2026-01-01T00:00:00.000Z')}\n" for size in (1, 2, 3))
        + "{torn\n"
    )
    before = read_marks(store.layout)
    (waste,) = clear(store.layout.root, Keep())
    assert (waste.kind, waste.count) == ("marks", 3)
    assert read_marks(store.layout) == before


def test_leftovers_runs_and_ledgers(store: MarkdownStore) -> None:
    root = Path(store.layout.root)
    dead = 2**22 + 1
    for name in (".workflow.md.20260101T000000-abcdef01.tmp", f".MEMORY.md.{dead}.tmp", ".x.gone.tmp"):
        (root / "global" / name).write_text("left")
    alive = root / "global" / f".MEMORY.md.{os.getpid()}.tmp"
    alive.write_text("at work")
    old = root / "cache" / "runs" / f"{int(time.time() - 3 * DAY)}-abcd"
    young = root / "cache" / "runs" / f"{int(time.time())}-abcd"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{}")
    ledgers = root / "cache" / "sessions"
    ledgers.mkdir()
    for name, age in (("old", 100), ("young", 1)):
        (ledgers / f"{name}.json").write_text("{}")
        os.utime(ledgers / f"{name}.json", (time.time() - age * DAY,) * 2)
    (root / "cache" / "shadow" / "projects" / "gone-1").mkdir(parents=True)
    (root / "projects" / ".shop-1.abcd.tmp").mkdir()
    done = clear(str(root), Keep())
    kinds = {kind: sum(w.kind == kind for w in done) for kind in ("leftover", "run", "ledger", "orphan")}
    assert kinds == {"leftover": 4, "run": 1, "ledger": 1, "orphan": 1}
    assert alive.exists()
    assert young.exists()
    assert not old.exists()
    assert not (ledgers / "old.json").exists()
    assert (ledgers / "young.json").exists()
    alive.unlink()
    assert list(root.rglob("*.tmp")) == []


def test_what_is_derived_of_what_is_gone(store: MarkdownStore) -> None:
    cache, day_before = Path(store.layout.cache_file()), time.time() - 2 * DAY
    other, dead = StoreLayout(store.layout.root, "gone-1", "gone-1"), 2**22 + 1
    gone, kept = ("gone-1", other), ("shop-1", store.layout)
    for name, layout in (gone, kept):
        for path in (
            f"start/{name}~{name}.json", f"start/{name}~{name}.use.json",
            f"recall/projects~{name}~project.idx",
            f"recall/projects~{name}~locals~{name}.idx.delta", f"continuity/{name}/{name}.json",
            os.path.relpath(evidence_file(layout), cache),
        ):  # fmt: skip
            (cache / path).parent.mkdir(parents=True, exist_ok=True)
            (cache / path).write_text("{}")
    for name in ("start/global~.json", "recall/global.idx", f"proof-{os.getpid()}/a", f"proof-{dead}/a"):
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_text("{}")
    (cache / "git-merge").mkdir()
    for path in [p for p in cache.rglob("*") if "shadow" not in p.parts]:
        os.utime(path, (day_before, day_before))
    before = {str(p.relative_to(cache)) for p in cache.rglob("*")}
    done = clear(store.layout.root, Keep())
    after = {str(p.relative_to(cache)) for p in cache.rglob("*")}
    assert {(w.kind, os.path.relpath(w.path, cache)) for w in done} == {
        ("leftover", "git-merge"), ("leftover", f"proof-{dead}"), ("orphan", "continuity/gone-1"),
        ("orphan", os.path.relpath(evidence_file(other), cache)),
        *(("orphan", name) for name in before if name.startswith(("start/gone", "recall/projects~gone"))),
    }  # fmt: skip
    assert not [name for name in after if "gone" in name or str(dead) in name]
    assert {"start/global~.json", "recall/global.idx", f"proof-{os.getpid()}/a"} <= after
    assert len([name for name in after if "shop-1" in name and "shadow" not in name]) == 6


def test_old_receipts_go_with_the_audit(store: MarkdownStore) -> None:
    for session, at in (("old", "2020-01-01T00:00:00.000Z"), ("new", "2999-01-01T00:00:00.000Z")):
        assert add_receipt(store.layout, InjectionReceipt(session, "none", at=at))
    assert [w.count for w in clear(store.layout.root, Keep()) if w.kind == "receipts"] == [1]
    assert [r.session for r in read_receipts(store.layout)] == ["new"]


def test_a_receipt_waits_for_another_writer_but_not_for_long(
    store: MarkdownStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cam.store.receipts.WAIT_SECONDS", 0.01)
    told = InjectionReceipt("s1", "session-flag-hook", arrived=True, at="2026-11-30T10:00:00.000Z")
    audit = Path(store.layout.audit_file)
    before = audit.read_bytes()
    with store.locked():
        assert not add_receipt(store.layout, told)
    assert audit.read_bytes() == before
    assert read_receipts(store.layout) == []
    assert add_receipt(store.layout, told)
    assert read_receipts(store.layout) == [told]
    assert audit.read_bytes().startswith(before)
    assert b'"receipt"' in audit.read_bytes()[len(before) :]


def test_copies_from_before_a_move(store: MarkdownStore) -> None:
    for name in ("20240101T000000-abcd", "29990101T000000-abcd", "mine"):
        path = Path(store.layout.root, "backup", name, "shop-0")
        path.mkdir(parents=True)
        (path / "x.md").write_text("12345")
    (waste,) = clear(store.layout.root, Keep())
    assert (waste.kind, waste.size, waste.count) == ("copy", 5, 1)
    assert sorted(os.listdir(os.path.join(store.layout.root, "backup"))) == ["29990101T000000-abcd", "mine"]


def test_what_cannot_be_dated_or_read_stays(store: MarkdownStore) -> None:
    path = Path(store.layout.history_file(MemoryScope.PROJECT))
    path.write_text('{"tx":"x"}\nnonsense\n' + path.read_text())
    clear(store.layout.root, Keep(1, 1), time.time() + LATER)
    assert path.read_text() == '{"tx":"x"}\nnonsense\n'


@pytest.mark.parametrize(
    ("line", "goes"),
    [
        ('{"at":"2020-01-01T00:00:00.000Z"}', True),
        ('{ "at" : "2020-01-01T00:00:00.000Z" }', True),
        ('{"\\u0061t":"2020-01-01T00:00:00.000Z"}', True),
        ('{"at":"2020-01-01T00:00:00\\u002e000Z"}', True),
        ('{"at":"2999-01-01T00:00:00.000Z","at":"2020-01-01T00:00:00.000Z"}', True),
        ('{"at":"","recordedAt":"2999-01-01T00:00:00.000Z"}', True),
        ('{"recordedAt":"2020-01-01T00:00:00.000Z","at":"2999-01-01T00:00:00.000Z"}', False),
        ('{"after":{"at":"2020-01-01T00:00:00.000Z"},"at":"2999-01-01T00:00:00.000Z"}', False),
        ('{"reason":"\\"at\\":\\"2020-01-01\\"","at":"2999-01-01T00:00:00.000Z"}', False),
        ('{"at":"2999\\/01"}', False),
    ],
)
def test_the_time_of_a_line_counts_however_it_is_written(store: MarkdownStore, line: str, goes: bool) -> None:
    path = Path(store.layout.audit_file)
    path.write_text(line + "\n")
    waste = [w for w in find_waste(store.layout.root, Keep()) if w.path == str(path)]
    assert bool(waste) is goes


def test_a_pinned_archived_record_stays(store: MarkdownStore) -> None:
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ARCHIVED, "workflow"))
    path.write_text(path.read_text().replace('"sources"', '"pinned": true, "sources"'))
    clear(store.layout.root, Keep(archive=1), time.time() + LATER)
    assert any(r.state is MemoryState.ARCHIVED for r in store.snapshot().records)


def test_the_run_of_a_session_that_is_open_for_days_stays(store: MarkdownStore) -> None:
    cache = Path(store.layout.cache_file())
    days = {"alive": (3, os.getpid()), "dead": (3, 2**22 + 1), "ancient": (40, os.getpid())}
    for name, (age, process) in days.items():
        folder = cache / "runs" / f"{int(time.time() - age * DAY)}-{name}"
        folder.mkdir(parents=True)
        (folder / "owner.json").write_text(json.dumps({"process": process}))
    assert sorted(f.rpartition("-")[2] for f in old_runs(str(cache), time.time())) == ["ancient", "dead"]
    write_run(store.layout, StartupPayload(()))
    left = [path.name.partition("-")[2] for path in (cache / "runs").iterdir()]
    assert "alive" in left
    assert len(left) == 2


def test_a_run_beside_a_store_that_cannot_be_written_goes_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, young, foreign = (Path(passing_store(time.time())), tmp_path / "cam-run-new", tmp_path / "other")
    for folder in (young, foreign):
        folder.mkdir()
    for folder in (old, foreign):
        os.utime(folder, (0, 0))
    linked = tmp_path / "cam-run-link"
    linked.symlink_to(foreign)
    fresh = Path(passing_store(time.time()))
    assert fresh.stat().st_mode & 0o777 == 0o700
    assert set(tmp_path.iterdir()) == {young, foreign, linked, fresh}
