"""Whatever stands on the command line: no stack trace, a fixed exit code, one clear line or one JSON object.

Lines are made from the declarations of the commands themselves, so a new command or option is tried unasked.
"""

import itertools
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cam.cli.app import COMMANDS
from cam.cli.entry import main
from cam.cli.other_words import TRIED as TRIED_WORDS
from cam.render.answer import checked
from tests.command_tree import LEAVES, Leaf
from tests.unit.cli.run import run

TRIED = [leaf for leaf in LEAVES if leaf.words not in (("mcp", "serve"), ("help",))]
ODD = (
    *(
        "",
        " ",
        "\t",
        "-",
        "--",
        "---",
        "-x",
        "--no-such-option",
        "--json=1",
        "nonsense",
        "0",
        "-1",
        "1e9",
        "NaN",
    ),
    *(
        "9" * 40,
        "٣",
        "部署",
        "😀",
        "\u202eabc",
        "e\u0301",
        "\udcff",
        "a\nb",
        "x" * 5000,
        "%s",
        "{0}",
        "$HOME",
        "*",
    ),
    *("/", "/nowhere/at/all", ".", "..", "~", ":::", "project::::", "project:active:x", "[red]x[/red]"),
    *("project:active:workflow:no-such-record", "global:active:../../etc:passwd", "2026-13-45", "9999999d"),
    *("0001-01-01", "9999-12-31T23:59:59.999999+14:00"),
)
REFUSALS = {1, 3, 4, 5}


@pytest.fixture(autouse=True)
def shop(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without sessions, an editor that changes nothing, a Codex that is not there."""
    folder = own_home / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("CAM_CODEX_BINARY", "/nowhere/codex")
    return folder


def lines(leaf: Leaf, count: int, chance: random.Random) -> Iterator[list[str]]:
    """Command lines with something wrong: too few or too many words, odd values, options twice or unknown."""
    for _ in range(count):
        words = [chance.choice(ODD) for _ in range(max(0, leaf.arguments + chance.choice((-1, 0, 0, 0, 1))))]
        for name, takes_value in chance.sample(leaf.options, min(len(leaf.options), chance.randrange(3))):
            if name != "--watch":
                words += [name, chance.choice(ODD)] if takes_value else [name]
        if chance.random() < 0.2:
            words.append(chance.choice(("--no-such-option", "--cwd", "--limit", "-", "--scope=galaxy")))
        yield [*leaf.words, *words]


def check(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    try:
        code = main(line)
    except SystemExit as done:
        code = done.code  # type: ignore[assignment]
    said = capsys.readouterr()
    told = f"{line!r} -> {code}\n{said.out[:300]}\n{said.err[:600]}"
    assert code in {0, 2} | REFUSALS, told
    assert "Traceback" not in said.out + said.err, told
    assert "the details are in" not in said.out + said.err, told
    assert not any(ord(c) < 32 and c not in "\n\t" for c in said.err), told
    if said.out.startswith('{"schema":"cam/v1"'):
        assert len(said.out.splitlines()) == 1, told
        assert checked(json.loads(said.out))["ok"] is (code not in REFUSALS) or code in {1, 4}, told
    elif code in REFUSALS and not said.out:
        ours = [row for row in said.err.splitlines() if row]
        assert ours, told
        assert all(row.startswith("cam: ") for row in ours), told
        assert max(map(len, ours)) < 1_000, told


@pytest.mark.parametrize("leaf", TRIED, ids=lambda leaf: leaf.name.replace(" ", "-"))
def test_no_wrong_line_of_any_command_is_answered_with_a_trace(
    leaf: Leaf, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in lines(leaf, 8, random.Random(leaf.name)):
        check(line, capsys)


GROUPS = sorted({leaf.words[:-1] for leaf in LEAVES if len(leaf.words) > 1 and leaf.words[0] != "recall"})


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_the_page_that_is_named_is_there(group: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*group, "nothing"]) == 4
    page = re.search(r"\(see 'cam ([^']*)'\)", capsys.readouterr().err)
    assert page is not None
    assert page[1] == " ".join([*group, "--help"])
    assert run(page[1].split()) == 0


def test_the_page_of_a_command_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "list", "--nothing"]) == 4
    assert "(see 'cam memory list --help')" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("export", "cam memory export"),
        ("import memory.json", "cam memory import FILE"),
        ("list --json", "cam memory list"),
        ("search tabs", "cam recall search"),
        ("memory add x", "cam remember TEXT"),
        ("memory undo", "cam undo"),
        ("store sync", "cam store git sync"),
        ("import codx", "codex"),
        ("memory lst", "'list'"),
    ],
)
def test_a_word_that_people_try_is_answered_with_what_to_type(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == 4
    shown = capsys.readouterr()
    assert told in shown.out + shown.err
    assert "report" not in shown.err


def test_a_word_of_any_group_is_known_at_the_top() -> None:
    """Who leaves the group out is told where the command stands; none of the words is a command by now."""
    tops = {leaf.words[0] for leaf in LEAVES}
    inner = {
        leaf.words[1] for leaf in LEAVES if len(leaf.words) > 1 and leaf.words[0] in ("memory", "recall")
    }
    tried = {word for word in TRIED_WORDS if " " not in word}
    assert not inner - tops - tried - {"status", "rebuild", "benchmark"}
    assert not tried & tops - {"import"}


def test_what_is_to_be_typed_is_there() -> None:
    """Each command that an answer names is one, with its group and, where it stands there, its option."""
    known = {" ".join(leaf.words) for leaf in LEAVES} | {*COMMANDS}
    for advice in TRIED_WORDS.values():
        for named in re.findall(r"'cam ([^']+)'", advice):
            words = list(itertools.takewhile(lambda word: re.fullmatch(r"[a-z-]+", word), named.split()))
            plain = " ".join(word for word in words if not word.startswith("-"))
            assert plain in {*known, ""}, advice


@pytest.mark.parametrize("group", [("store",), ("store", "git"), ("memory",)])
def test_a_groups_page_cuts_no_line(group: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*group, "--help"]) == 0
    assert "..." not in capsys.readouterr().out.replace("[ARGS]...", "")
