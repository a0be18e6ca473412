"""What a prompt adds: surely about the same thing, not told before, at most a few, or nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cam.core.records import MemoryRecord, MemoryScope
from cam.hosts.prompt_recall import MOST, answer_prompt
from cam.startup.flow import write_run
from cam.startup.frame import CLOSE, OPEN
from cam.startup.ledger import read_ledger, write_ledger
from cam.startup.result import StartupPayload
from cam.store.layout import StoreLayout
from tests.unit.store.test_start_index import store_of

AT = "2026-11-30T10:00:00.000Z"
KNOWN = (
    "The staging cluster is called heron",
    "Run the integration tests with make e2e, they need redis",
    "Invoices are rounded to whole cents before tax",
    "部署前先運行遷移腳本",
    "Use tabs in Makefiles",
    "The login page is served by the gateway",
    "Commit messages are written in German",
    "The payments worker retries five times",
    "Feature flags live in flags.yaml",
    "The nightly build runs at two",
)


def fact(name: str, text: str, **more: Any) -> MemoryRecord:
    return MemoryRecord(MemoryScope.PROJECT, "workflow", name, text, created_at=AT, updated_at=AT, **more)


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    return store_of(tmp_path, *(fact(f"k{n}", text) for n, text in enumerate(KNOWN))).layout


def event(prompt: str, session: str = "s1") -> dict[str, Any]:
    return {"session_id": session, "prompt": prompt, "cwd": "/x", "transcript_path": "/t"}


def added(layout: StoreLayout, prompt: str, session: str = "s1") -> list[str]:
    answer = answer_prompt(layout, event(prompt, session), use_index=True)
    if not answer:
        return []
    output = json.loads(answer)["hookSpecificOutput"]
    assert output["hookEventName"] == "UserPromptSubmit"
    lines = str(output["additionalContext"]).split("\n")
    assert (lines[0], lines[-1]) == (OPEN, CLOSE)
    return lines[2:-1]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Please deploy this to the staging cluster", "k0"),
        ("the integration tests fail on my machine, why?", "k1"),
        ("add a column for invoices that are rounded", "k2"),
        ("部署前要做什麼?", "k3"),
        ("How often does the payments worker retry?", "k7"),
    ],
)
def test_what_a_prompt_is_about_is_added_with_its_ref(layout: StoreLayout, prompt: str, name: str) -> None:
    lines = added(layout, prompt)
    assert any(line.endswith(f"(project:active:workflow:{name})") for line in lines)
    assert len(lines) <= MOST


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "  ",
        "ok",
        "thanks, go on",
        "yes please",
        "fix the typo",
        "why?",
        "继续",
        "!!!",
        "\x00",
        "a" * 100_000,
    ],
)
def test_silence_where_nothing_is_relevant(layout: StoreLayout, prompt: str) -> None:
    assert added(layout, prompt) == []


def test_nothing_twice_in_a_session_and_nothing_that_was_told_at_start(layout: StoreLayout) -> None:
    assert len(added(layout, "the staging cluster heron")) == 1
    assert added(layout, "the staging cluster heron") == []
    assert len(added(layout, "the staging cluster heron", "s2")) == 1
    write_ledger(layout.cache_file(), "s3", {"project:workflow:k0": ["x", "y"]})
    assert added(layout, "the staging cluster heron", "s3") == []
    assert set(read_ledger(layout.cache_file(), "s1") or {}) == {"project:workflow:k0"}


def test_details_private_and_expired_records_stay_away(tmp_path: Path) -> None:
    layout = store_of(
        tmp_path,
        fact("a", "The vault code is <private>1234</private>"),
        fact("b", "The vault door opens inwards", details=("ask Ada",)),
        fact("c", "The vault door is red", valid_until="2026-01-01"),
    ).layout
    assert added(layout, "open the vault door") == [
        "- [project/workflow] The vault door opens inwards (project:active:workflow:b)"
    ]


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b"\xff", b'{"session_id": 1, "prompt": "the staging cluster"}']
)
def test_the_hook_never_fails(layout: StoreLayout, raw: bytes) -> None:
    run = write_run(layout, StartupPayload())
    line = [sys.executable, "-I", "-m", "cam", "hook", "prompt-recall", "--run", run]
    done = subprocess.run(line, input=raw, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    good = json.dumps(event("the staging cluster heron")).encode()
    assert b"heron" in subprocess.run(line, input=good, capture_output=True, check=False).stdout


@pytest.mark.parametrize("use_index", [True, False])
def test_the_setting_of_the_index_holds_here_too(layout: StoreLayout, use_index: bool) -> None:
    run = write_run(layout, StartupPayload(), use_index=use_index)
    line = [sys.executable, "-I", "-m", "cam", "hook", "prompt-recall", "--run", run]
    good = json.dumps(event("the staging cluster heron")).encode()
    assert b"heron" in subprocess.run(line, input=good, capture_output=True, check=False).stdout
    assert Path(layout.cache_file("recall")).exists() is use_index


def test_what_cannot_be_noted_is_told_all_the_same(layout: StoreLayout) -> None:
    Path(layout.cache_file()).mkdir(parents=True, exist_ok=True)
    Path(layout.cache_file("sessions")).write_text("in the way")
    assert added(layout, "Please deploy this to the staging cluster")
