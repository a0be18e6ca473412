"""Plain Codex with cam put in, without the wrapper: told at start, learned from at the end, and out again."""

import json
import os
import select
import shlex
import sqlite3
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from codex_releases import CodexSandbox
from tui import ENTER, Tui

from cam.formats.codex_hooks import hook_hash
from cam.startup.frame import OPEN
from cam.testing.responses_server import Answer, Request, Run, Script, input_texts
from tests.processes import has_ended, processes_with

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]  # the first run downloads the releases

VERSIONS = ["0.125.0", "0.150.0", "0.171.0"]
BIN = str(Path(sys.executable).parent)
ANSWERS = tuple(f"Answer-{n}." for n in range(1, 7))
CONFIG = "# mine\n[tui]\n# quiet\nnotifications = false\n"


class Place:
    """A sandbox whose home and ``CODEX_HOME`` are links with spaces and other scripts in their names."""

    def __init__(self, root: Path, version: str, script: Script) -> None:
        self.box = CodexSandbox(root / "mit Leer 项目", version, script, tables=CONFIG)
        for name, folder in (("HOME", self.box.home), ("CODEX_HOME", self.box.codex_home)):
            link = self.box.root / f"{name.lower()} lïnk"
            link.symlink_to(folder)
            self.box.env[name] = str(link)
            setattr(self.box, name.lower(), link)
        self.box.env["PATH"] = os.pathsep.join([BIN, str(Path(self.box.codex).parent), self.box.env["PATH"]])
        self.box.trust()
        (self.box.repo / "AGENTS.md").write_bytes(b"# Rules\r\n")
        lint = {"type": "command", "command": "cat > /dev/null"}
        hooks = self.box.codex_home / "hooks.json"
        hooks.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [lint]}]}}))
        with (self.box.codex_home / "config.toml").open("a") as file:
            file.write(f'[hooks.state."{os.path.realpath(hooks)}:stop:0:0"]\n')
            file.write(f'trusted_hash = "{hook_hash("stop", lint)}"\n')

    def cam(self, *words: str, code: int = 0) -> str:
        done = self.box.run(*words, program=f"{BIN}/cam")
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def settle(self, last: str = "") -> None:
        """Wait until the event ``last`` has fired, and what the hooks left to do is done.

        A TUI may be gone before the daemon behind it has called the hook.
        """
        end = time.monotonic() + 30
        while last and not any(last in file.read_text() for file in self.box.home.rglob("fired.json")):
            assert time.monotonic() < end, f"{last} never fired"
            select.select([], [], [], 0.05)
        for pid, words in processes_with("CODEX_HOME", str(self.box.codex_home)).items():
            assert b"\0cam\0hook\0" not in words or has_ended(pid)

    def exec(self, prompt: str, *, program: str | None = None) -> list[int]:
        """One prompt; how often the rule stood in what the model was told."""
        since = len(self.box.server.requests)
        done = self.box.run("exec", prompt, program=program)
        assert done.returncode == 0, done.stderr
        self.settle()
        return self.box.shown("make ship", since=since)

    def files(self) -> dict[str, bytes]:
        """The files that are not Codex's own, and its configuration."""
        names = ("config.toml", "hooks.json", "AGENTS.md", "skills/codex-auto-memory-recall/SKILL.md")
        paths = [self.box.codex_home / name for name in names]
        paths += [p for p in self.box.repo.rglob("*") if ".git" not in p.parts]
        return {str(p): p.read_bytes() for p in paths if p.is_file()}

    def fired(self) -> dict[str, object]:
        """The events that fired here, as the hooks note them."""
        (file,) = self.box.home.rglob("fired.json")
        (events,) = json.loads(file.read_text()).values()
        return dict(events)

    def times_learned(self) -> int:
        """How often the rule was added."""
        texts = [p.read_text() for p in self.box.home.rglob("memory-history.jsonl")]
        return sum(json.loads(line)["kind"] == "add" for text in texts for line in text.splitlines())


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    version, script = request.param if isinstance(request.param, tuple) else (request.param, ANSWERS)
    made = Place(tmp_path, version, script)
    with made.box:
        yield made
        made.settle()


