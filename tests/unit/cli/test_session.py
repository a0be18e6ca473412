"""The wrapped verbs with a fake Codex: arguments untouched, exit codes passed on, one clear line else."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FAKE = Path(__file__).parents[2] / "fakes" / "fake_codex.py"


class Box:
    """A home, a project and the fake."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repo = root / "repo"
        self.repo.mkdir(parents=True)
        self.log = root / "calls.jsonl"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "CAM_CODEX_BINARY": str(FAKE),
            "FAKE_CODEX_LOG": str(self.log),
        }

    def cam(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        env = self.env | more.pop("env", {})
        more.setdefault("input", "")
        return subprocess.run(
            [sys.executable, "-m", "cam", *arguments],
            cwd=self.repo, env=env, capture_output=True, text=True, check=False, **more,
        )  # fmt: skip

    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path / "box")


def own(argv: list[str]) -> list[str]:
    """The arguments without the flag that carries the payload."""
    kept = list(argv)
    for index, word in enumerate(kept):
        if word.startswith("hooks="):
            del kept[index - 1 : index + 1]
            break
    return kept


LINES = [
    ["exec", "hello"],
    ["exec", "--", "--help"],
    ["exec", "--json", "-c", 'model="x"', "你好 🧑‍💻", "--", "-c", "y"],
    ["resume", "--last"],
    ["resume", "0199-id", "go on"],
    ["fork", "0199-id"],
    ["run"],
    ["run", "--search", "prompt"],
    ["run", "mcp", "list"],
    ["run", "login", "--help"],
    ["exec", "two\nlines", "", "tab\there"],
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_everything_behind_the_verb_reaches_codex(box: Box, line: list[str]) -> None:
    assert box.cam(*line, input="piped ü").returncode == 0
    expected = line[1:] if line[0] == "run" else line
    assert [own(c["argv"]) for c in box.calls()] == [expected]
    assert box.calls()[0]["stdin"] == "piped ü"


def test_a_session_gets_the_hook_and_other_commands_get_nothing(box: Box) -> None:
    box.cam("exec", "hello")
    box.cam("run", "mcp", "list")
    box.cam("run", "--version")
    assert [any(w.startswith("hooks=") for w in c["argv"]) for c in box.calls()] == [True, False]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 101, 255])
def test_the_exit_code_is_passed_on(box: Box, code: int) -> None:
    assert box.cam("exec", "x", env={"FAKE_CODEX_END": f"exit:{code}"}).returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT])
def test_death_by_signal_is_128_and_its_number(box: Box, number: int) -> None:
    assert box.cam("exec", "x", env={"FAKE_CODEX_END": f"signal:{int(number)}"}).returncode == 128 + number


@pytest.mark.parametrize("verb", ["run", "exec", "resume", "fork"])
def test_codex_missing_is_127(box: Box, verb: str) -> None:
    done = box.cam(verb, env={"CAM_CODEX_BINARY": "/nowhere/codex"})
    assert done.returncode == 127
    assert done.stderr == (
        "cam: there is no program '/nowhere/codex'; install Codex, or name it: "
        "cam config set codex_binary PATH\n"
    )


def test_codex_not_executable_is_126(box: Box) -> None:
    plain = box.root / "codex"
    plain.write_text("#!/bin/sh\n")
    plain.chmod(stat.S_IRUSR)
    done = box.cam("exec", "x", env={"CAM_CODEX_BINARY": str(plain)})
    assert (done.returncode, done.stderr) == (126, f"cam: {plain} cannot be executed\n")
    plain.chmod(0o700)
    plain.write_text("#!/nowhere/interpreter\n")
    done = box.cam("exec", "x", env={"CAM_CODEX_BINARY": str(plain)})
    assert done.returncode == 126
    assert (
        len([line for line in done.stderr.splitlines() if "cannot be started" in line or "no such" in line])
        == 1
    )


