"""The sessions that real releases leave: every statement once, whatever Codex or anybody did to the file."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard
from codex_releases import CodexSandbox, codex_release

from cam.store.sessions import CodexSessions
from cam.testing.responses_server import Run, Say

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]  # the first run downloads the releases

RELEASES = ["0.20.0", "0.36.0", "0.58.0", "0.98.0", "0.125.0", "0.148.0", "0.171.0"]
RULE = "We always use pnpm here, never npm."
CAM = str(Path(sys.executable).with_name("cam"))


def offers(box: CodexSandbox, word: str, *command: str) -> bool:
    """Whether the release has this subcommand."""
    return re.search(rf"^\s+{word}\b", box.run(*command, "--help").stdout, re.MULTILINE) is not None


def said(box: CodexSandbox) -> Counter[str]:
    """Each statement of a person in all sessions of the sandbox, and how often it is there."""
    sessions = CodexSessions(str(box.codex_home))
    found = Counter(m.text for meta in sessions.sessions() for m in sessions.read(meta).user_messages)
    assert sessions.problems == []
    return found


def newest(box: CodexSandbox) -> str:
    """Id of the session that was written last."""
    path = max(box.rollouts(), key=lambda p: p.stat().st_mtime_ns)
    return path.stem[-36:]


def cam(box: CodexSandbox, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = box.run(*arguments, program=CAM, env={"CAM_CODEX_BINARY": box.codex})
    assert done.returncode == 0, done.stderr
    return done


def store(box: CodexSandbox) -> dict[str, bytes]:
    """Every byte of the store but what is derived."""
    root = box.home / ".codex-auto-memory"
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "cache" not in path.parts and not path.name.startswith(".lock")
    }


@pytest.mark.parametrize("version", RELEASES)
def test_every_statement_counts_once(sandbox: Any, version: str) -> None:
    script = ["One.", Run("true"), "Two.", Run("false"), "Three.", "Four.", "Five.", "Six."]
    box = sandbox(version, script)
    wanted = ["Say one, and no more.", "Say two\n\nand run `true`."]
    assert box.run("exec", wanted[0]).returncode == 0
    assert box.run("exec", wanted[1]).returncode == 0
    if offers(box, "resume", "exec"):
        wanted.append("Go on with “two” – 继续。")
        assert box.run("exec", "resume", newest(box), wanted[-1]).returncode == 0
        wanted.append("And once more.")
        assert box.run("exec", "resume", newest(box), wanted[-1]).returncode == 0
    if offers(box, "fork", "exec"):
        wanted.append("Try it differently in a fork.")
        assert box.run("exec", "fork", newest(box), wanted[-1]).returncode == 0
        wanted.append("The fork goes on.")
        assert box.run("exec", "resume", newest(box), wanted[-1]).returncode == 0
    assert said(box) == Counter(wanted)


@pytest.mark.parametrize("version", RELEASES)
def test_compaction_repeats_nothing(sandbox: Any, version: str) -> None:
    box = sandbox(version, [Say("One.", total_tokens=90_000), "A summary.", "Two.", "Three.", "Four."])
    limit = ("-c", "model_auto_compact_token_limit=50000")
    wanted = ["Remember the colour blue."]
    assert box.run("exec", *limit, wanted[0]).returncode == 0
    if offers(box, "resume", "exec"):
        for text in ("Which colour was it?", "And the next one?"):
            assert box.run("exec", *limit, "resume", newest(box), text).returncode == 0
            wanted.append(text)
    assert said(box) == Counter(wanted)


@pytest.mark.parametrize("version", RELEASES)
def test_an_interrupted_turn_counts(sandbox: Any, version: str) -> None:
    codex: list[subprocess.Popen[bytes]] = []

    def script(_request: Any) -> str:
        for _ in range(10):  # a launcher that has only just started misses the first one
            if codex and codex[0].poll() is None:
                codex[0].send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    codex[0].wait(3)
        return "too late"

    box = sandbox(version, script)
    text = "Do something that takes long."
    codex.append(
        subprocess.Popen(
            [box.codex, "exec", text],
            cwd=box.repo,
            env=box.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    )
    codex[0].wait(60)
    written = any(text.encode() in path.read_bytes() for path in box.rollouts())
    assert said(box) == (Counter([text]) if written else Counter())
    if offers(box, "resume", "exec") and written:
        assert box.run("exec", "resume", newest(box), "What was it?").returncode == 0
        assert said(box) == Counter([text, "What was it?"])


@pytest.mark.parametrize("version", ["0.58.0", "0.98.0", "0.171.0"])
def test_rewrites_of_a_session_change_no_byte_of_the_store(sandbox: Any, version: str) -> None:
    box = sandbox(version, ["Done.", "Done."])
    assert box.run("exec", RULE).returncode == 0
    assert box.run("exec", "resume", newest(box), "Never push to main.").returncode == 0
    cam(box, "sync")
    before = store(box)
    assert any(b"pnpm" in data for data in before.values())

    newer = codex_release("0.171.0")
    if version != "0.171.0" and "migrate-rollouts" in box.run("--help", program=newer).stdout:
        old = {path: path.read_bytes() for path in box.rollouts()}
        assert box.run("migrate-rollouts", "--apply", program=newer).returncode == 0
        assert {path: path.read_bytes() for path in box.rollouts()} != old
        cam(box, "sync")
        assert store(box) == before

    (path,) = box.rollouts()
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    path.unlink()
    cam(box, "sync")
    assert store(box) == before

    archive = box.codex_home / "archived_sessions"
    archive.mkdir(exist_ok=True)
    shutil.move(packed, archive / packed.name)
    cam(box, "sync")
    assert store(box) == before
    assert os.listdir(archive) == [packed.name]


@pytest.mark.parametrize("version", ["0.98.0", "0.171.0"])
def test_a_session_resumed_in_another_repository_teaches_both(sandbox: Any, version: str) -> None:
    box = sandbox(version, ["Done.", "Done."])
    other = box.root / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=other, env=box.env, check=True)
    assert box.run("exec", RULE).returncode == 0
    assert (
        box.run(
            "exec", "resume", newest(box), "Always run cargo fmt before you commit.", cwd=other
        ).returncode
        == 0
    )
    cam(box, "sync", "--all-projects")
    here = cam(box, "memory", "list").stdout
    there = cam(box, "--cwd", str(other), "memory", "list").stdout
    assert ("pnpm" in here, "cargo fmt" in here) == (True, False)
    assert ("pnpm" in there, "cargo fmt" in there) == (False, True)
