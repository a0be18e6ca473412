"""A process that dies at any file operation of moving, clearing, erasing or the way back loses nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cam.core.records import MemoryScope
from cam.formats.project_file import KnownProject
from cam.memory.erase import erase
from cam.memory.flow import forget, remember
from cam.setup.care import restore_ts
from cam.store.gc import Keep, clear
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.projects import attach, project_ids
from cam.store.verify import verify

CHILD = """
import os, shutil, sys
from tests.unit.store.test_care_crash import WORK
import ctypes, json, hmac, secrets, hashlib, subprocess

name, before, target = sys.argv[1:]
for die_at in range(1, 1000):
    root = f"{target}/{die_at}"
    shutil.copytree(before, root)
    if not os.fork():
        count = 0

        def audit(event, args):
            global count
            watched = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "cam.rename")
            if event in watched and root in str(args[0]):
                count += 1
                if count == die_at:
                    os._exit(99)

        sys.addaudithook(audit)
        try:
            WORK[name](root)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.wait()[1])
    if code != 99:
        sys.exit(code)
sys.exit("it never ends")
"""

FACTS = ("Deploys run on Tuesdays", "Lint before you push", "Port 5001 is taken")
GOLDEN = Path(__file__).parents[2] / "golden" / "ts-store" / "home" / ".codex-auto-memory"


def store(root: str, project: str = "new-2") -> MarkdownStore:
    return MarkdownStore(StoreLayout(root, project, project))


def fill(root: str) -> None:
    remember(store(root, "old-1"), FACTS[0], [], MemoryScope.PROJECT, "workflow")
    remember(store(root, "old-1"), FACTS[2], [], MemoryScope.PROJECT_LOCAL, "reference")
    remember(store(root), FACTS[1], [], MemoryScope.PROJECT, "workflow")
    remember(store(root), "Never on Fridays", [], MemoryScope.PROJECT, "workflow")
    forget(store(root), [r.ref for r in store(root).snapshot().records if "Fridays" in r.text], delete=False)


def work_move(root: str) -> None:
    attach(root, "old-1", KnownProject("new-2", "/there"), {"old-1": "new-2"})


def work_clear(root: str) -> None:
    clear(root, Keep(0, 0, 0), now=4_000_000_000)


def work_erase(root: str) -> None:
    found = [r.ref for r in store(root).snapshot().records if "Lint" in r.text]
    erase(store(root), found or [store(root).snapshot().records[0].ref], "/nowhere")


def work_restore(root: str) -> None:
    restore_ts(root)


WORK: dict[str, Callable[[str], None]] = {
    "move": work_move, "clear": work_clear, "erase": work_erase, "restore": work_restore,
}  # fmt: skip


def deaths(name: str, before: Path, tmp_path: Path) -> list[Path]:
    """The store after a death at each operation in turn; the last one is whole."""
    target = tmp_path / name
    line = [sys.executable, "-c", CHILD, name, str(before), str(target)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = sorted(target.iterdir(), key=lambda path: int(path.name))
    assert len(found) > 20
    return found


def texts(root: str, project: str) -> set[str]:
    return {r.summary for r in store(root, project).snapshot().records}


def sound(root: str) -> None:
    report = verify(root)
    assert report.problems == (), report.problems


def test_a_move(tmp_path: Path) -> None:
    before = tmp_path / "before"
    fill(str(before))
    found = deaths("move", before, tmp_path)
    for root in map(str, found):
        sound(root)
        old, new = texts(root, "old-1"), texts(root, "new-2")
        assert new in ({FACTS[1], "Never on Fridays"}, {*FACTS, "Never on Fridays"})
        assert old | new >= set(FACTS)
        if "old-1" in project_ids(root):
            work_move(root)
        assert texts(root, "new-2") == {*FACTS, "Never on Fridays"}
        assert texts(root, "old-1") == set()
        sound(root)
        clear(root, Keep())
        assert verify(root).notes == ()


def test_clearing_and_erasing(tmp_path: Path) -> None:
    before = tmp_path / "before"
    fill(str(before))
    for root in map(str, deaths("clear", before, tmp_path)):
        sound(root)
        assert texts(root, "new-2") >= {FACTS[1]}
        assert texts(root, "old-1") == {FACTS[0], FACTS[2]}
        work_clear(root)
        assert texts(root, "new-2") == {FACTS[1]}
        assert clear(root, Keep(0, 0, 0), now=4_000_000_000) == ()
    for root in map(str, deaths("erase", before, tmp_path)):
        sound(root)
        if FACTS[1] in texts(root, "new-2"):
            work_erase(root)
        left = [p for p in Path(root).rglob("*") if p.is_file() and b"Lint before" in p.read_bytes()]
        assert left == []
        assert texts(root, "new-2") == {"Never on Fridays"}
        sound(root)


def test_the_way_back(tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(GOLDEN, before)
    remember(store(str(before), "shop-a064ce9bbf9b"), "A rule of ours", [], MemoryScope.PROJECT, "workflow")
    for root in map(str, deaths("restore", before, tmp_path)):
        work_restore(root)
        assert len(store(root, "shop-a064ce9bbf9b").snapshot().records) == 9
        kept = [p for p in Path(root).rglob("workflow.md") if b"A rule of ours" in p.read_bytes()]
        assert kept  # aside, wherever the death was
        assert os.stat(root).st_mode & 0o077 == 0
