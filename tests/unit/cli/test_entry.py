"""What is decided before anything heavy is imported."""

import json
import os
import subprocess
import sys

import pytest

from cam.cli.entry import GlobalOptions, main, split_global_options


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("cam ")
    assert main(["--version", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    version, commit = answer["data"]["version"], answer["data"]["commit"]
    assert said == (f"cam {version} ({commit})\n" if commit else f"cam {version}\n")


@pytest.mark.parametrize(
    ("line", "options", "rest"),
    [
        (["exec", "--cwd", "x"], GlobalOptions(), ["exec", "--cwd", "x"]),
        (["--cwd", "d", "exec", "x"], GlobalOptions("d"), ["exec", "x"]),
        (["--cwd=d", "--no-sync", "run"], GlobalOptions("d", sync=False), ["run"]),
        (["--no-inject", "--", "x"], GlobalOptions(inject=False), ["--", "x"]),
    ],
)
def test_own_options_stand_before_the_verb(line: list[str], options: GlobalOptions, rest: list[str]) -> None:
    assert split_global_options(line) == (options, rest)


@pytest.mark.parametrize("line", [["--cwd"], ["--cwd="]])
def test_a_folder_must_be_named(line: list[str]) -> None:
    with pytest.raises(ValueError, match="--cwd needs a folder"):
        split_global_options(line)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["recall", "search", "x"], ["memory", "list", "--json"], ["log"]])
def test_an_answer_that_cannot_be_written_is_one_line(words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cam", *words], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"cam: the disk is full")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["recall", "search", "x"], 0),
        (["recall", "details", "no ref"], 4),
        (["recall", "details", "project:active:commands:gone"], 3),
        (["hook", "bogus"], 4),
    ],
)
def test_what_ends_at_once_says_all_and_its_exit_code(words: list[str], code: int) -> None:
    done = subprocess.run([sys.executable, "-m", "cam", *words], capture_output=True, check=False)
    assert done.returncode == code
    assert (done.stdout + done.stderr).endswith(b"\n")