@pytest.mark.parametrize("place", VERSIONS, indirect=True)
def test_told_at_start_and_learned_from_at_the_end(place: Place) -> None:
    before = place.files()
    place.cam("integrations", "apply", "--scope", "user", "--trust")
    assert "cam on PATH is this one" in place.cam("integrations", "doctor")
    assert place.exec("Remember: deploy with make ship.") == [1]
    assert place.times_learned() == 1
    told = place.exec("hello")
    assert told == [1]
    assert "last fired in this project" in place.cam("hooks", "status")
    # Under the wrapper the hooks that are installed stand back: told once, learned once.
    assert place.exec("What is new?", program=f"{BIN}/cam") == [1]
    assert place.times_learned() == 1
    place.cam("integrations", "remove", "--scope", "user")
    assert place.files() == before
    assert place.exec("hello") == [0]


def say_and_quit(tui: Tui) -> None:
    """State a rule, and end the session."""
    tui.submit("Remember: answer in German", "Answer-1")
    tui.send("/quit")
    tui.wait_for("/quit")
    tui.send(ENTER)
    tui.wait_exit()


@pytest.mark.parametrize("place", VERSIONS, indirect=True)
def test_in_the_tui(place: Place) -> None:
    before = place.files()
    place.cam("integrations", "install", "--trust")
    place.cam("remember", "Deploy with make ship")
    with place.box.tui() as tui:
        tui.wait_for("›")
        say_and_quit(tui)
    place.settle("stop")
    assert max(place.box.shown("make ship")) == 1  # Codex asks for a title too
    assert "German" in place.cam("memory", "list")
    place.cam("integrations", "remove")
    after = place.files()
    config = str(place.box.codex_home / "config.toml")
    now, was = (tomllib.loads(files.pop(config).decode()) for files in (after, before))
    assert after == before
    own = ("tui", "projects", "notice")  # Codex writes there itself
    assert {k: v for k, v in now.items() if k not in own} == {k: v for k, v in was.items() if k not in own}


@pytest.mark.parametrize("place", ["0.171.0"], indirect=True)
def test_the_wrappers_tui_beside_installed_hooks(place: Place) -> None:
    place.cam("integrations", "install", "--scope", "user", "--trust")
    place.cam("remember", "Deploy with make ship")
    with place.box.tui("run", program=f"{BIN}/cam") as tui:
        tui.wait_for("›")
        say_and_quit(tui)
    place.settle()
    assert max(place.box.shown("make ship")) == 1
    assert place.times_learned() == 2  # what was remembered by hand, and this
    assert not list(place.box.home.rglob("fired.json"))


