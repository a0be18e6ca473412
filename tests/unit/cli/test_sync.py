"""cam sync and cam import as processes: all projects, watching, day zero, stopped at any moment."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cam.cli.long_work import since_stamp
from cam.core.errors import InvalidInputError

ROLLOUTS = Path(__file__).parents[2] / "data" / "rollouts"
NAMES = ["package-manager", "correction", "remember-reference", "chinese", "commands"]


class Box:
    """A home with a Codex home and some repositories."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.codex = root / ".codex"
        self.store = root / ".codex-auto-memory"
        self.repos = [self.repo(name) for name in ("shop", "site")]
        self.env = {"PATH": os.environ["PATH"], "HOME": str(root)}

    def repo(self, name: str) -> Path:
        path = self.root / name
        path.mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=path, check=True)
        return path

    def put(self, release: str, name: str, cwd: Path) -> Path:
        text = (ROLLOUTS / release / f"{name}.jsonl").read_text(encoding="utf-8")
        first = json.loads(text.split("\n", 1)[0])
        session = (first.get("payload") or first)["id"]
        folder = self.codex / "sessions" / "2026" / "11" / "30"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-11-30T10-00-00-{session}.jsonl"
        whole = folder / f".{path.name}"
        whole.write_text(text.replace("/home/dev/shop", str(cwd)), encoding="utf-8")
        whole.rename(path)
        return path

    def fill(self) -> None:
        for number, release in enumerate(("0.58.0", "0.98.0", "0.171.0")):
            for name in NAMES:
                self.put(release, name, self.repos[number % 2])

    def cam(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cam", *arguments],
            cwd=cwd or self.repos[0], env=self.env, capture_output=True, text=True, input="", check=False,
        )  # fmt: skip

    def data(self, *arguments: str, cwd: Path | None = None) -> Any:
        return json.loads(self.cam(*arguments, "--json", cwd=cwd).stdout)["data"]

    @contextmanager
    def start(self, *arguments: str) -> "Iterator[subprocess.Popen[str]]":
        """A process that does not outlive the test."""
        with subprocess.Popen(
            [sys.executable, "-m", "cam", *arguments], cwd=self.repos[0], env=self.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            try:
                yield process
            finally:
                process.kill()

    def known(self, cwd: Path) -> list[str]:
        return sorted(e["summary"] for e in self.data("memory", "list", cwd=cwd)["entries"])

    def tree(self) -> dict[str, bytes]:
        return {
            str(p.relative_to(self.store)): p.read_bytes()
            for p in self.store.rglob("*")
            if p.is_file() and "cache" not in p.parts and not p.name.startswith(".lock")
        }


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path / "home")


def until(true: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


def test_import_says_first_what_there_is_and_writes_nothing_unasked(box: Box) -> None:
    box.fill()
    dry = box.cam("import", "codex", "--dry-run")
    assert dry.returncode == 0
    assert "15 sessions in 2 projects" in dry.stdout
    assert str(box.repos[0]) in dry.stdout
    assert "2026-11-30" in dry.stdout
    asked = box.cam("import", "codex")  # no terminal to ask on
    assert asked.returncode == 5
    assert "--yes" in asked.stderr
    assert box.tree() == {}
    plan = box.data("import", "codex", "--dry-run")["plan"]
    assert (plan["sessions"], len(plan["projects"])) == (15, 2)
    assert plan["expected_records"] > 5
    assert box.tree() == {}


def test_import_learns_from_everything_and_a_second_run_changes_nothing(box: Box) -> None:
    box.fill()
    done = box.cam("import", "codex", "--yes")
    assert done.returncode == 0, done.stderr
    assert "15 sessions read" in done.stdout
    assert all(any("pnpm" in text for text in box.known(repo)) for repo in box.repos)
    before = box.tree()
    again = box.cam("import", "codex", "--yes")
    assert "Nothing to import" in again.stdout
    assert box.tree() == before
    assert box.data("sync", "--all-projects")["sessions"] == []


def test_import_goes_on_where_it_was_killed(box: Box, tmp_path: Path) -> None:
    box.fill()
    other = Box(tmp_path / "other")
    other.fill()
    other.cam("import", "codex", "--yes")
    marks = box.store / "projects"
    with box.start("import", "codex", "--yes") as process:
        assert until(lambda: any(marks.rglob("processed.jsonl")))
        process.kill()
    read = len(box.data("import", "codex", "--yes")["sessions"])
    assert 0 < read <= 15
    for mine, theirs in zip(box.repos, other.repos, strict=True):
        assert box.known(mine) == other.known(theirs)


def test_since(box: Box) -> None:
    box.fill()
    assert box.data("sync", "--since", "2026-12-24")["sessions"] == []
    assert box.data("import", "codex", "--dry-run", "--since", "2026-11-01")["plan"]["sessions"] == 15
    bad = box.cam("sync", "--since", "soon")
    assert (bad.returncode, bad.stderr.count("\n")) == (4, 1)


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        ("7d", "2026-11-23T12:00:00.000Z"),
        ("12h", "2026-11-30T00:00:00.000Z"),
        ("2w", "2026-11-16T12:00:00.000Z"),
        ("2026-11-30T10:00:00+02:00", "2026-11-30T08:00:00.000Z"),
        ("2026-11-30T10:00Z", "2026-11-30T10:00:00.000Z"),
    ],
)
def test_a_time_to_begin_at(text: str, stamp: str) -> None:
    assert since_stamp(text, datetime(2026, 11, 30, 12, tzinfo=UTC)) == stamp


@pytest.mark.parametrize("text", ["", "d", "7x", "yesterday", "2026-13-01", "-3d"])
def test_no_time_to_begin_at(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--since"):
        since_stamp(text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_reads_each_session_when_it_pauses_and_ends_cleanly(box: Box, number: int) -> None:
    with box.start("sync", "--watch") as process:
        assert process.stderr is not None
        assert "watching" in process.stderr.readline()
        path = box.put("0.171.0", "package-manager", box.repos[0])
        assert until(lambda: any(box.store.rglob("preferences.md")))
        more = (ROLLOUTS / "0.171.0" / "remember-reference.jsonl").read_text(encoding="utf-8")
        with path.open("a", encoding="utf-8") as file:  # the session goes on
            file.write(more.replace("/home/dev/shop", str(box.repos[0])).partition("\n")[2])
        assert until(lambda: len(list(box.store.rglob("reference.md"))) > 0)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "+ We always use pnpm here" in out
    assert "Traceback" not in err


def test_options_that_do_not_go_together(box: Box) -> None:
    assert box.cam("sync", "--watch", "--dry-run").returncode == 4
    assert box.cam("sync", "--rollout", "x", "--all-projects").returncode == 4


def test_where_cam_is_off_nothing_is_read(box: Box) -> None:
    box.fill()
    box.cam("off", cwd=box.repos[0])
    told = box.data("sync", cwd=box.repos[0])
    assert (told["sessions"], told["note"]) == ([], "cam is off for this project (cam on)")
    box.cam("on", cwd=box.repos[0])
    assert box.data("sync", cwd=box.repos[0])["sessions"]


def test_all_projects_but_those_that_are_off(box: Box) -> None:
    box.fill()
    box.cam("off", cwd=box.repos[1])
    projects = {s["project"] for s in box.data("sync", "--all-projects", cwd=box.root)["sessions"]}
    assert [name.partition("-")[0] for name in projects] == ["shop"]
