"""How the payload is put on Codex's command line."""

import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.core.seams import Injection
from cam.formats.codex_hooks import CONTEXT_LIMIT, hook_hash
from cam.formats.toml_value import render_value
from cam.system.codex import Version
from cam.wrapper.arguments import parse_arguments
from cam.wrapper.codex_config import (
    Place,
    apply_settings,
    hooks_are_off,
    own_instructions,
    parse_value,
)
from cam.wrapper.injectors import (
    MAX_ARGUMENT_BYTES,
    SESSION_FLAGS,
    choose_injector,
)

COMMAND = "/opt/hook.sh start"
HASH = "sha256:1d12c9537ae12ee08015e65f2c553be6f59fb006cb5c97740a62d35ec4144b34"
HASH_30 = "sha256:21584a6c00971cf05105ffb8f42215312b2a5f996f3c3cc99a3f9394811f362d"
NEW: Version = (0, 171, 0)
PLAIN_HOOK: Version = (0, 140, 0)
OLD: Version = (0, 98, 0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "codex").mkdir()
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return Place(str(tmp_path / "codex"), str(tmp_path / "repo"), str(tmp_path / "system.toml"))


def inject(place: Place, version: Version | None, line: list[str], payload: str = "MEMORY") -> Injection:
    return choose_injector(version, hook_command=COMMAND, payload=payload, place=place).inject(line)


def hooks_of(injection: Injection) -> dict[str, Any]:
    words = injection.replace or ()
    hooks = tomllib.loads(words[words.index("-c") + 1])["hooks"]
    assert isinstance(hooks, dict)
    return hooks


def test_the_hash_is_codex_own() -> None:
    assert hook_hash("session_start", {"type": "command", "command": COMMAND}) == HASH
    assert hook_hash("session_start", {"type": "command", "command": COMMAND, "timeout": 30}) == HASH_30


@pytest.mark.parametrize(
    ("version", "strategy", "warns"),
    [
        (None, "none", True),
        ((0, 57, 9), "none", True),
        ((0, 58, 0), "developer-instructions", False),
        ((0, 124, 9), "developer-instructions", False),
        ((0, 125, 0), "session-flag-hook", False),
        ((1, 0, 0), "session-flag-hook", False),
    ],
)
def test_the_release_decides(place: Place, version: Version | None, strategy: str, *, warns: bool) -> None:
    injection = inject(place, version, ["exec", "go"])
    assert (injection.strategy, bool(injection.warning)) == (strategy, warns)


@pytest.mark.parametrize("line", [["mcp", "list"], ["--version"], ["exec", "--help"], ["login"]])
@pytest.mark.parametrize("version", [None, (0, 50, 0), OLD, NEW])
def test_no_session_no_payload(place: Place, version: Version | None, line: list[str]) -> None:
    assert inject(place, version, line) == Injection("none")


def test_hook_on_a_plain_line(place: Place) -> None:
    injection = inject(place, PLAIN_HOOK, ["exec", "go"])
    assert injection.replace is not None
    assert injection.replace[2:] == ("exec", "go")
    assert hooks_of(injection) == {
        "SessionStart": [{"hooks": [{"type": "command", "command": COMMAND}]}],
        "state": {f"{SESSION_FLAGS}:session_start:0:0": {"trusted_hash": HASH}},
    }


def test_the_limit_is_raised_where_it_is_known_and_part_of_the_hash(place: Place) -> None:
    assert "additionalContextLimit" not in str(hooks_of(inject(place, (0, 144, 9), ["exec", "go"])))
    hooks = hooks_of(inject(place, (0, 145, 0), ["exec", "go"]))
    [handler] = hooks["SessionStart"][0]["hooks"]
    assert handler["additionalContextLimit"] == CONTEXT_LIMIT
    assert hooks["state"][f"{SESSION_FLAGS}:session_start:0:0"]["trusted_hash"] == hook_hash(
        "session_start", handler
    )


def test_a_payload_that_would_be_cut_is_said(place: Place) -> None:
    assert "shortens" in inject(place, PLAIN_HOOK, ["exec", "go"], "x" * 10_001).warning
    assert inject(place, (0, 125, 0), ["exec", "go"], "x" * 10_001).warning == ""
    assert inject(place, NEW, ["exec", "go"], "x" * 10_001).warning == ""


