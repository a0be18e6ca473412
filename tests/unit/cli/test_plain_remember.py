"""A plain line is read without Typer, and comes to the same as with it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cam.cli.app import run_app
from cam.cli.entry import GlobalOptions, main

CALL = "import sys\nfrom cam.cli.entry import main\ntry:\n    main(sys.argv[1:])"


@pytest.mark.parametrize(
    "line",
    [
        ["Deploys run on Tuesdays"],
        ["Lint first", "--topic", "workflow", "--detail", "with ruff", "--detail=then mypy"],
        ["--scope=global", "Answer in German"],
        ["--scope", "nowhere", "x"],
        ["--topic", "No Topic", "x"],
        [""],
    ],
)
def test_the_same_answer_as_typer(
    line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    answers = []
    for call in (
        lambda: main(["remember", *line, "--json"]),
        lambda: run_app(["remember", *line, "--json"], GlobalOptions()),
    ):
        monkeypatch.setenv("CAM_HOME", str(tmp_path / str(len(answers))))
        try:
            code = call()
        except SystemExit as done:
            code = done.code
        answer = json.loads(capsys.readouterr().out)
        for name in ("created_at", "updated_at"):
            (answer["data"] or {}).pop(name, None)
        answers.append((code, answer))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("line", [["--help"], ["--bogus", "x"], ["x", "--topic"], ["two", "texts"], []])
def test_any_other_line_is_typers(line: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cam", "remember", *line], capture_output=True, text=True, check=False
    )
    assert ("Usage:" in done.stdout) if line == ["--help"] else done.stderr.startswith("cam: ")
    assert done.returncode == (0 if line == ["--help"] else 4)


def test_typer_stays_out(tmp_path: Path) -> None:
    code = f"{CALL}\nfinally:\n    print([m for m in ('typer', 'rich') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code, "--cwd", str(tmp_path), "remember", "Lint first"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.endswith("[]\n"), done.stderr
