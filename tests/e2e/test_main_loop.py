"""Learn in one session, know it in the next: the installed cam around the real Codex."""

import hashlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from codex_releases import CodexSandbox
from tui import ENTER
from wrapped import CAM, killed_wrapper

from cam.testing.responses_server import Fail
from tests.conftest import fill

pytestmark = pytest.mark.e2e

RULE = "We always use pnpm here, never npm."
KEPT = "We always use pnpm here, never npm"
RELEASES = ["0.98.0", "0.171.0"]


def cam(box: CodexSandbox, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    env = {"CAM_CODEX_BINARY": box.codex, **more.pop("env", {})}
    return box.run(*arguments, program=CAM, env=env, **more)


def listed(box: CodexSandbox, state: str = "active") -> list[str]:
    done = cam(box, "memory", "list", "--state", state, "--json")
    return [entry["summary"] for entry in json.loads(done.stdout)["data"]["entries"]]


def tree(root: Path, *, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Digest of every file below ``root``, folders named in ``without`` left out."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and not path.is_symlink() and not name.startswith(without):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.mark.parametrize("version", RELEASES)
def test_a_rule_stated_once_is_known_in_the_next_session(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    first = cam(box, "exec", f"{RULE} Set up the repository.")
    assert first.returncode == 0
    assert f"cam: learned 1: {KEPT} · undo: cam undo" in first.stderr
    assert listed(box) == [KEPT]
    markdown = (box.home / ".codex-auto-memory").rglob("preferences.md")
    assert f"## {KEPT}\n" in next(markdown).read_text(encoding="utf-8")

    asked = len(box.server.requests)
    second = cam(box, "exec", "What now?")
    assert box.shown(KEPT, since=asked) == [1]
    assert "cam: memory reached the model: 1 record, " in second.stderr

    assert json.loads(cam(box, "sync", "--json").stdout)["data"]["sessions"] == []


def test_a_resumed_session_gets_what_was_learned_after_it_began(sandbox: Any) -> None:
    box = sandbox("0.171.0")
    cam(box, "remember", "Deploys run on Tuesdays")
    cam(box, "exec", "hello")
    session = box.session_id()
    cam(box, "remember", "Never edit services/legacy")
    asked = len(box.server.requests)
    done = cam(box, "exec", "resume", session, "go on")
    assert box.shown("Never edit services/legacy", since=asked) == [1]
    assert box.shown("Deploys run on Tuesdays", since=asked) == [1]  # the copy in its history, no second one
    assert "memory reached the model: 1 record, " in done.stderr

    again = cam(box, "exec", "resume", session, "and on")
    assert box.shown("Never edit services/legacy")[-1] == 1
    assert "memory reached" not in again.stderr  # nothing is new: nothing is told, nothing is said


def test_a_resumed_session_is_told_what_no_longer_holds(sandbox: Any) -> None:
    box = sandbox("0.171.0")
    ref = json.loads(cam(box, "remember", "The API listens on 3000", "--json").stdout)["data"]["ref"]
    cam(box, "exec", "hello")
    cam(box, "forget", ref)
    cam(box, "exec", "resume", box.session_id(), "go on")
    last = "\n".join(box.server.model_input_texts())
    assert "No longer true:\n- [project/" in last


def test_a_fork_gets_what_its_parent_lacked(sandbox: Any) -> None:
    box = sandbox("0.171.0")
    cam(box, "remember", "Deploys run on Tuesdays")
    cam(box, "exec", "hello")
    cam(box, "remember", "Never edit services/legacy")
    cam(box, "exec", "fork", box.session_id(), "try it differently")
    assert box.shown("Deploys run on Tuesdays")[-1] == 1
    assert box.shown("Never edit services/legacy")[-1] == 1


@pytest.mark.parametrize("version", RELEASES)
def test_no_file_of_the_users_differs_from_what_plain_codex_leaves(sandbox: Any, version: str) -> None:
    plain, wrapped = sandbox(version), sandbox(version)
    plain.run("exec", RULE)
    cam(wrapped, "exec", RULE)
    cam(wrapped, "exec", "again")
    volatile = (
        ".tmp",
        "sessions",
        "log",
        "logs",
        "state",
        "history",
        "tmp",
        "shell_snapshots",
        "models_cache",
        "goals",
    )
    here = tree(wrapped.codex_home, without=volatile)
    there = tree(plain.codex_home, without=volatile)
    url = (plain.server.base_url, wrapped.server.base_url)
    config = (wrapped.codex_home / "config.toml").read_text().replace(url[1], url[0])
    assert config == (plain.codex_home / "config.toml").read_text()
    assert {k for k in here if "sqlite" not in k} == {k for k in there if "sqlite" not in k}
    assert tree(wrapped.repo, without=(".git",)) == {}
    assert {p.name for p in wrapped.home.iterdir()} - {p.name for p in plain.home.iterdir()} == {
        ".codex-auto-memory"
    }


@pytest.mark.parametrize("version", ["0.125.0", "0.171.0"])
def test_the_users_profile_folder_and_worktree_stay_in_force(sandbox: Any, version: str) -> None:
    """The model is asked as plain Codex asks it, with memory besides, and the settings are the same bytes."""
    is_new = version == "0.171.0"
    line = ["exec", "-p", "work", "-c", "model_reasoning_effort=high", "hello"]
    places = [["--cd", "sub"], ["--worktree"]] if is_new else [["--cd", "sub"]]
    asked, files = [], []
    for program in (None, CAM):
        tables = "" if is_new else '[profiles.work]\nmodel = "gpt-work"\n'
        box = sandbox(version, tables=tables)
        if is_new:
            (box.codex_home / "work.config.toml").write_text('model = "gpt-work"\n')
        (box.repo / "sub").mkdir()
        (box.repo / "sub" / "AGENTS.md").write_text("SUB RULE")
        box.git("add", ".")
        box.git("commit", "-qm", "sub")
        if program:
            cam(box, "remember", "--scope", "project", "Deploys run on Tuesdays")
        for place in places:
            done = cam(box, *line, *place) if program else box.run(*line, *place)
            assert done.returncode == 0, done.stderr
        requests = [r for r in box.server.requests if "hello" in json.dumps(r)]
        asked.append([(r["model"], r.get("reasoning"), "SUB RULE" in json.dumps(r)) for r in requests])
        config = {p.name: p.read_text() for p in sorted(box.codex_home.glob("*.toml"))}
        here = str(box.root)
        files.append(
            {n: t.replace(box.server.base_url, "URL").replace(here, "ROOT") for n, t in config.items()}
        )
    assert asked[0] == asked[1]
    assert (asked[1][0][0], asked[1][0][2]) == ("gpt-work", True)
    assert files[0] == files[1]
    assert box.shown("Deploys run on Tuesdays") == [1] * len(asked[1])


@pytest.mark.parametrize("version", RELEASES)
def test_the_users_own_instructions_stay(sandbox: Any, version: str) -> None:
    box = sandbox(version, top='developer_instructions = "ANSWER IN RHYMES"')
    cam(box, "remember", "Deploys run on Tuesdays")
    cam(box, "exec", "hello")
    assert box.shown("ANSWER IN RHYMES") == [1]
    assert box.shown("Deploys run on Tuesdays") == [1]


def test_the_exit_code_is_codex_own(sandbox: Any) -> None:
    box = sandbox("0.171.0", lambda _request: Fail(500))
    assert cam(box, "exec", "hello").returncode == 1
    assert cam(box, "exec", "--no-such-option").returncode == box.run("exec", "--no-such-option").returncode


@pytest.mark.parametrize("version", RELEASES)
def test_arguments_reach_codex_untouched(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    done = cam(box, "exec", "--json", "-c", "model_reasoning_effort=high", "--", "--help 你好 🧑‍💻")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["type"] == "thread.started"
    assert any("--help 你好 🧑‍💻" in text for text in box.server.model_input_texts())
    assert cam(box, "exec", "--help").stdout == box.run("exec", "--help").stdout
    assert cam(box, "run", "--version").stdout == box.run("--version").stdout
    assert len(box.rollouts()) == 1

    piped = cam(box, "exec", "-", text_in="from standard input")
    assert piped.returncode == 0
    assert any("from standard input" in text for text in box.server.model_input_texts())


@pytest.mark.parametrize(("how", "told", "learned"), [
    (["--no-inject"], 0, 1), (["--no-sync"], 1, 0), ([], 1, 1),
])  # fmt: skip
def test_injection_and_sync_can_be_switched_off_for_one_run(
    sandbox: Any, how: list[str], told: int, learned: int
) -> None:
    box = sandbox("0.171.0")
    cam(box, "remember", "Deploys run on Tuesdays")
    cam(box, *how, "exec", RULE)
    assert box.shown("Deploys run on Tuesdays") == [told]
    assert (KEPT in listed(box)) == bool(learned)


@pytest.mark.parametrize("how", ["variable", "project", "folder"])
def test_off_is_off(sandbox: Any, how: str) -> None:
    box = sandbox("0.171.0")
    cam(box, "remember", "Deploys run on Tuesdays")
    env = {"CAM_OFF": "1"} if how == "variable" else {}
    if how == "project":
        assert cam(box, "off").returncode == 0
    if how == "folder":
        env = {"CAM_OFF_FOLDERS": str(box.repo.parent)}
    before = tree(box.home)
    done = cam(box, "exec", RULE, env=env)
    assert done.returncode == 0
    assert "cam:" not in done.stderr
    assert box.shown("cam-memory") == [0]
    assert tree(box.home) == before
    if how == "project":
        cam(box, "on")
        cam(box, "exec", "hello")
        assert KEPT in listed(box)


def break_store(box: CodexSandbox, how: str) -> dict[str, str]:
    store = box.home / ".codex-auto-memory"
    topic = next(store.rglob("workflow.md"))
    if how == "a corrupt topic file":
        topic.write_text("# Workflow\n\n## x\n<!-- cam:record {broken -->\n")
    elif how == "a folder for a topic file":
        topic.unlink()
        topic.mkdir()
    elif how == "a file for the store":
        store.rename(box.home / "away")
        store.write_text("not a folder")
    elif how == "a bad setting":
        (box.repo / "codex-auto-memory.yaml").write_text("max_startup_lines: many\ncodex_binary: evil\n")
    return {}


@pytest.mark.parametrize(
    "how",
    ["a corrupt topic file", "a folder for a topic file", "a file for the store", "a bad setting"],
)
@pytest.mark.parametrize("fails", [False, True])
def test_broken_memory_never_costs_a_session(sandbox: Any, how: str, fails: bool) -> None:
    script: Any = (lambda _request: Fail(500)) if fails else ()
    box = sandbox("0.171.0", script)
    cam(box, "remember", "Deploys run on Tuesdays", "--topic", "workflow")
    env = break_store(box, how)
    done = cam(box, "exec", "hello", env=env)
    assert done.returncode == int(fails)
    assert len(box.server.requests) >= 1
    warnings = [line for line in done.stderr.splitlines() if line.startswith("cam: ")]
    assert warnings
    assert "Traceback" not in done.stderr


def test_a_store_that_cannot_be_written_is_told_all_the_same(
    sandbox: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    box, temporary = sandbox("0.171.0"), tmp_path_factory.mktemp("temporary")
    cam(box, "remember", "Deploys run on Tuesdays")
    runs = box.home / ".codex-auto-memory" / "cache" / "runs"
    assert not runs.exists()
    runs.symlink_to("/proc/sys")  # can be listed, and nothing can be made there, whoever asks
    done = cam(box, "exec", "hello", env={"TMPDIR": str(temporary)})
    assert done.returncode == 0
    assert box.shown("Deploys run on Tuesdays") == [1]
    (kept,) = temporary.glob("cam-run-*")  # the session may go on, and compact later
    assert [path.name for path in kept.rglob("*.json")] != []
    assert {path.stat().st_mode & 0o077 for path in (kept, *kept.rglob("*"))} == {0}


def test_a_full_disk_never_costs_a_session(sandbox: Any, small_disk: Path) -> None:
    box = sandbox("0.171.0")
    env = {"CAM_HOME": str(small_disk / "store")}
    cam(box, "remember", "Deploys run on Tuesdays", env=env)
    fill(small_disk)
    done = cam(box, "exec", RULE, env=env)
    assert done.returncode == 0
    warnings = [line for line in done.stderr.splitlines() if line.startswith("cam: ")]
    assert [w for w in warnings if "the disk is full" in w]
    assert "Traceback" not in done.stderr
    (small_disk / "filler").unlink()
    summaries = [
        e["summary"]
        for e in json.loads(cam(box, "memory", "list", "--json", env=env).stdout)["data"]["entries"]
    ]
    assert summaries == ["Deploys run on Tuesdays"]
    cam(box, "sync", env=env)
    assert KEPT in cam(box, "memory", "list", env=env).stdout


def test_a_killed_wrapper_loses_nothing(sandbox: Any) -> None:
    box = killed_wrapper(sandbox, RULE, "ANSWER")
    assert listed(box) == []
    report = json.loads(cam(box, "sync", "--json").stdout)["data"]
    assert [s["status"] for s in report["sessions"]] == ["synced"]
    assert listed(box) == [KEPT]
    assert json.loads(cam(box, "sync", "--json").stdout)["data"]["sessions"] == []


def test_ctrl_c_reaches_codex_and_the_session_is_learned(sandbox: Any) -> None:
    def script(_request: Any) -> str:
        os.killpg(wrapper.pid, signal.SIGINT)  # what a terminal does on Ctrl-C
        return "ANSWER"

    box = sandbox("0.171.0", script)
    env = {**box.env, "CAM_CODEX_BINARY": box.codex}
    wrapper = subprocess.Popen(
        [CAM, "exec", RULE], cwd=box.repo, env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip
    _, stderr = wrapper.communicate(timeout=60)
    assert "Traceback" not in stderr
    if listed(box) != [KEPT]:  # interrupted while it was being read: the next sync takes it
        cam(box, "sync")
    assert listed(box) == [KEPT]


def test_in_the_terminal(sandbox: Any) -> None:
    box = sandbox("0.171.0", ["ANSWER-ONE"])
    cam(box, "remember", "Deploys run on Tuesdays")
    box.env["CAM_CODEX_BINARY"] = box.codex
    with box.tui("run", program=CAM) as tui:
        tui.wait_for("rust")
        tui.press(ENTER, lambda text: "rust" not in text and "›" in text)
        tui.submit(RULE, "ANSWER-ONE")
        tui.submit("/quit", "undo: cam undo")
        assert tui.wait_exit() == 0
        assert "memory reached the model: 1 record" in tui.text
    assert box.shown("Deploys run on Tuesdays")[0] == 1
    assert KEPT in listed(box)
    assert box.leftovers() == []