def test_own_options_stand_before_the_verb(box: Box) -> None:
    other = box.root / "other"
    other.mkdir()
    assert (
        box.cam("--cwd", str(other), "--no-sync", "--no-inject", "exec", "--no-inject", "x").returncode == 0
    )
    assert box.calls() == [{"argv": ["exec", "--no-inject", "x"], "cwd": str(other), "stdin": ""}]


@pytest.mark.parametrize(("words", "code"), [
    (["--cwd", "/nowhere", "exec", "x"], 4), (["--cwd"], 4), (["--cwd", "/nowhere", "memory"], 4),
])  # fmt: skip
def test_a_folder_that_does_not_exist(box: Box, words: list[str], code: int) -> None:
    done = box.cam(*words)
    assert done.returncode == code
    assert done.stderr.startswith("cam: --cwd")
    assert done.stderr.count("\n") == 1


def test_an_old_codex_starts_with_a_warning(box: Box) -> None:
    box.cam("remember", "Never push to main")
    done = box.cam("exec", "x", env={"FAKE_CODEX_RELEASE": "0.42.0"})
    assert done.returncode == 0
    assert box.calls()[0]["argv"] == ["exec", "x"]
    assert "cam: Codex 0.42.0 cannot be told anything at start" in done.stderr


def test_a_hook_that_was_not_called_is_said(box: Box) -> None:
    box.cam("remember", "Never push to main")
    done = box.cam("exec", "x", env={"FAKE_CODEX_SESSION": "1"})
    assert "memory did not reach the model: Codex did not call the hook" in done.stderr


@pytest.mark.parametrize("release", ["0.98.0", "0.171.0"])
def test_where_no_session_was_started_nothing_is_claimed(box: Box, release: str) -> None:
    box.cam("remember", "Never push to main")
    box.cam("exec", "x", env={"FAKE_CODEX_SESSION": "1", "FAKE_CODEX_RELEASE": release})
    done = box.cam("exec", "--bogus", env={"FAKE_CODEX_END": "exit:2", "FAKE_CODEX_RELEASE": release})
    assert (done.returncode, done.stderr) == (2, "")


def test_nothing_remembered_nothing_said(box: Box) -> None:
    assert box.cam("exec", "x").stderr == ""


def test_kill_reaches_codex(box: Box, tmp_path: Path) -> None:
    slow = box.root / "slow"
    slow.write_text(
        f"#!{sys.executable}\nimport os, signal, sys\n"
        "if sys.argv[1:] == ['--version']: print('codex-cli 0.171.0'); sys.exit()\n"
        "def end(*_): os.write(1, b'got it\\n'); os._exit(7)\n"
        "signal.signal(signal.SIGTERM, end)\nos.write(1, b'ready\\n')\nwhile True: signal.pause()\n"
    )
    slow.chmod(0o700)
    with subprocess.Popen(
        [sys.executable, "-m", "cam", "exec", "x"],
        cwd=box.repo, env=box.env | {"CAM_CODEX_BINARY": str(slow)}, stdout=subprocess.PIPE, text=True,
    ) as wrapper:  # fmt: skip
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline() == "ready\n"
        wrapper.send_signal(signal.SIGTERM)
        assert wrapper.stdout.read() == "got it\n"
        assert wrapper.wait() == 7


@pytest.mark.parametrize("kind", ["full", "broken", "shut"])
def test_nobody_hears_cam_and_codex_runs_all_the_same(box: Box, kind: str) -> None:
    speaker = box.root / "speaker"
    speaker.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "print('codex-cli 0.171.0' if sys.argv[1:] == ['--version'] else 'an answer')\n"
        "sys.exit(0 if sys.argv[1:] == ['--version'] else 7)\n"
    )
    speaker.chmod(0o700)
    if kind == "full":
        errors = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, errors = os.pipe()
        os.close(reader)
    command = [sys.executable, "-m", "cam", "exec", "x"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *command] if kind == "shut" else command,
        cwd=box.repo, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, check=False,
        env=box.env | {"CAM_CODEX_BINARY": str(speaker), "CAM_MAX_STARTUP_LINES": "many"},
    )  # fmt: skip
    os.close(errors)
    assert (done.returncode, done.stdout) == (7, b"an answer\n")
