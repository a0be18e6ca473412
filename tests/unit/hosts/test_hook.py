"""Installed hooks: exactly one object of the event's schema or nothing, never a failure, nothing left."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cam.context import open_context
from cam.core.records import MemoryScope
from cam.hosts.hook_compile import compile_start
from cam.hosts.hook_event import context_answer
from cam.hosts.hook_recipe import compile_recipe
from cam.hosts.transcript import MAX_HEADER
from cam.memory.flow import remember
from cam.startup.ready import read_ready, stale_folders, stands_ready
from cam.store.hook_notes import (
    LOG_BYTES,
    fired,
    forget_wanted,
    is_first,
    log_line,
    take_wanted,
    want,
    wanted,
)
from cam.system.background import start_apart
from tests.processes import has_ended, processes_with
from tests.unit.formats.test_codex_memory import TOLD, line, message
from tests.unit.hosts.wire import Wire

SCHEMAS = json.loads((Path(__file__).parents[2] / "data/codex-hooks/schemas.json").read_text())
EVENTS = {
    "session-start": "SessionStart",
    "stop": "Stop",
    "session-end": "SessionEnd",
    "pre-compact": "PreCompact",
    "user-prompt-submit": "UserPromptSubmit",
}


@pytest.fixture
def repo(tmp_path: Path, own_home: Path) -> Path:
    folder = tmp_path / "räpo 1"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    context = open_context(str(folder))
    remember(context.store, "Deploy with make ship", (), MemoryScope.PROJECT, None)
    return folder


def event(name: str, repo: Path, **more: Any) -> dict[str, Any]:
    return {
        "session_id": "s1", "transcript_path": str(repo / "none.jsonl"), "cwd": str(repo),
        "hook_event_name": EVENTS[name], **more,
    }  # fmt: skip


def call(name: str, stdin: Any, *, env: dict[str, str] | None = None) -> bytes:
    data = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-m", "cam", "hook", name], input=data, capture_output=True, check=False,
        env={**os.environ, **(env or {})},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    wait_for_workers()
    return done.stdout


def fired_in(repo: Path) -> dict[str, int]:
    layout = open_context(str(repo)).layout
    return fired(layout.cache_file(), str(layout.project))


def workers() -> list[int]:
    """Processes that learn or make ready in this test's home."""
    return [
        pid
        for pid, words in processes_with("HOME", os.environ["HOME"]).items()
        if b"hook\0learn" in words or b"hook\0ready" in words
    ]


def wait_for_workers() -> None:
    assert all(map(has_ended, workers()))


def test_session_start_says_what_is_known_in_the_events_schema(repo: Path) -> None:
    out = call("session-start", event("session-start", repo, source="startup"))
    assert out.endswith(b"}}\n")
    assert out.count(b"\n") == 1
    assert b"\r" not in out
    answer = json.loads(out)
    for schemas in SCHEMAS.values():
        jsonschema.validate(answer, schemas["session-start"])
    assert "Deploy with make ship" in answer["hookSpecificOutput"]["additionalContext"]
    assert fired_in(repo).keys() == {"session-start"}


def test_a_resumed_session_is_told_only_what_changed(repo: Path) -> None:
    assert call("session-start", event("session-start", repo, source="startup"))
    assert call("session-start", event("session-start", repo, source="resume")) == b""
    context = open_context(str(repo))
    remember(context.store, "Never push on Fridays", (), MemoryScope.PROJECT, None)
    told = call("session-start", event("session-start", repo, source="fork", session_id="s1"))
    assert b"Never push on Fridays" in told
    assert b"make ship" not in told
    assert b"make ship" in call("session-start", event("session-start", repo, source="compact"))


COMPACTED = b'{"type":"compacted","payload":{"message":"They spoke."}}'