def test_the_users_hook_flags_are_merged_and_the_rest_stays_in_place(place: Place) -> None:
    key = f"{SESSION_FLAGS}:session_start:0:0"
    user = [
        "-c",
        'hooks.SessionStart=[{matcher="startup",hooks=[{type="command",command="mine",timeout=30}]}]',
        "exec",
        f'-chooks.state={{"{key}"={{trusted_hash="sha256:aa"}},"/u/hooks.json:stop:0:0"={{enabled=false}}}}',
        "--json",
        '--config=hooks.Stop=[{hooks=[{type="command",command="end"}]}]',
        "-c",
        'model="m"',
        "--",
        "-c",
        "hooks.SessionStart=[]",
    ]
    injection = inject(place, PLAIN_HOOK, user)
    assert injection.replace is not None
    flag = injection.replace[2]
    assert list(injection.replace) == [
        "exec",
        "-c",
        flag,
        "--json",
        "-c",
        'model="m"',
        "--",
        "-c",
        "hooks.SessionStart=[]",
    ]
    hooks = hooks_of(injection)
    assert [g["hooks"][0]["command"] for g in hooks["SessionStart"]] == ["mine", COMMAND]
    assert hooks["SessionStart"][0]["matcher"] == "startup"
    assert hooks["Stop"] == [{"hooks": [{"type": "command", "command": "end"}]}]
    assert hooks["state"] == {
        key: {"trusted_hash": "sha256:aa"},
        "/u/hooks.json:stop:0:0": {"enabled": False},
        f"{SESSION_FLAGS}:session_start:1:0": {"trusted_hash": HASH},
    }


def test_of_the_users_flags_the_later_wins_as_in_codex(place: Place) -> None:
    line = ["-c", "hooks.Stop=[1]", "-c", "hooks={PreToolUse=[2]}", "-c", "hooks.Stop=[3]", "go"]
    hooks = hooks_of(inject(place, NEW, line))
    assert (hooks["Stop"], hooks["PreToolUse"], len(hooks["SessionStart"])) == ([3], [2], 1)


@pytest.mark.parametrize(
    "bad", ["hooks=nonsense", "hooks.SessionStart=[{", "hooks.state=1", "hooks.SessionStart.0=1"]
)
def test_hook_flags_that_cannot_be_read_are_left_to_codex(place: Place, bad: str) -> None:
    injection = inject(place, NEW, ["-c", bad, "go"])
    assert (injection.strategy, injection.arguments, injection.replace) == ("none", (), None)
    assert injection.warning


@pytest.mark.parametrize("command", ["/a b/hook 'x'", 'say "hi" \\ é 😀 \x7f', "a\tb"])
def test_any_command_travels(place: Place, command: str) -> None:
    injector = choose_injector(PLAIN_HOOK, hook_command=command, payload="p", place=place)
    hooks = hooks_of(injector.inject(["exec", "go"]))
    assert hooks["SessionStart"][0]["hooks"][0]["command"] == command


def test_the_hook_is_there_for_an_empty_payload_too(place: Place) -> None:
    assert inject(place, NEW, ["resume"], "").strategy == "session-flag-hook"
    assert inject(place, OLD, ["exec", "go"], "") == Injection("none")


@pytest.mark.parametrize(
    "flags", [["--disable", "hooks"], ["-c", "features.hooks=false"], ["-c", "features={codex_hooks=false}"]]
)
def test_hooks_switched_off_by_flag_fall_back(place: Place, flags: list[str]) -> None:
    assert inject(place, NEW, [*flags, "exec", "go"]).strategy == "developer-instructions"
    assert inject(place, NEW, [*flags, "resume"]).strategy == "none"


def test_hooks_switched_off_in_the_users_file(place: Place) -> None:
    Path(place.codex_home, "config.toml").write_text("[features]\nhooks = false\n")
    assert hooks_are_off(parse_arguments(["go"]), place)
    assert not hooks_are_off(parse_arguments(["--enable", "hooks", "go"]), place)
    assert not hooks_are_off(parse_arguments(["exec", "--ignore-user-config", "go"]), place)


def test_instructions_come_behind_the_users_own(place: Place) -> None:
    Path(place.codex_home, "config.toml").write_text(
        'developer_instructions = """Mine "quoted"\nline two"""\n'
    )
    injection = inject(place, OLD, ["exec", "go"])
    assert injection.replace is not None
    assert tomllib.loads(injection.replace[1]) == {
        "developer_instructions": 'Mine "quoted"\nline two\n\nMEMORY'
    }


def test_instructions_take_the_place_of_the_users_flags(place: Place) -> None:
    line = [
        "-c",
        "developer_instructions='old'",
        "exec",
        "--config=developer_instructions=raw words",
        "--",
        "go",
    ]
    injection = inject(place, OLD, line)
    assert injection.replace == ("exec", "-c", 'developer_instructions="raw words\\n\\nMEMORY"', "--", "go")


def test_instructions_too_long_for_an_argument(place: Place) -> None:
    injection = inject(place, OLD, ["exec", "go"], "x" * MAX_ARGUMENT_BYTES)
    assert (injection.strategy, injection.arguments) == ("none", ())
    assert "100 KB" in injection.warning


