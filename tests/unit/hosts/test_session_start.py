"""The hook: exactly one JSON object of the event's schema, or nothing; never a failure."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cam.startup.compile import compile_payload
from cam.startup.flow import write_run
from cam.startup.result import StartupPayload
from cam.startup.started import sessions_of_run
from cam.store.layout import StoreLayout
from tests.unit.startup.test_compile import NOW, candidates, fact

TEXTS = ["Never push to main", "提交信息用中文 🧑‍💻", 'quotes " and \\ and \u2028']


def payload(*texts: str) -> StartupPayload:
    facts = [fact(t, name=f"f{n}") for n, t in enumerate(texts)]
    return compile_payload(candidates(*facts), {}, (), folder="/s", now=NOW, max_lines=200, max_tokens=2000)


def call(run: str, event: Any, raw: bytes | None = None) -> bytes:
    data = json.dumps(event).encode() if raw is None else raw
    done = subprocess.run(
        [sys.executable, "-I", "-m", "cam", "hook", "session-start", "--run", run],
        input=data, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == b""
    return done.stdout


def event(session: str = "s1", source: str = "startup", **more: Any) -> dict[str, Any]:
    return {
        "session_id": session, "transcript_path": None, "cwd": "/x", "hook_event_name": "SessionStart",
        "model": "m", "permission_mode": "default", "source": source, **more,
    }  # fmt: skip


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    return StoreLayout(str(tmp_path / "store"), "p", "p")


def context(out: bytes) -> str:
    answer = json.loads(out)
    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert out.endswith(b"}}\n")
    assert b"\r" not in out
    return str(answer["hookSpecificOutput"]["additionalContext"])


def test_the_payload_arrives_byte_for_byte(layout: StoreLayout) -> None:
    wanted = payload(*TEXTS)
    run = write_run(layout, wanted)
    assert context(call(run, event())) == wanted.text
    assert [s["session"] for s in sessions_of_run(run)] == ["s1"]


def test_resume_and_fork_get_what_changed(layout: StoreLayout) -> None:
    call(write_run(layout, payload("A")), event("s1"))
    run = write_run(layout, payload("A", "B"))
    assert "B" in (text := context(call(run, event("s1", "resume"))))
    assert "- [project/workflow] A" not in text
    assert call(run, event("s1", "resume")) == b""
    again = write_run(layout, payload("A", "B", "C"), parent="s1")
    text = context(call(again, event("s2", "fork")))
    assert "] C" in text
    assert "] B" not in text
    assert context(call(run, event("unknown", "resume"))) == payload("A", "B").text
    assert context(call(run, event("s1", "compact"))) == payload("A", "B").text


def test_a_fork_finds_its_parent_in_the_transcript(layout: StoreLayout, tmp_path: Path) -> None:
    call(write_run(layout, payload("A")), event("parent"))
    transcript = tmp_path / "rollout.jsonl"
    transcript.write_text(
        json.dumps({"type": "session_meta", "payload": {"id": "c", "forked_from_id": "parent"}})
    )
    run = write_run(layout, payload("A", "B"))
    assert "] A" not in context(call(run, event("c", "fork", transcript_path=str(transcript))))


def test_codex_own_sessions_get_nothing(layout: StoreLayout, own_home: Path) -> None:
    run = write_run(layout, payload("A"))
    for name in ("memories", "memories_v2"):
        assert call(run, event(cwd=str(own_home / ".codex" / name))) == b""


@pytest.mark.parametrize("raw", [b"", b"not json", b"[]", b"{}", b"\xff\xfe", b'{"session_id": 5}'])
def test_bad_events_get_nothing_or_the_payload_and_never_fail(layout: StoreLayout, raw: bytes) -> None:
    out = call(write_run(layout, payload("A")), None, raw)
    assert out == b"" or context(out)


def test_a_missing_run_is_silence(tmp_path: Path) -> None:
    assert call(str(tmp_path / "gone"), event()) == b""


def test_what_cannot_be_noted_is_told_all_the_same(layout: StoreLayout) -> None:
    wanted = payload("Deploy with make ship")
    run = write_run(layout, wanted)
    Path(run, "session-s1.json").mkdir()  # nothing can be written there, whoever runs this
    Path(layout.cache_file("sessions")).write_text("in the way")
    assert context(call(run, event())) == wanted.text
