"""Codex's hooks file: ours beside the user's, and out again without a trace."""

import json
from typing import Any

import pytest

from cam.formats.codex_hooks import (
    hook_hash,
    hook_key,
    known_to,
    moved_keys,
    our_hooks,
    snake,
    with_hooks,
    without_hooks,
)

PATH = "/h/.codex/hooks.json"
OURS = {
    "SessionStart": {"type": "command", "command": "'/a b/cam' hook session-start", "timeout": 30},
    "Stop": {"type": "command", "command": "cam hook stop || exit 0", "timeout": 30},
}
LINT = {"type": "command", "command": "lint.sh"}

LAYOUTS = [
    '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"lint.sh"}]}]}}',
    (
        '{\r\n\t"description": "mine",\r\n\t"hooks": {\r\n\t\t"PreToolUse": [\r\n'
        '\t\t\t{"matcher": "Bash", "hooks": []}\r\n\t\t]\r\n\t}\r\n}\r\n'
    ),
    '{\n    "hooks": { "SessionStart" : [ {"matcher":"startup","hooks":[ {"type":"command"} ] } ] }\n}',
    '{"note": "é \\u00e9 🧠"}',
]


@pytest.mark.parametrize("text", LAYOUTS)
def test_in_and_out_again_gives_the_same_bytes(text: str) -> None:
    more = with_hooks(text, PATH, OURS)
    assert [(h.event, h.handler) for h in our_hooks(more, PATH)] == [
        (e, OURS[e]) for e in json.loads(more)["hooks"] if e in OURS
    ]
    assert without_hooks(more, PATH) == text
    assert with_hooks(more, PATH, OURS) == more


def test_a_new_file_is_gone_again() -> None:
    for text in (None, "", " \n"):
        more = with_hooks(text, PATH, OURS)
        assert more.endswith("}\n")
        assert without_hooks(more, PATH) == ""


def test_an_older_one_is_renewed_in_its_place() -> None:
    old = {"type": "command", "command": "/old/cam hook stop", "timeout": 5}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [old]}, {"hooks": [LINT]}]}})
    more = json.loads(with_hooks(text, PATH, OURS))
    assert more["hooks"]["Stop"] == [{"hooks": [OURS["Stop"]]}, {"hooks": [LINT]}]


def test_one_that_somebody_arranged_otherwise_is_left() -> None:
    own = {"matcher": "x", "hooks": [LINT, {**OURS["Stop"], "timeout": 9}]}
    text = json.dumps({"hooks": {"Stop": [own]}})
    more = with_hooks(text, PATH, OURS)
    assert json.loads(more)["hooks"]["Stop"] == [own]
    left = json.loads(without_hooks(more, PATH))
    assert left == {"hooks": {"Stop": [{"matcher": "x", "hooks": [LINT]}]}}


def test_keys_of_the_users_hooks_move_up() -> None:
    mixed = [LINT, OURS["Stop"], LINT]
    groups: list[dict[str, Any]] = [{"hooks": h} for h in ([LINT], [OURS["Stop"]], mixed, [LINT])]
    text = json.dumps({"hooks": {"Stop": groups}})
    assert moved_keys(text, PATH, PATH) == {
        hook_key(PATH, "Stop", 2, 0): hook_key(PATH, "Stop", 1, 0),
        hook_key(PATH, "Stop", 2, 2): hook_key(PATH, "Stop", 1, 1),
        hook_key(PATH, "Stop", 3, 0): hook_key(PATH, "Stop", 2, 0),
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"hooks":\n{"Stop": [\n}}', 3),
        ("[]", 1),
        ('{"hooks": []}', 1),
        ('{"a": 1,\n"hooks": {"Stop":\n{}}}', 2),
        ('{"hooks":\n\n{"Stop": [{"command": "x"}]}}', 3),
        ('\ufeff{"hooks": {}}', 1),
    ],
)
def test_no_hooks_file_is_refused_with_its_line(text: str, line: int) -> None:
    for work in (lambda: with_hooks(text, PATH, OURS), lambda: without_hooks(text, PATH)):
        with pytest.raises(ValueError, match=rf"^{PATH}:{line}: "):
            work()


@pytest.mark.parametrize(
    "command",
    [
        "cam hook stop",
        "/opt/x/cam hook stop",
        "'/a b/cam' hook stop",
        "/v/bin/python -I -m cam hook stop",
        "cam hook stop || exit 0",
    ],
)
def test_ours_are_known_by_their_command(command: str) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    assert len(our_hooks(text, PATH)) == 1


@pytest.mark.parametrize(
    "command",
    [
        "scam hook stop",
        "cam hook stopper",
        "cam hooks stop",
        "cam sync",
        "cam hook session-start --run /x",
        "",
        None,
    ],
)
def test_others_are_not(command: str | None) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    assert our_hooks(text, PATH) == ()


def test_what_a_release_does_not_know_is_not_hashed() -> None:
    handler = {**OURS["SessionStart"], "additionalContextLimit": 1}
    assert known_to((0, 140, 0), handler) == OURS["SessionStart"]
    assert known_to((0, 145, 0), handler) == handler
    assert snake("UserPromptSubmit") == "user_prompt_submit"
    # SessionEnd has another time-out where none is given.
    assert hook_hash("session_end", LINT) == hook_hash("session_end", {**LINT, "timeout": 1})
    assert hook_hash("stop", LINT) == hook_hash("stop", {**LINT, "timeout": 600})