def transcript(repo: Path, *lines: bytes) -> str:
    path = repo / "rollout.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def test_what_codex_s_own_memory_told_the_session_is_not_told_again(repo: Path) -> None:
    remember(open_context(str(repo)).store, "Never push on Fridays", (), MemoryScope.PROJECT, None)
    own = line(message(TOLD))

    def told(session: str, source: str, *lines: bytes) -> bytes:
        asked = event("session-start", repo, source=source, session_id=session)
        answer = call("session-start", asked | {"transcript_path": transcript(repo, *lines)})
        if answer:
            assert b"Never push on Fridays" in answer
        return answer

    for source in ("startup", "clear"):  # compiled, and as it stands ready
        assert b"make ship" not in told(source, source, b"{}", own)
    assert told("startup", "resume", b"{}", own) == b""
    assert b"make ship" in told("off", "startup", b"{}")
    assert b"make ship" in told("torn", "startup", b"{}", own[:-9])
    assert b"make ship" in told("quoted", "startup", b"{}", line(message(TOLD, "user")))
    assert b"make ship" in told("huge", "startup", b" " * MAX_HEADER, own)
    # A compaction takes it away, unless Codex tells it again behind it or in what it left.
    assert b"make ship" in told("startup", "compact", b"{}", own, COMPACTED)
    assert b"make ship" not in told("again", "compact", b"{}", own, COMPACTED, own)
    left = line({"replacement_history": [message(TOLD)]}, "compacted").replace(b": ", b":")
    assert b"make ship" not in told("left", "compact", b"{}", own, COMPACTED, left)


def test_a_session_that_goes_on_and_is_compacted_at_once_is_told_once(repo: Path) -> None:
    asked = event("session-start", repo)
    assert b"make ship" in call("session-start", asked | {"source": "startup"})
    asked["transcript_path"] = transcript(repo, b"{}", COMPACTED)
    for first, second in (("resume", "compact"), ("compact", "resume")):
        assert b"make ship" in call("session-start", asked | {"source": first})
        assert call("session-start", asked | {"source": second}) == b""
        asked["transcript_path"] = transcript(repo, b"{}", COMPACTED, b"{}", COMPACTED)  # once more


@pytest.mark.parametrize("name", ["stop", "session-end", "pre-compact"])
def test_other_events_answer_nothing_and_learn(repo: Path, name: str) -> None:
    assert call(name, event(name, repo)) == b""
    context = open_context(str(repo))
    assert fired_in(repo).keys() == {name}
    assert not wanted(context.layout.cache_file())


@pytest.mark.parametrize(
    "change",
    [
        {"transcript_path": None},  # ephemeral
        {"session_id": ""},
        {"cwd": None},
        {"cwd": "/nowhere/at/all"},
    ],
)
def test_sessions_that_are_nobodys_are_left_alone(repo: Path, change: dict[str, Any]) -> None:
    for name in EVENTS:
        assert call(name, event(name, repo, source="startup") | change) == b""
    assert fired_in(repo) == {}


def test_codexs_own_memory_session_is_left_alone(repo: Path) -> None:
    memories = Path(os.environ["CODEX_HOME"]) / "memories"
    memories.mkdir(parents=True)
    assert call("session-start", event("session-start", repo, cwd=str(memories), transcript_path=None)) == b""


@pytest.mark.parametrize(
    "data", [b"", b"nonsense", b"[1]", b"\xff\xfe", b'{"session_id": ', b"1" * 3_000_000]
)
def test_whatever_comes_in_nothing_goes_wrong(repo: Path, data: bytes) -> None:
    for name in ("session-start", "stop"):
        assert call(name, data) == b""


def test_off_is_off(repo: Path) -> None:
    told = event("session-start", repo, source="startup")
    assert call("session-start", told, env={"CAM_OFF": "1"}) == b""
    assert call("session-start", told, env={"CAM_RUN": "/run"}) == b""  # the wrapper's own session
    context = open_context(str(repo))
    Path(context.layout.off_file).write_text("")
    for name in EVENTS:
        assert call(name, event(name, repo, source="startup")) == b""
    assert fired_in(repo) == {}


def test_a_broken_store_costs_nothing_and_is_noted(repo: Path) -> None:
    context = open_context(str(repo))
    topics = Path(context.layout.root) / "projects" / str(context.layout.project) / "project"
    for path in topics.glob("*.md"):
        path.unlink()
        path.mkdir()
    assert call("session-start", event("session-start", repo, source="startup")) == b""


