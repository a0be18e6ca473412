"""The payload reaches the model of real Codex releases, once and whole, beside all that the user has set."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from codex_releases import CodexSandbox
from tui import ENTER

from cam.core.seams import Injection
from cam.formats.codex_hooks import hook_hash
from cam.system.codex import Version, codex_version
from cam.testing.responses_server import Fail, Run
from cam.wrapper.codex_config import Place
from cam.wrapper.injectors import SESSION_FLAGS, choose_injector

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]  # the first run downloads the releases

PAYLOAD = "SENTINEL-ONE"
BY_INSTRUCTIONS = ["0.58.0", "0.98.0"]
BY_HOOK = ["0.125.0", "0.145.0", "0.171.0"]


def answer(text: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})


def says(box: CodexSandbox, text: str, name: str) -> str:
    """A hook command that prints ``text`` for the model and keeps what it was given."""
    file = box.root / f"{name}.json"
    file.write_text(answer(text))
    return f"cat >> {shlex.quote(str(box.root / name))}.stdin; cat {shlex.quote(str(file))}"


def given(box: CodexSandbox, name: str = "ours") -> list[dict[str, Any]]:
    """What the hook got on its standard input, start by start."""
    texts = (box.root / f"{name}.stdin").read_text().replace("}{", "}\n{").splitlines()
    return [json.loads(text) for text in texts]


def inject(box: CodexSandbox, line: list[str], payload: str = PAYLOAD) -> Injection:
    version: Version = tuple(map(int, box.version.split(".")))  # type: ignore[assignment]
    place = Place(str(box.codex_home), str(box.repo), str(box.root / "none"))
    command = says(box, payload, "ours")
    return choose_injector(version, hook_command=command, payload=payload, place=place).inject(line)


def run(box: CodexSandbox, line: list[str], payload: str = PAYLOAD) -> Injection:
    """Run Codex with the payload; it must end well."""
    injection = inject(box, line, payload)
    done = box.run(*(line if injection.replace is None else injection.replace))
    assert done.returncode == 0, done.stderr
    return injection


def trusted_hook(
    box: CodexSandbox, text: str, source: str, group: int = 0
) -> tuple[dict[str, Any], str, str]:
    """A hook of the user's: handler, trust key, hash."""
    handler = {"type": "command", "command": says(box, text, text.lower())}
    return handler, f"{source}:session_start:{group}:0", hook_hash("session_start", handler)


