"""What undo says: why nothing was taken back, and of a large change the beginning."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.run import run


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAM_HOME", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)


def test_it_says_why_and_takes_the_one_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refs = []
    for text in ("Deploys run on Tuesdays", "Never push to main"):
        assert run(["remember", text, "--scope", "global", "--topic", "workflow", "--json"]) == 0
        refs.append(json.loads(capsys.readouterr().out)["data"]["ref"])
    path = tmp_path / "store/global/workflow.md"
    path.write_text(path.read_text().replace("Never push", "Never ever push"))
    assert run(["undo"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith(f"cam: {refs[1]} was changed since and stays as it is\ncam: so nothing of ")
    assert f"- Deploys run on Tuesdays\n    {refs[0]}\nredo: cam undo " in said.out
    path.write_text("# workflow\n\n## Ask Ada first\n")
    assert run(["undo"]) == 0
    said = capsys.readouterr()
    assert said.out == "Nothing was taken back.\n"
    assert said.err == f"cam: {refs[1]} is gone already\n"


def test_a_large_change_is_told_with_its_beginning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.json").write_text(json.dumps([{"summary": f"Fact {n}"} for n in range(50)]))
    assert run(["memory", "import", "list.json"]) == 0
    capsys.readouterr()
    assert run(["undo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 2 * 20 + 2
    assert lines[-2] == "… and 30 more, all of them with --json"


@pytest.mark.parametrize("number", ["99999999999", "9" * 400, "000000000002"])
def test_any_number_is_one(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["remember", "Deploys run on Tuesdays"]) == 0
    assert run(["undo", number]) == 0
    assert "only 1 change was there" in capsys.readouterr().err


def test_each_record_has_the_sign_of_what_became_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["remember", "Deploys run on Tuesdays", "--json"]) == 0
    ref = json.loads(capsys.readouterr().out)["data"]["ref"]
    assert run(["memory", "pin", ref]) == 0
    assert run(["memory", "archive", ref]) == 0
    signs = []
    for _ in range(3):  # archived, pinned, remembered
        capsys.readouterr()
        assert run(["undo"]) == 0
        signs.append(capsys.readouterr().out.splitlines()[1][:2])
    assert signs == ["+ ", "~ ", "- "]


def test_a_store_that_is_a_file_has_nothing_that_could_be_cleared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store").touch()
    assert run(["gc"]) == 1
    assert "a file stands where a folder is expected" in capsys.readouterr().err


def test_a_note_that_was_changed_is_not_said_to_be_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = {"schema": "cam-export/v1", "notes": {"global": "Ask Ada first"}, "records": []}
    (tmp_path / "notes.json").write_text(json.dumps(export))
    assert run(["memory", "import", "notes.json"]) == 0
    index = tmp_path / "store/global/MEMORY.md"
    index.write_text(index.read_text().replace("Ada", "Bob"))
    capsys.readouterr()
    assert run(["undo"]) == 0
    said = capsys.readouterr()
    assert said.out == "Nothing was taken back.\n"
    assert "was changed or taken out since and stays as it is" in said.err
    assert "Ask Bob first" in index.read_text()
