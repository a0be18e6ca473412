"""What is decided before anything heavy is imported."""

import json

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
