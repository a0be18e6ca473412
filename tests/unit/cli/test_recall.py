"""The strict grammar of ``cam recall``: an option once, no unknown one, every value checked, one answer."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.cli.recall import COMMANDS, parse
from cam.core.errors import InvalidInputError

SEARCH = COMMANDS["search"]


def recall(repo: Path, *arguments: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "cam", "recall", *arguments, "--json"],
        cwd=repo, capture_output=True, text=True, check=False, env=env,
    )  # fmt: skip
    assert done.stdout.count("\n") == 1
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("line", "words", "options"),
    [
        (["q"], ["q"], {}),
        (["--limit", "3", "q", "--scope", "global"], ["q"], {"--limit": "3", "--scope": "global"}),
        (["--limit=3", "q"], ["q"], {"--limit": "3"}),
        (["--", "--limit"], ["--limit"], {}),
        (["-x"], ["-x"], {}),
        (["q", "--memory-root", ""], ["q"], {"--memory-root": ""}),
        (["--help"], [], {"--help": ""}),
        (["-h"], [], {"--help": ""}),
    ],
)
def test_what_is_understood(line: list[str], words: list[str], options: dict[str, str]) -> None:
    assert parse(SEARCH, "search", line) == (words, options)


@pytest.mark.parametrize(
    "line",
    [[], ["a", "b"], ["q", "--nope"], ["q", "--limit"], ["q", "--limit", "--scope"], ["q", "--json=1"],
     ["q", "--limit", "1", "--limit", "2"], ["q", "--topic", ""], ["q", "--topic="], ["--", "a", "b"]],
)  # fmt: skip
def test_what_is_refused(line: list[str]) -> None:
    with pytest.raises(InvalidInputError):
        parse(SEARCH, "search", line)


@given(
    st.lists(
        st.text(max_size=8) | st.sampled_from(["--limit", "--json", "--", "-h", "--scope", "=", "--x=y"])
    )
)
def test_any_line_is_parsed_or_refused(line: list[str]) -> None:
    try:
        words, options = parse(SEARCH, "search", line)
    except InvalidInputError:
        return
    assert len(words) == 1 or "--help" in options


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (["search", "x", "--limit", "0"], 4, "--limit takes a whole number from 1 to 100"),
        (["search", "x", "--limit", "1e1"], 4, "--limit takes"),
        (["search", "x", "--limit", "1", "--page", "2"], 4, "does not go with"),
        (["search", "x", "--state", "gone"], 4, "no state"),
        (["search", "x", "--type", "song"], 4, "no type"),
        (["search", "x", "--scope", "galaxy"], 4, "no scope"),
        (["search", "x", "--from", "yesterday"], 4, "is no date"),
        (["search", "x", "--recency", "inf"], 4, "--recency takes"),
        (["search", "x", "--recency", "-1"], 4, "--recency takes"),
        (["search", "x", "--match", "some"], 4, "no match"),
        (["search", "???"], 4, "no word"),
        (["search", "x " * 70], 4, "at most 64"),
        (["nonsense"], 4, "no command"),
        (["search", "x", "--cwd", "/nowhere"], 4, "--cwd"),
    ],
)
def test_wrong_input_is_one_clear_answer(tmp_path: Path, line: list[str], code: int, says: str) -> None:
    got, answer = recall(tmp_path, *line)
    assert got == code
    assert answer["error"]["code"] == "invalid_input"
    assert says in answer["error"]["message"]
    assert answer["data"] is None


def test_pages_and_roots(tmp_path: Path, own_home: Path) -> None:
    for name in ("checkout", "billing", "search", "mail", "auth"):
        subprocess.run(
            [sys.executable, "-m", "cam", "remember", f"The {name} service has a port of its own", "--json"],
            cwd=tmp_path, capture_output=True, check=True,
        )  # fmt: skip
    _, whole = recall(tmp_path, "search", "port", "--limit", "100")
    refs = [item["ref"] for item in whole["data"]["items"]]
    assert len(refs) == whole["data"]["total"] == 5
    pages = []
    for page in ("1", "2", "3", "4"):
        _, part = recall(tmp_path, "search", "port", "--page-size", "2", "--page", page)
        assert part["data"]["total"] == 5
        pages += [item["ref"] for item in part["data"]["items"]]
    assert pages == refs
    assert all("details" not in item for item in whole["data"]["items"])

    code, elsewhere = recall(tmp_path, "search", "port", "--memory-root", str(tmp_path / "none"))
    assert (code, elsewhere["error"]["code"]) == (4, "integrity_error")
    (tmp_path / "empty").mkdir()
    _, nothing = recall(tmp_path, "search", "port", "--memory-root", str(tmp_path / "empty"))
    assert nothing["data"]["total"] == 0
    _, unset = recall(tmp_path, "search", "port", "--memory-root=")
    assert unset["data"]["total"] == 5
    assert not (tmp_path / "none").exists()