def test_a_prompt_brings_what_is_about_it_where_that_is_wanted(repo: Path) -> None:
    asked = event("user-prompt-submit", repo, prompt="How do we deploy with make ship?", turn_id="t1")
    assert call("user-prompt-submit", asked) == b""
    out = call("user-prompt-submit", asked, env={"CAM_PROMPT_RECALL": "true"})
    for schemas in SCHEMAS.values():
        jsonschema.validate(json.loads(out), schemas["user-prompt-submit"])
    assert b"Deploy with make ship" in out
    later = {**asked, "turn_id": "t2"}
    assert call("user-prompt-submit", later, env={"CAM_PROMPT_RECALL": "true"}) == b""  # it was told


def ready_files() -> list[Path]:
    return list(Path(os.environ["HOME"]).rglob("ready/*.json"))


def test_what_stands_ready_is_what_would_be_compiled(repo: Path) -> None:
    inner = repo / "src"
    inner.mkdir()
    first = call("session-start", event("session-start", repo, source="startup", cwd=str(inner)))
    assert first
    assert len(ready_files()) == 1  # made ready in the background
    assert read_ready(str(inner))[0] is not None
    again = call(
        "session-start", event("session-start", repo, source="startup", cwd=str(inner), session_id="s2")
    )
    assert again == first
    told = event("session-start", repo, source="resume", cwd=str(inner))
    assert call("session-start", told) == b""


@pytest.mark.parametrize(
    "change",
    [
        "remember",
        "hand edit",
        "settings",
        "shared settings",
        "off",
        "notes",
        "new topic",
        "continuity",
        "repository",
    ],
)
def test_whatever_changes_what_stood_ready_counts_no_more(
    repo: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("session-start", event("session-start", repo, source="startup"))
    assert read_ready(str(repo))[0] is not None
    context = open_context(str(repo))
    topics = Path(context.layout.scope_folder(MemoryScope.PROJECT))
    match change:
        case "remember":
            remember(context.store, "Never push on Fridays", (), MemoryScope.PROJECT, None)
        case "hand edit":
            (topic,) = [p for p in topics.glob("*.md") if p.name != "MEMORY.md"]
            topic.write_text(topic.read_text().replace("make ship", "make sail"))
        case "settings":
            settings = Path(context.environment.settings_file)
            settings.parent.mkdir(parents=True)
            settings.write_text("max_startup_tokens: 60\n")
        case "shared settings":
            (repo / "codex-auto-memory.yaml").write_text("enabled: false\n")
        case "off":
            Path(context.layout.off_file).write_text("")
        case "notes":
            with (topics / "MEMORY.md").open("a") as file:
                file.write("Ask first.\n")
        case "new topic":
            (topics / "mine.md").write_text("# mine\n\n## Mine\n")
        case "continuity":
            (repo / ".codex-auto-memory" / "sessions").mkdir(parents=True)
        case _:
            (repo / ".git").rename(repo / ".tig")
    start, recipe = read_ready(str(repo))
    assert start is None
    assert (recipe is not None) is (change in ("remember", "hand edit", "notes", "new topic"))
    if recipe is not None:  # what it gives is what would be compiled from the start
        again, compiled = compile_recipe(recipe), compile_start(str(repo))
        assert compiled is not None
        assert (again[0], again[1].active) == (compiled[0], compiled[1].active)
        told = call("session-start", event("session-start", repo, source="startup", session_id="s3"))
        assert json.loads(told)["hookSpecificOutput"]["additionalContext"] == compiled[0]["run"]["text"]
    monkeypatch.setenv("CAM_MAX_STARTUP_LINES", "3")
    assert read_ready(str(repo)) == (None, None)


@pytest.mark.parametrize(
    "words", [["remember", "Never push on Fridays"], ["config", "set", "max_startup_lines", "9"]]
)
def test_a_command_that_changes_memory_leaves_the_next_start_ready(repo: Path, words: list[str]) -> None:
    asked = event("session-start", repo, source="startup")
    before = call("session-start", asked)
    subprocess.run([sys.executable, "-m", "cam", *words], cwd=repo, capture_output=True, check=True)
    wait_for_workers()
    ready, _ = read_ready(str(repo))
    assert ready is not None
    compiled = compile_start(str(repo))
    assert compiled is not None
    assert ready["run"] == compiled[0]["run"]
    told = call("session-start", {**asked, "session_id": "s2"})
    assert (b"Never push" in told) == (words[0] == "remember")
    assert before


def test_what_an_agent_writes_leaves_the_next_start_ready(repo: Path) -> None:
    assert call("session-start", event("session-start", repo, source="startup"))
    with Wire(repo, "--allow-write") as wire:
        keys = {"actor": "codex", "allow_write": True}
        for fact in ("The API listens on port 8080", "The queue listens on port 5672"):
            assert wire.call("remember", {"content": fact, **keys})["isError"] is False
        end = time.monotonic() + 20
        while (start := read_ready(str(repo))[0]) is None and time.monotonic() < end:
            select.select([], [], [], 0.05)
        children = Path(f"/proc/{wire.process.pid}/task/{wire.process.pid}/children")
        assert not children.exists() or children.read_text() == ""
    assert start is not None
    assert all(port in start["run"]["text"] for port in ("8080", "5672"))


def test_where_no_start_stood_ready_a_command_starts_nothing(repo: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "cam", "remember", "Ask first"], cwd=repo, capture_output=True, check=True
    )
    wait_for_workers()
    assert not stands_ready()


