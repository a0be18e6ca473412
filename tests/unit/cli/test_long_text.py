"""A fact of ten thousand characters: whole where it is asked for by name, a few lines of it in every list."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.run import run

LONG = "Deploys " + "run on Tuesdays after lunch " * 400
BOUND = 250
"""Columns that a list's line may take: the text's, a mark, a heading."""

LISTS = (
    ("memory",),
    ("memory", "list"),
    ("memory", "diff", "--since", "7d"),
    ("log",),
    ("recall", "search", "deploys"),
    ("recall", "timeline", "REF"),
    ("forget", "deploys", "--dry-run"),
    ("memory", "pin", "REF"),
    ("memory", "archive", "REF"),
    ("remember", LONG),
    ("undo",),
)
WHOLE = (
    ("memory", "show", "REF"),
    ("why", "REF"),
    ("recall", "details", "REF"),
    ("memory", "list", "--json"),
)


@pytest.fixture
def ref(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setenv("CAM_HOME", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    assert run(["remember", LONG, "--scope", "project", "--topic", "workflow", "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["data"]["ref"])


@pytest.mark.parametrize("words", LISTS, ids=lambda words: " ".join(words)[:20])
def test_a_list_shows_its_beginning(
    words: tuple[str, ...], ref: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([ref if word == "REF" else word for word in words]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert max(map(len, shown)) < BOUND
    assert [line for line in shown if line.endswith("…")]
    if words != ("memory",):
        assert [line for line in shown if ref.rpartition(":")[2] in line]


@pytest.mark.parametrize("words", WHOLE, ids=" ".join)
def test_by_its_name_it_is_whole(
    words: tuple[str, ...], ref: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([ref if word == "REF" else word for word in words]) == 0
    assert LONG.strip() in capsys.readouterr().out
