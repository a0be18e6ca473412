"""What Codex's arguments mean; the cases follow the real parser's behaviour."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.wrapper.arguments import parse_arguments, with_setting

ID = "01a22d40-4368-79e2-b134-beb9fbc18ace"


@pytest.mark.parametrize(
    ("line", "command", "action", "session", "prompt"),
    [
        ([], "", "start", None, None),
        (["fix it"], "", "start", None, "fix it"),
        (["exec", "fix it"], "exec", "start", None, "fix it"),
        (["e", "fix it"], "exec", "start", None, "fix it"),
        (["exec", "-"], "exec", "start", None, None),
        (["exec", "-m", "exec", "go"], "exec", "start", None, "go"),
        (["-m", "resume", "go"], "", "start", None, "go"),
        (["hello", "exec", "more"], "exec", "start", None, "more"),
        (["exec", "--", "resume"], "exec", "start", None, "resume"),
        (["--", "mcp"], "", "start", None, "mcp"),
        (["exec", "-i", "a.png", "b.png", "--json", "go"], "exec", "start", None, "go"),
        (["exec", "--image=a.png", "go"], "exec", "start", None, "go"),
        (["resume"], "resume", "resume", None, None),
        (["resume", ID], "resume", "resume", ID, None),
        (["resume", ID, "go on"], "resume", "resume", ID, "go on"),
        (["resume", "--last"], "resume", "resume", None, None),
        (["resume", "--last", "go on"], "resume", "resume", None, "go on"),
        (["-C", "/w", "fork", ID], "fork", "fork", ID, None),
        (["exec", "resume", ID, "-"], "exec", "resume", ID, None),
        (["exec", "hi", "resume", ID, "more"], "exec", "resume", ID, "more"),
        (["exec", "--json", "fork", ID, "more"], "exec", "fork", ID, "more"),
        (["exec", "resume", "--last", "--", "--dash"], "exec", "resume", None, "--dash"),
        (["mcp", "list"], "mcp", "", None, None),
        (["login"], "login", "", None, None),
        (["exec", "review", "--uncommitted"], "exec", "", None, None),
        (["review"], "review", "", None, None),
        (["--version"], "", "", None, None),
        (["-V"], "", "", None, None),
        (["exec", "--help"], "exec", "", None, None),
        (["exec", "say --help"], "exec", "start", None, "say --help"),
        (["exec", "--", "--help"], "exec", "start", None, "--help"),
        (["completion", "zsh"], "completion", "", None, None),
        (["doctor"], "doctor", "", None, None),
        (["a", "task"], "apply", "", None, None),
        ([""], "", "start", None, ""),
    ],
)
def test_call(line: list[str], command: str, action: str, session: str | None, prompt: str | None) -> None:
    call = parse_arguments(line)
    assert (call.command, call.action, call.session, call.prompt) == (command, action, session, prompt)
    assert call.arguments == tuple(line)


@pytest.mark.parametrize(
    "words",
    [
        ["-c", "a.b=1"],
        ["-ca.b=1"],
        ["-c=a.b=1"],
        ["--config", "a.b=1"],
        ["--config=a.b=1"],
        ["-c", " a.b = 1 "],
    ],
)
@pytest.mark.parametrize("before", [[], ["exec"], ["exec", "hi"], ["exec", "resume", ID], ["--json"]])
def test_settings_in_every_spelling_and_place(words: list[str], before: list[str]) -> None:
    call = parse_arguments([*before, *words, "--last"])
    [(path, value, option)] = call.settings
    assert (path, value) == (("a", "b"), "1")
    assert with_setting(call, "x=1", [option]) == (*before, "-c", "x=1", "--last")


def test_settings_keep_their_order_and_end_at_the_dashes() -> None:
    call = parse_arguments(["-c", "x=1", "exec", "-cx=2", "resume", "--config=x=3", "--", "-c", "x=4"])
    assert [value for _, value, _ in call.settings] == ["1", "2", "3"]


def test_what_the_wrapper_asks() -> None:
    call = parse_arguments(
        ["-C/w", "exec", "-pwork", "--ephemeral", "--worktree", "--disable", "hooks", "-h"]
    )
    assert (call.directory, call.profile) == ("/w", "work")
    assert call.is_ephemeral
    assert "worktree" in call.flags
    assert call.toggles == {"hooks": False}
    assert not call.is_session
    assert parse_arguments(["resume"]).is_session


def test_the_last_of_two_counts() -> None:
    assert parse_arguments(["--cd", "a", "exec", "-C=b", "go"]).directory == "b"


def test_a_value_that_is_missing_is_left_to_codex() -> None:
    assert parse_arguments(["exec", "go", "-c"]).settings == ()
    assert parse_arguments(["exec", "-c", "no equals sign", "go"]).settings == ()


@given(
    st.lists(
        st.sampled_from(["exec", "resume", "--", "-c", "-i", "-h", "--x=y", "k=v", "-cp=1", "é", "", "-"])
    )
)
def test_any_list_is_read_and_kept(line: list[str]) -> None:
    call = parse_arguments(line)
    assert list(call.arguments) == line
    more = with_setting(call, "new=1")
    at = more.index("new=1")
    assert [*more[: at - 1], *more[at + 1 :]] == line
    if "--" not in line[: at - 1]:
        assert any(value == "1" for path, value, _ in parse_arguments(more).settings if path == ("new",))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["exec", "go"], ["-c", "n=1", "exec", "go"]),
        (["-c", "a=1", "exec", "go"], ["-c", "n=1", "-c", "a=1", "exec", "go"]),
        (["exec", "go", "-ca=1", "-cb=1"], ["exec", "go", "-c", "n=1", "-ca=1", "-cb=1"]),
        (
            ["-cz=1", "exec", "-ca=1", "resume", "-cb=1"],
            ["-cz=1", "exec", "-ca=1", "resume", "-c", "n=1", "-cb=1"],
        ),
        (["--", "-c", "a=1"], ["-c", "n=1", "--", "-c", "a=1"]),
    ],
)
def test_a_setting_stands_where_no_release_drops_it(line: list[str], expected: list[str]) -> None:
    assert list(with_setting(parse_arguments(line), "n=1")) == expected