def test_a_folder_that_is_gone_is_made_ready_no_more(repo: Path) -> None:
    inner = repo / "inner"
    inner.mkdir()
    assert call("session-start", event("session-start", repo, source="startup", cwd=str(inner)))
    inner.rmdir()
    assert stale_folders(8) == []  # a start that stood ready there harms nobody
    (repo / "codex-auto-memory.yaml").write_text("max_startup_lines: 7\n")
    assert stale_folders(8) == [str(inner)]
    assert call("ready", b"") == b""
    assert ready_files() == []


def test_git_itself_changes_nothing(repo: Path) -> None:
    assert call("session-start", event("session-start", repo, source="startup"))
    subprocess.run(["git", "-C", str(repo), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(repo), "branch", "-m", "other"], check=False)
    assert read_ready(str(repo))[0] is not None


def test_hooks_of_user_and_project_speak_once(repo: Path) -> None:
    cache = open_context(str(repo)).layout.cache_file()
    assert [is_first(cache, "s", "startup"), is_first(cache, "s", "startup")] == [True, False]
    assert is_first(cache, "s", "compact")
    assert is_first(cache, "t", "startup")


def test_each_worktree_waits_for_itself(repo: Path) -> None:
    cache = open_context(str(repo)).layout.cache_file()
    for worktree in ("r", "w2"):
        want(cache, "p", worktree, f"/{worktree}", "stop", f"s-{worktree}", time.time())
    assert {(one.cwd, *one.sessions) for one in take_wanted(cache)} == {("/r", "s-r"), ("/w2", "s-w2")}


def test_many_calls_in_a_row_leave_no_process_and_nothing_that_grows(repo: Path) -> None:
    layout = open_context(str(repo)).layout

    def stop(number: int) -> None:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "cam", "hook", "stop"], capture_output=True, check=True,
            input=json.dumps(event("stop", repo, session_id=f"s{number}")).encode(),
        )  # fmt: skip
        assert done.stdout == b""

    def size() -> tuple[int, int]:
        files = [p for p in Path(layout.root).rglob("*") if p.is_file()]
        return len(files), sum(p.stat().st_size for p in files)

    for number in range(8):
        stop(number)
    wait_for_workers()
    first = size()
    for number in range(8, 200 if os.environ.get("CAM_E2E_ALL") else 32):
        stop(number)
    wait_for_workers()
    assert workers() == []
    files, total = size()
    assert files == first[0]
    assert total - first[1] < 500


def test_what_is_kept_has_a_bound(tmp_path: Path) -> None:
    cache = str(tmp_path)
    for number in range(3000):
        log_line(cache, f"line {number} {'x' * 40}\nand more")
    log = tmp_path / "hooks" / "hooks.log"
    assert log.stat().st_size <= LOG_BYTES
    assert log.read_text().splitlines()[-1].endswith("and more")
    want(cache, "p", "w", "/repo", "stop", "old", 1.0)
    assert take_wanted(cache) == []
    assert list((Path(cache) / "hooks" / "wanted").iterdir()) == []


