"""A crash at any point of a sync between machines: the store holds the old state or the new one, the next
sync completes, and nothing is lost on either machine.

Every so many points are tried; ``CAM_TEST_EVERY=1`` tries them all.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cam.cli.entry import main
from cam.core.records import MemoryScope
from cam.memory.flow import forget, happened, remember, undo
from cam.memory.log import log
from cam.memory.machines import keep_in_git, sync_machines
from cam.store.git_kept import git
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.verify import verify
from tests.fakes.crashes import CannotTraceError, Crash, Crashes, deaths, faults, kills

ASKED = int(os.environ.get("CAM_TEST_EVERY", "0"))  # no test sees the environment

OLD = {"Deploys run on Tuesdays", "Ask Ada", "By hand"}
NEW = {"Lint before you push", "Answer in German", "Ask Ada", "By hand"}


def store(root: str) -> MarkdownStore:
    return MarkdownStore(StoreLayout(root, "shop-1", "shop-1"))


def say(root: str, text: str, scope: MemoryScope = MemoryScope.PROJECT) -> None:
    remember(store(root), text, (), scope, "workflow")


def sync(root: str, name: str) -> None:
    sync_machines(store(f"{root}/{name}"), f"{root}/hub.git")


def texts(root: str) -> set[str]:
    return {r.summary for r in store(root).snapshot().records}


def fill(root: str) -> None:
    """Two machines; on both something was changed since, and on the second by hand too."""
    one, two = f"{root}/one", f"{root}/two"
    os.makedirs(root)
    git(root, "init", "-q", "--bare", "hub.git")
    say(one, "Deploys run on Tuesdays")
    for machine in ("one", "two"):
        keep_in_git(store(f"{root}/{machine}"))
        sync(root, machine)
    say(one, "Lint before you push")
    say(one, "Answer in German", MemoryScope.GLOBAL)
    gone = [r.ref for r in store(one).snapshot().records if "Tuesdays" in r.text]
    forget(store(one), gone, delete=True)
    sync(root, "one")
    say(two, "Ask Ada")
    with Path(two, "projects/shop-1/project/workflow.md").open("a") as file:
        file.write("\n## By hand\n")


def sync_two(root: str) -> None:
    sync(root, "two")


def sync_command(root: str) -> None:
    os.environ["CAM_HOME"] = f"{root}/two"
    folder = f"{root}.repo"
    os.makedirs(folder, exist_ok=True)
    raise SystemExit(main(["--cwd", folder, "store", "git", "sync", "--to", f"{root}/hub.git"]))


def init_three(root: str) -> None:
    keep_in_git(store(f"{root}/three"))


def a_minute_later(root: Path) -> None:
    """What git locked and left is old by now."""
    for lock in root.rglob("*.lock"):
        if ".git" in lock.parts and lock.is_file():
            os.utime(lock, (time.time() - 90,) * 2)


def survived(crash: Crash) -> None:
    root = str(crash.root)
    two = f"{root}/two"
    report = verify(two)
    assert report.problems == (), (crash, report.problems)
    found = texts(two)
    assert found in ((NEW,) if crash.is_done else (OLD, NEW)), (crash, found)
    arrivals = [entry for entry in log(happened(store(two))) if entry.origin]
    assert len(arrivals) == (2 if found == NEW else 1), crash
    a_minute_later(crash.root)
    for machine in ("two", "one", "two", "one"):
        sync(root, machine)
    for machine in ("one", "two"):
        assert texts(f"{root}/{machine}") == NEW, (crash, machine)
        assert verify(f"{root}/{machine}").problems == (), (crash, machine)
        assert git(f"{root}/{machine}", "status", "--porcelain") == ""
        git(f"{root}/{machine}", "fsck", "--connectivity-only", "--no-dangling")
    assert git(f"{root}/one", "rev-parse", "HEAD") == git(two, "rev-parse", "HEAD")
    assert len([e for e in log(happened(store(two))) if e.origin]) == 2, crash
    undo(store(two))
    assert texts(two) == NEW - {"Ask Ada"}, crash


def every(points: int) -> int:
    return ASKED or points


@pytest.mark.parametrize(("kind", "step"), [(deaths, 19), (faults, 29)])
def test_a_sync_that_is_cut_short(kind: Callable[..., Crashes], step: int, tmp_path: Path) -> None:
    fill(str(tmp_path / "before"))
    crashes = kind(sync_two, tmp_path / "before", tmp_path / "after", every(step))
    assert crashes.points > 3
    for crash in crashes.states:
        survived(crash)


def test_a_sync_that_is_killed(tmp_path: Path) -> None:
    fill(str(tmp_path / "before"))
    try:
        crashes = kills(sync_command, tmp_path / "before", tmp_path / "after", every(701))
    except CannotTraceError as error:
        pytest.skip(str(error))
    assert crashes.points > 3
    for crash in crashes.states:
        survived(crash)


def test_an_init_that_is_cut_short(tmp_path: Path) -> None:
    before = tmp_path / "before"
    fill(str(before))
    say(f"{before}/three", "Test last")
    crashes = deaths(init_three, before, tmp_path / "after", every(17))
    for crash in crashes.states:
        root, three = str(crash.root), f"{crash.root}/three"
        assert verify(three).problems == ()
        assert texts(three) == {"Test last"}
        a_minute_later(crash.root)
        keep_in_git(store(three))
        for machine in ("three", "one", "three"):
            sync(root, machine)
        expected = {"Test last", "Lint before you push", "Answer in German"}
        assert texts(three) == texts(f"{root}/one") == expected, crash
        undo(store(three))
        assert texts(three) == expected - {"Test last"}, crash
