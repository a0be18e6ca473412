"""Codex's config.toml: a table in and out again, and not a byte of anything else."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.formats.codex_toml import parse_toml, with_renamed, with_table, without_tables

SERVER = ("mcp_servers", "cam")
VALUES = {"command": "cam", "args": ["mcp", "serve"]}

FILES = [
    "",
    "# mine\n",
    'model = "m"  # the best\n\n[tui]\nx = 1\n\n# below\n[projects."/a b"]\ntrust_level = "trusted"\n',
    'model = "m"\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
    '[a.b]\nx = """\n[mcp_servers.cam]\n"""\n[a]\ny = 1\n[[list]]\nz = 2\n',
    "[mcp_servers]\n",
]
ODD = [
    'mcp_servers = { other = { command = "x" } }\n',
    'mcp_servers.other.command = "x"\n[tui]\nx = 1\n',
    "[mcp_servers]\nother.command = 'x'\n",
]


@pytest.mark.parametrize("text", FILES)
def test_in_and_out_again_gives_the_same_bytes(text: str) -> None:
    more = with_table(text, "f", SERVER, VALUES)
    assert tomllib.loads(more)["mcp_servers"]["cam"] == VALUES
    assert more.startswith(text)
    assert ("\r\n" in more) == ("\r\n" in text)
    assert with_table(more, "f", SERVER, VALUES) == more
    assert without_tables(more, "f", [SERVER]) == text


@pytest.mark.parametrize("text", ODD)
def test_odd_files_are_edited_too(text: str) -> None:
    more = with_table(text, "f", SERVER, VALUES)
    assert tomllib.loads(more)["mcp_servers"] == {"other": {"command": "x"}, "cam": VALUES}
    assert tomllib.loads(without_tables(more, "f", [SERVER])) == tomllib.loads(text)


def test_values_are_renewed_in_place_and_others_stay() -> None:
    text = '[mcp_servers.cam]\n# slow\nstartup_timeout_sec = 30\ncommand = "old" # here\n\n[tui]\n'
    more = with_table(text, "f", SERVER, {"command": "new"})
    assert more == text.replace('"old"', '"new"')


def test_the_users_lines_after_ours_stay() -> None:
    text = with_table("a = 1\n", "f", SERVER, VALUES) + "\n# theirs\n[tui]\nx = 1\n"
    assert without_tables(text, "f", [SERVER]) == "a = 1\n\n# theirs\n[tui]\nx = 1\n"


@pytest.mark.parametrize("key", ['/a "b"\\c:stop:0:0', "/ä ö:stop:0:0", "/it's:stop:0:0"])
def test_keys_with_anything_in_them(key: str) -> None:
    keys = ("hooks", "state", key)
    more = with_table("x = 1\n", "f", keys, {"trusted_hash": "sha256:0"})
    assert tomllib.loads(more)["hooks"]["state"] == {key: {"trusted_hash": "sha256:0"}}
    new = with_renamed(more, "f", ("hooks", "state"), {key: key + "1", "none": "x"})
    assert tomllib.loads(new)["hooks"]["state"] == {key + "1": {"trusted_hash": "sha256:0"}}
    assert without_tables(more, "f", [keys]) == "x = 1\n"


def test_names_change_places() -> None:
    text = '[h.s."f:1:0"]\nt = "b"\n[h.s."f:2:0"]\nt = "c"\n'
    new = with_renamed(text, "f", ("h", "s"), {"f:1:0": "f:0:0", "f:2:0": "f:1:0"})
    assert new == '[h.s."f:0:0"]\nt = "b"\n[h.s."f:1:0"]\nt = "c"\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb =\n", 2), ("\ufeffa = 1\n", 1), ("a = 1\n\n[x\n", 3), ("mcp_servers = 1\n", 1)],
)
def test_what_cannot_be_edited_is_named_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=rf"^f:{line}: "):
        with_table(text, "f", SERVER, VALUES)


def test_no_toml_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^f:1: "):
        parse_toml("= 1", "f")


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
    st.text(max_size=12),
)
def test_any_table_in_and_out(values: dict[str, int | str], name: str) -> None:
    text = "a = 1\n"
    values = {**values, "k": 0}
    more = with_table(text, "f", ("t", name), values)
    assert tomllib.loads(more) == {"a": 1, "t": {name: values}}
    assert without_tables(more, "f", [("t", name)]) == text