@pytest.mark.parametrize("version", [*BY_INSTRUCTIONS, *BY_HOOK])
def test_fresh_session(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    run(box, ["exec", "hello"])
    assert box.shown(PAYLOAD) == [1]


@pytest.mark.parametrize("version", [*BY_INSTRUCTIONS, *BY_HOOK])
@pytest.mark.parametrize(
    "line",
    [
        ["exec", "-c", 'model="m"', "hello"],
        ["-c", 'model="m"', "exec", "hello"],
        ["-c", 'model="n"', "exec", "hello", '--config=model="m"'],
    ],
)
def test_beside_the_users_settings_wherever_they_stand(sandbox: Any, version: str, line: list[str]) -> None:
    box = sandbox(version)
    run(box, line)
    assert box.shown(PAYLOAD) == [1]
    assert box.server.requests[0]["model"] == "m"


@pytest.mark.parametrize("version", BY_HOOK)
def test_resume_and_fork_add_what_is_new(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    run(box, ["exec", "hello"])
    session = box.session_id()
    run(box, ["exec", "resume", session, "more"], "SENTINEL-TWO")
    assert (box.shown(PAYLOAD), box.shown("SENTINEL-TWO")) == ([1, 1], [0, 1])
    assert [(start["source"], start["session_id"]) for start in given(box)] == [
        ("startup", session),
        ("resume", session),
    ]
    assert all(start["transcript_path"] == str(box.rollouts()[0]) for start in given(box))
    if version == "0.171.0":
        run(box, ["exec", "fork", session, "aside"], "SENTINEL-THREE")
        assert [box.shown(text)[-1] for text in (PAYLOAD, "SENTINEL-TWO", "SENTINEL-THREE")] == [1, 1, 1]
        fork = given(box)[-1]
        assert fork["source"] == "fork"
        assert fork["session_id"] == box.session_id() != session


def test_resume_with_instructions(sandbox: Any) -> None:
    box = sandbox("0.98.0")
    run(box, ["exec", "hello"])
    run(box, ["exec", "resume", box.session_id(), "more"], "SENTINEL-TWO")
    assert (box.shown(PAYLOAD), box.shown("SENTINEL-TWO")) == ([1, 1], [0, 1])


def test_resume_that_heeds_nothing_is_said(sandbox: Any) -> None:
    box = sandbox("0.58.0")
    run(box, ["exec", "hello"])
    injection = run(box, ["exec", "resume", box.session_id(), "more"], "SENTINEL-TWO")
    assert (injection.strategy, box.shown("SENTINEL-TWO")) == ("none", [0, 0])
    assert injection.warning


@pytest.mark.parametrize("version", BY_HOOK)
def test_the_users_hooks_still_run(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    in_json, json_key, json_hash = trusted_hook(box, "USER-JSON", str(box.codex_home / "hooks.json"))
    (box.codex_home / "hooks.json").write_text(
        json.dumps({"hooks": {"SessionStart": [{"hooks": [in_json]}]}})
    )
    config = box.codex_home / "config.toml"
    in_toml, toml_key, toml_hash = trusted_hook(box, "USER-TOML", str(config))
    with config.open("a") as file:
        file.write(
            f"[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = 'command'\n"
            f"command = {json.dumps(in_toml['command'])}\n"
        )
        for key, value in ((json_key, json_hash), (toml_key, toml_hash)):
            file.write(f'[hooks.state."{key}"]\ntrusted_hash = "{value}"\n')
    before = config.read_bytes()
    in_flag, flag_key, flag_hash = trusted_hook(box, "USER-FLAG", SESSION_FLAGS)
    run(
        box,
        [
            "-c",
            f'hooks.SessionStart=[{{hooks=[{{type="command",command={json.dumps(in_flag["command"])}}}]}}]',
            "exec",
            f'--config=hooks.state={{"{flag_key}"={{trusted_hash="{flag_hash}"}}}}',
            "hello",
        ],
    )
    assert {text: box.shown(text) for text in (PAYLOAD, "USER-JSON", "USER-TOML", "USER-FLAG")} == {
        PAYLOAD: [1],
        "USER-JSON": [1],
        "USER-TOML": [1],
        "USER-FLAG": [1],
    }
    assert config.read_bytes() == before


@pytest.mark.parametrize("version", BY_INSTRUCTIONS)
def test_the_users_instructions_are_kept(sandbox: Any, version: str) -> None:
    box = sandbox(version, top='developer_instructions = "USER-FILE"')
    run(box, ["exec", "hello"])
    assert (box.shown("USER-FILE\n\n" + PAYLOAD), box.shown("USER-FILE")) == ([1], [1])
    run(box, ["exec", "--config=developer_instructions=USER-FLAG", "hello"])
    assert [box.shown(text)[-1] for text in ("USER-FLAG\n\n" + PAYLOAD, "USER-FILE")] == [1, 0]


def test_a_trusted_projects_instructions_are_kept(sandbox: Any) -> None:
    box = sandbox("0.98.0", top='developer_instructions = "USER-FILE"')
    (box.repo / ".codex").mkdir()
    (box.repo / ".codex" / "config.toml").write_text('developer_instructions = "USER-PROJECT"')
    run(box, ["exec", "hello"])
    assert (box.shown("USER-PROJECT"), box.shown("USER-FILE\n\n" + PAYLOAD)) == ([0], [1])
    box.trust()
    run(box, ["exec", "hello"])
    assert (box.shown("USER-PROJECT\n\n" + PAYLOAD)[-1], box.shown("USER-FILE")[-1]) == (1, 0)


def test_the_users_instructions_beside_a_hook(sandbox: Any) -> None:
    box = sandbox("0.171.0", top='developer_instructions = "USER-FILE"')
    run(box, ["exec", "hello"])
    assert (box.shown("USER-FILE"), box.shown(PAYLOAD)) == ([1], [1])


@pytest.mark.parametrize("version", ["0.125.0", "0.145.0", "0.171.0"])
def test_a_long_payload_arrives_whole(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    payload = "FIRST-LINE\n" + "| a line of memory – 记忆 😀\n" * 1000 + "LAST-LINE"
    assert len(payload.encode()) > 30_000
    run(box, ["exec", "hello"], payload)
    assert box.shown(payload) == [1]


def test_any_text_arrives_as_instructions(sandbox: Any) -> None:
    box = sandbox("0.98.0")
    payload = "a \"b\" 'c' \\ \\n \t é 记忆 😀 \x7f \"\"\" ''' $HOME `x` #\nend"
    run(box, ["exec", "hello"], payload)
    assert box.shown(payload) == [1]


def test_hooks_switched_off(sandbox: Any) -> None:
    box = sandbox("0.171.0", tables="[features]\nhooks = false")
    injection = run(box, ["exec", "hello"])
    assert (injection.strategy, box.shown(PAYLOAD)) == ("developer-instructions", [1])


@pytest.mark.parametrize("version", ["0.145.0", "0.171.0"])
def test_after_compaction_the_hook_speaks_again(sandbox: Any, version: str) -> None:
    """A tool call whose usage is above the limit: Codex compacts in the middle of the turn."""
    box = sandbox(version, [Run("true", total_tokens=90_000), "done"])
    run(box, ["exec", "-c", "model_auto_compact_token_limit=50000", "hello"])
    assert len(box.server.requests) == 3
    assert box.shown(PAYLOAD) == [1, 1, 1]
    assert [start["source"] for start in given(box)] == ["startup", "compact"]


def test_instructions_survive_compaction(sandbox: Any) -> None:
    box = sandbox("0.98.0", [Run("true", total_tokens=90_000), "done"])
    run(box, ["exec", "-c", "model_auto_compact_token_limit=50000", "hello"])
    assert box.shown(PAYLOAD) == [1, 1, 1]


def test_a_broken_hash_is_skipped_in_silence(sandbox: Any) -> None:
    """Why the receipt is read from the rollout and never assumed."""
    box = sandbox("0.171.0")
    line = ["exec", "hello"]
    injection = inject(box, line)
    wrong = [word.replace("sha256:", "sha256:0") for word in injection.replace or ()]
    assert box.run(*wrong).returncode == 0
    assert box.shown(PAYLOAD) == [0]


@pytest.mark.parametrize("version", ["0.125.0", "0.171.0"])
def test_in_the_tui(sandbox: Any, version: str) -> None:
    box = sandbox(version, ["ANSWER-ONE"])
    with box.tui(*(inject(box, []).replace or ())) as tui:
        tui.wait_for("rust")
        tui.press(ENTER, lambda text: "rust" not in text and "›" in text)
        tui.submit("hello there", "ANSWER-ONE")
        tui.submit("/quit", "codex resume")
        assert tui.wait_exit() == 0
    assert box.shown(PAYLOAD)[0] == 1
    assert [start["source"] for start in given(box)] == ["startup"]
    assert box.leftovers() == []


def test_the_release_is_asked(sandbox: Any, tmp_path: Path) -> None:
    for version in ("0.58.0", "0.171.0"):
        box = sandbox(version)
        asked = codex_version(box.codex, str(tmp_path / "codex.json"))
        assert asked == tuple(map(int, version.split(".")))


@pytest.mark.parametrize("version", ["0.58.0", "0.98.0", "0.125.0", "0.171.0"])
def test_a_failing_model_ends_codex_with_1(sandbox: Any, version: str) -> None:
    assert sandbox(version, lambda _request: Fail(500)).run("exec", "hello").returncode == 1
