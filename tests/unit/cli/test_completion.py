"""What a shell is offered at a tab, and that real shells take it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cam.cli.complete import candidates
from cam.cli.entry import main
from cam.cli.tree import shape
from tests.command_tree import LEAVES

BIN = str(Path(sys.executable).parent)


def offered(*words: str) -> list[str]:
    return [value for value, _ in candidates(words, None)]


@pytest.fixture
def ref(own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    (own_home / "shop" / ".git").mkdir(parents=True)
    (own_home / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(own_home / "shop")
    with pytest.raises(SystemExit):
        main(["remember", "Deploys 部署 run on Tuesdays", "--topic", "release-days"])
    return capsys.readouterr().out.split()[-1]


def test_every_command_is_offered_with_its_options() -> None:
    known = shape()
    assert {leaf.name for leaf in LEAVES} <= known.keys()
    for leaf in LEAVES:
        assert {name for name, _ in leaf.options} <= known[leaf.name]["options"].keys()


@pytest.mark.usefixtures("ref")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["remem"], ["remember"]),
        (["memory", "sh"], ["show"]),
        (["memory", "list", "--sco"], ["--scope"]),
        (["memory", "list", "--scope", "project-"], ["project-local"]),
        (["memory", "list", "--state", "ar"], ["archived"]),
        (["memory", "list", "--topic", "rel"], ["release-days"]),
        (["config", "get", "enab"], ["enabled"]),
        (["completion", "z"], ["zsh"]),
        (["help", "file-"], ["file-format"]),
        (["--no-i"], ["--no-inject"]),
        (["run", "--"], []),
        (["nonsense", ""], []),
    ],
)
def test_what_fits_is_offered(words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_refs_are_offered_where_one_is_wanted(ref: str) -> None:
    assert offered("why", "") == [ref]
    assert offered("memory", "link", ref, "project:a") == [ref]
    assert offered("memory", "edit", "--summary", "x", "") == [ref]
    assert offered("memory", "show", "global:") == []


def test_what_goes_wrong_completes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cwd", "/nowhere", "complete", "why", ""]) == 0
    assert capsys.readouterr() == ("", "")


SCRIPTS = {
    "bash": """\
source <(cam completion bash)
COMP_LINE="cam why project:active:rel"
COMP_POINT=${#COMP_LINE}
_cam
printf "project:active:%s\\n" "${COMPREPLY[@]}"
""",
    "zsh": """\
autoload -U compinit
compinit -u -D
source <(cam completion zsh)
[[ $_comps[cam] == _cam ]] && cam complete why project:active:rel | cut -f1
""",
    "fish": """\
source (cam completion fish | psub)
complete -C "cam why project:active:rel" | cut -f1
""",
}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_real_shell(shell: str, ref: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    line = [shell, "-c", SCRIPTS[shell]]
    done = subprocess.run(line, env=env, capture_output=True, encoding="utf-8", check=False)
    assert done.stdout.split() == [ref], done.stderr