def test_a_wish_is_kept_until_it_was_learned(tmp_path: Path) -> None:
    cache, now = str(tmp_path / "cache"), time.time()
    for cwd, session in (("/a", "s1"), ("/a", "s2"), ("/b", "s3")):
        want(cache, "p", cwd[1:], cwd, "stop", session, now)
    first, other = sorted(take_wanted(cache))
    assert (first.cwd, first.sessions.keys(), other.cwd) == ("/a", {"s1", "s2"}, "/b")
    assert wanted(cache) == []
    want(cache, "p", "a", "/a", "session-end", "s1", now)  # comes while that is learned
    forget_wanted(other)
    (late,) = take_wanted(cache, again=False)
    assert late.sessions == {"s1": ("session-end", now)}
    (both,) = take_wanted(cache)  # nothing of it was forgotten
    assert both.sessions == {"s1": ("session-end", now), "s2": ("stop", now)}
    forget_wanted(both)
    assert take_wanted(cache) == []


def test_no_note_is_lost_where_many_come_at_once(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    script = "import sys; from cam.store.hook_notes import note_fired, want\n"
    script += "for n in range(40): note_fired(sys.argv[1], sys.argv[2], str(n), 's')\n"
    words = [sys.executable, "-c", script, cache]
    for done in [subprocess.Popen([*words, f"p{number}"]) for number in range(3)]:
        assert done.wait(60) == 0
    assert [len(fired(cache, f"p{number}")) for number in range(3)] == [40, 40, 40]


def test_a_model_is_asked_when_the_session_ends_and_not_at_each_turn(repo: Path, own_home: Path) -> None:
    mark = own_home / "asked"
    program = own_home / "codex"
    program.write_text(f"#!/bin/sh\necho >> '{mark}'\nexit 1\n")
    program.chmod(0o755)
    settings = own_home / ".config" / "codex-auto-memory" / "config.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"extractor: codex\ncodex_binary: {program}\n")
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Always use uv."}]}
    rollout = own_home / ".codex" / "sessions" / "2026" / "11" / "30" / "rollout-2026-11-30T10-00-00-s1.jsonl"
    rollout.parent.mkdir(parents=True)
    head = {"id": "s1", "timestamp": at, "cwd": str(repo), "source": "cli", "originator": "codex_cli_rs"}
    lines = [("session_meta", head), ("response_item", said)]
    rollout.write_text(
        "".join(json.dumps({"timestamp": at, "type": kind, "payload": p}) + "\n" for kind, p in lines)
    )
    call("stop", event("stop", repo))
    assert not mark.exists()
    call("session-end", event("session-end", repo))
    assert mark.exists()


def test_a_process_of_its_own_outlives_its_starter(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    start_apart(["/bin/sh", "-c", f"ps -o sid= -p $$ > '{fifo}'; cat"])
    assert int(fifo.read_text()) != os.getsid(0)


def test_a_person_is_told_what_hooks_are_for() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cam", "hook", "bogus"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert "is for Codex to call" in done.stderr


def test_every_answer_fits_every_release() -> None:
    for release in SCHEMAS.values():
        for name in ("session-start", "user-prompt-submit"):
            title = {"session-start": "SessionStart", "user-prompt-submit": "UserPromptSubmit"}[name]
            jsonschema.validate(json.loads(context_answer(title, "a \u2028 🧠")), release[name])
    assert context_answer("SessionStart", "") == b""


def test_what_cannot_be_noted_is_told_all_the_same(repo: Path) -> None:
    cache = Path(open_context(str(repo)).layout.cache_file())
    cache.mkdir(exist_ok=True)
    for name in ("hooks", "sessions"):  # nothing can be written there, whoever runs this
        (cache / name).write_text("in the way")
    assert b"Deploy with make ship" in call("session-start", event("session-start", repo, source="startup"))
    asked = event("user-prompt-submit", repo, prompt="How do we deploy with make ship?", turn_id="t1")
    assert b"make ship" in call("user-prompt-submit", asked, env={"CAM_PROMPT_RECALL": "true"})