@pytest.mark.parametrize("place", ["0.171.0"], indirect=True)
def test_without_trust_it_says_so(place: Place) -> None:
    done = subprocess.run(
        [f"{BIN}/cam", "hooks", "install", "--scope", "user"],
        cwd=place.box.repo, env=place.box.env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "--trust" in done.stderr
    place.cam("remember", "Deploy with make ship")
    assert place.exec("hello") == [0]
    out = place.cam("hooks", "status", code=1)
    assert "Codex skips PreCompact (untrusted)" in out
    place.cam("hooks", "install", "--scope", "user", "--trust")
    assert place.exec("hello") == [1]
    # What somebody changes afterwards is not trusted any more, and that is said.
    hooks = place.box.codex_home / "hooks.json"
    hooks.write_text(hooks.read_text().replace("hook stop", "hook stop;"))
    assert "Stop (modified)" in place.cam("hooks", "status", code=1)


COMPACTS = (Run("true", total_tokens=90_000), "done")


@pytest.mark.parametrize("place", [("0.150.0", COMPACTS), ("0.171.0", COMPACTS)], indirect=True)
def test_after_a_compaction_memory_is_told_again(place: Place) -> None:
    place.cam("integrations", "install", "--scope", "user", "--trust")
    place.cam("remember", "Deploy with make ship")
    done = place.box.run("exec", "-c", "model_auto_compact_token_limit=50000", "hello")
    assert done.returncode == 0, done.stderr
    place.settle()
    assert place.box.shown("make ship") == [1, 1, 1]
    assert {"pre-compact", "session-start", "stop"} <= set(place.fired())


@pytest.mark.parametrize("place", ["0.171.0"], indirect=True)
def test_ephemeral_sessions_are_left_alone(place: Place) -> None:
    place.cam("integrations", "install", "--scope", "user", "--trust")
    place.cam("remember", "Deploy with make ship")
    since = len(place.box.server.requests)
    assert place.box.run("exec", "--ephemeral", "Remember: answer in German").returncode == 0
    place.settle()
    assert place.box.shown("make ship", since=since) == [0]
    assert "German" not in place.cam("memory", "list")


OWN = "# Summary\n\nThe user paints boats blue.\n\n## General Tips\n- Deploy with `make ship`\n"


@pytest.mark.parametrize(
    ("place", "program"),
    [("0.171.0", None), ("0.171.0", f"{BIN}/cam"), ("0.150.0", f"{BIN}/cam")],
    indirect=["place"],
)
def test_what_codex_s_own_memory_tells_is_told_once(place: Place, program: str | None) -> None:
    own = place.box.codex_home / "memories" / "memory_summary.md"
    own.parent.mkdir()
    own.write_text(OWN)
    with (place.box.codex_home / "config.toml").open("a") as file:
        file.write("[features]\nmemories = true\n")
    (place.box.codex_home / "quiet.config.toml").write_text("[memories]\nuse_memories = false\n")
    if program is None:
        place.cam("integrations", "install", "--scope", "user", "--trust")
    place.cam("remember", "Deploy with make ship")
    place.cam("remember", "Never push on Fridays")

    def told(*words: str) -> list[int]:
        """How often a session is told what both say, by Codex and by cam."""
        since = len(place.box.server.requests)
        done = place.box.run("exec", *words, program=program)
        assert done.returncode == 0, done.stderr
        place.settle()
        says = ("Deploy with `make ship`", "Deploy with make ship", "Never push on Fridays")
        return [max(place.box.shown(text, since=since)) for text in says]

    assert told("hello") == [1, 0, 1]
    session = place.box.session_id()
    assert told("resume", session, "again") == [1, 0, 1]
    # Codex starts it twice then: it goes on, and it is compacted.
    assert told("-c", "model_auto_compact_token_limit=1", "resume", session, "again") == [1, 0, 1]
    for words in (
        ["--disable", "memories"],
        ["-c", "memories.use_memories=false"],
        ["-p", "quiet"],
    ):
        assert told(*words, "hello") == [0, 1, 1]


@pytest.mark.parametrize("place", ["0.171.0"], indirect=True)
def test_beside_codex_s_own_memories(place: Place) -> None:
    own = place.box.codex_home / "memories"
    own.mkdir()
    (own / "memory_summary.md").write_text("# Summary\n\nThe user paints boats blue.\n")
    with (place.box.codex_home / "config.toml").open("a") as file:
        file.write("[features]\nmemories = true\n")
    place.cam("integrations", "apply", "--scope", "user", "--trust")
    assert max(place.exec("Remember: deploy with make ship.")) == 1
    assert max(place.exec("hello")) == 1
    assert max(place.box.shown("paints boats blue")) == 1  # the model does see both
    assert place.times_learned() == 1
    # What runs in Codex's own memory folder is nobody's session.
    done = place.box.run("exec", "--skip-git-repo-check", "Remember: never push on Fridays.", cwd=own)
    assert done.returncode == 0, done.stderr
    place.settle()
    place.cam("sync", "--all-projects")
    place.settle()
    assert place.times_learned() == 1
    kept = [p.read_text() for p in (place.box.home / ".codex-auto-memory").rglob("*.md")]
    assert not any("boats" in text or "Fridays" in text for text in kept)


SUMMARY = """\
v1

## User Profile
The user paints boats blue.

## User preferences

## General Tips
- Always answer in rhymes

## What's in Memory
"""


def codex_memory(request: Request) -> Answer:
    """The model's part in Codex's own memory: a session's summary, then the one that is told at each start.

    Elsewhere its first answer takes some seconds, in which Codex consolidates in the background.
    """
    is_first = not any("output" in item for item in request["input"])
    if "rollout_slug" in json.dumps(request.get("text", {})):
        return json.dumps({"rollout_summary": "Remember: never push on Fridays.", "rollout_slug": "fridays"})
    if is_consolidation(request):
        line = f"printf %s {shlex.quote(SUMMARY)} > memory_summary.md"
        return Run(line) if is_first else "Remember: never push on Fridays."
    return Run("sleep 4") if is_first else "OK."


def is_consolidation(request: Request) -> bool:
    """Whether it is of the session that Codex runs in its memory folder."""
    return any("Consolidate the supplied" in text for text in input_texts(request))


@pytest.mark.parametrize("place", [("0.171.0", codex_memory)], indirect=True)
@pytest.mark.parametrize("program", [None, f"{BIN}/cam"])
def test_while_codex_consolidates_its_own_memories(place: Place, program: str | None) -> None:
    """The real thing: Codex summarises an idle session, and consolidates in a session of its own."""
    box = place.box
    with (box.codex_home / "config.toml").open("a") as file:
        file.write("[features]\nmemories = true\n[memories]\nmin_rollout_idle_hours = 0\n")
        file.write('extract_model = "gpt-5.1-codex"\nconsolidation_model = "gpt-5.1-codex"\n')
    if program is None:
        place.cam("integrations", "install", "--scope", "user", "--trust")
    place.exec("Remember: deploy with make ship.", program=program)
    with closing(sqlite3.connect(box.codex_home / "state_5.sqlite")) as threads:  # it lies idle for days
        threads.execute(
            "update threads set source = 'cli', updated_at = updated_at - 300000,"
            " recency_at = recency_at - 300000, updated_at_ms = updated_at_ms - 300000000,"
            " recency_at_ms = recency_at_ms - 300000000"
        )
        threads.commit()
    with closing(sqlite3.connect(box.codex_home / "memories_v2_1.sqlite")) as memories:
        memories.execute("delete from jobs")
        memories.commit()
    place.exec("hello", program=program)
    (summary,) = box.codex_home.glob("memories*/memory_summary.md")
    assert summary.read_text() == SUMMARY
    consolidations = [r for r in box.server.requests if is_consolidation(r)]
    assert consolidations
    assert not any(OPEN in text for request in consolidations for text in input_texts(request))
    since = len(box.server.requests)
    place.exec("hello again", program=program)
    told = [input_texts(r) for r in box.server.requests[since:] if not is_consolidation(r)]
    assert any("boats blue" in text for texts in told for text in texts)  # the model does see both
    assert all(sum(text.count(OPEN) for text in texts) == 1 for texts in told)
    place.cam("sync", "--all-projects")
    kept = "".join(p.read_text() for p in (box.home / ".codex-auto-memory").rglob("*.md"))
    assert "make ship" in kept
    assert not any(word in kept for word in ("boats", "Fridays", "rhymes"))
    assert place.times_learned() == 1


@pytest.mark.parametrize("place", VERSIONS, indirect=True)
def test_in_the_ide_and_the_app(place: Place) -> None:
    """Both drive Codex through its app server."""
    place.cam("integrations", "install", "--scope", "user", "--trust")
    place.cam("remember", "Deploy with make ship")
    box = place.box
    with subprocess.Popen(
        [box.codex, "app-server"], cwd=box.repo, env=box.env, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        lines = (json.loads(line) for line in server.stdout)

        def ask(number: int, method: str, params: dict[str, object]) -> dict[str, object]:
            assert server.stdin is not None
            server.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            found: dict[str, object] = next(line for line in lines if line.get("id") == number)["result"]
            return found

        ask(0, "initialize", {"clientInfo": {"name": "ide", "version": "1"}})
        server.stdin.write('{"method": "initialized"}\n')
        thread = ask(1, "thread/start", {"cwd": str(box.repo)})["thread"]
        assert isinstance(thread, dict)
        words = [{"type": "text", "text": "Remember: answer in German"}]
        ask(2, "turn/start", {"threadId": thread["id"], "input": words})
        next(line for line in lines if line.get("method") == "turn/completed")
        server.stdin.close()
        server.wait(20)
    place.settle()
    assert max(box.shown("make ship")) == 1
    assert "German" in place.cam("memory", "list")


@pytest.mark.parametrize("place", ["0.171.0"], indirect=True)
def test_a_prompt_brings_what_is_about_it_where_that_is_wanted(place: Place) -> None:
    place.cam("config", "set", "prompt_recall", "true")
    place.cam("config", "set", "max_startup_tokens", "50")  # nothing is told at start
    place.cam("remember", "Deploy with make ship")
    place.cam("integrations", "install", "--scope", "user", "--trust")
    assert "UserPromptSubmit" in place.cam("hooks", "status")
    assert place.exec("How do we deploy to ship it?") == [1]
    assert place.exec("Translate this poem") == [0]