@pytest.mark.parametrize(
    ("version", "strategy"),
    [((0, 80, 0), "none"), ((0, 87, 0), "developer-instructions"), ((0, 104, 0), "developer-instructions"),
     ((0, 105, 0), "none"), ((0, 117, 0), "none")],
)  # fmt: skip
def test_instructions_on_resume(place: Place, version: Version, strategy: str) -> None:
    injection = inject(place, version, ["resume", "--last"])
    assert injection.strategy == strategy
    assert bool(injection.warning) == (strategy == "none")


def write_layers(place: Place, trust: str) -> None:
    repo = Path(place.cwd)
    (repo / "sub" / ".codex").mkdir(parents=True)
    (repo / ".codex").mkdir()
    Path(place.system_file).write_text('developer_instructions = "system"')
    Path(place.codex_home, "config.toml").write_text(
        'developer_instructions = "user"\n[profiles.p]\ndeveloper_instructions = "never"\n' + trust
    )
    (repo / ".codex" / "config.toml").write_text('developer_instructions = "project"')
    (repo / "sub" / ".codex" / "config.toml").write_text('developer_instructions = "sub"')


@pytest.mark.parametrize(
    ("version", "trusted", "line", "expected"),
    [
        ((0, 58, 0), [("", "trusted")], [], "user"),
        ((0, 80, 0), [], [], "project"),
        (OLD, [], [], "user"),
        (OLD, [("", "trusted")], [], "project"),
        (OLD, [("", "trusted")], ["-C", "sub"], "sub"),
        (OLD, [("sub", "trusted")], ["-C", "sub"], "sub"),
        (OLD, [("sub", "trusted")], [], "user"),
        (OLD, [("", "untrusted"), ("sub", "trusted")], ["-Csub"], "sub"),
        (OLD, [("", "trusted"), ("sub", "untrusted")], ["-Csub"], "project"),
        (OLD, [("", "trusted")], ["-p", "p"], "project"),
        (OLD, [], ["-p", "p"], "user"),
        (OLD, [("", "trusted")], ["-c", "developer_instructions=flag"], "flag"),
        (OLD, [], ["--ignore-user-config"], "system"),
    ],
)
def test_layers_of_own_instructions(
    place: Place, version: Version, trusted: list[tuple[str, str]], line: list[str], expected: str
) -> None:
    repo = Path(place.cwd)
    tables = (f'[projects."{repo / name}"]\ntrust_level = "{level}"\n' for name, level in trusted)
    write_layers(place, "".join(tables))
    assert own_instructions(parse_arguments([*line, "exec", "go"]), place, version) == expected


def test_trust_by_flag_and_through_a_link(place: Place, tmp_path: Path) -> None:
    write_layers(place, "")
    (tmp_path / "link").symlink_to(place.cwd)
    linked = Place(place.codex_home, str(tmp_path / "link"), place.system_file)
    line = ["-c", f'projects={{"{place.cwd}"={{trust_level="trusted"}}}}', "go"]
    assert own_instructions(parse_arguments(line), linked, OLD) == "project"


def test_a_linked_worktree_has_its_repositorys_trust(place: Place, tmp_path: Path) -> None:
    write_layers(place, f'[projects."{place.cwd}"]\ntrust_level = "trusted"\n')
    tree = tmp_path / "tree"
    (tree / ".codex").mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {place.cwd}/.git/worktrees/tree\n")
    (tree / ".codex" / "config.toml").write_text('developer_instructions = "tree"')
    there = Place(place.codex_home, str(tree), place.system_file)
    assert own_instructions(parse_arguments(["go"]), there, OLD) == "tree"


def test_a_broken_file_of_the_users_is_codex_business(place: Place) -> None:
    Path(place.codex_home, "config.toml").write_bytes(b"hooks \xff = [")
    assert own_instructions(parse_arguments(["go"]), place, OLD) == ""
    assert not hooks_are_off(parse_arguments(["go"]), place)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ('"a b"', "a b"), ("a b", "a b"), ("'x", "x"), ("[1,{a=true}]", [1, {"a": True}]), ("", "")],
)
def test_a_value_is_read_as_codex_reads_it(text: str, value: object) -> None:
    assert parse_value(text) == value


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TOML = st.recursive(
    TEXT
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.sampled_from([date(2026, 1, 2), time(3, 4, 5), datetime(2026, 1, 2, 3, 4, 5)]),  # noqa: DTZ001
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(TOML)
def test_values_survive_the_command_line(value: object) -> None:
    assert parse_value(render_value(value)) == value
    assert "\n" not in render_value(value)


def test_settings_below_a_key() -> None:
    call = parse_arguments(["-c", "a=1", "-c", "a.b.c=2", "-c", "b=3", "go"])
    assert apply_settings(call, "a") == {"b": {"c": 2}}
    assert apply_settings(call, "none") == {}
