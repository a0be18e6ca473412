"""In an agent's shell no command of the tree writes what is a person's, whichever commands there are.

The lines are made from the declarations of the commands, so a new command or switch is tried unasked.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command_tree import LEAVES, Leaf
from tests.unit.cli.run import run

WRITE_SESSION = Path(__file__).parents[2] / "fakes" / "write_session.py"
ELSEWHERE = ("mcp serve", "store git merge-driver", "help")
"""The server asks for keys at each call, and git calls the driver; ``help`` prints."""

NOT_TRIED = {"--watch", "--json", "--open", "--prove"}
MAY_END = {0, 1, 2, 5}
"""Nothing was wrong with the line: done, warnings of a doctor, refused."""


class World:
    """A project with memory, and with something to do for every command."""

    def __init__(self, home: Path, outside: Path) -> None:
        self.home = home
        self.labels = outside / "labels.jsonl"
        self.report = outside / "report.json"
        self.repo = home / "shop"
        self.repo.mkdir()
        subprocess.run(["git", "init", "-q", str(self.repo)], check=True)
        os.chdir(self.repo)
        (self.repo / "AGENTS.md").write_text("- Be kind\n")
        for words in (
            ["remember", "Use pnpm, never npm"],
            ["remember", "The API listens on port 8080"],
            ["remember", "Use npm", "--actor", "codex", "--allow-write"],
            ["session", "save"],
            ["memory", "export", "--output", str(home / "facts.json")],
        ):
            self.session(
                f"Please add a page for {words[0]} to the shop. From now on always answer in English."
            )
            run(words)

    def session(self, words: str) -> None:
        """A session that nobody has read yet."""
        number = len(list(self.home.rglob("rollout-*")))
        name = f"019b0000-0000-7000-8000-{number:012x}"
        subprocess.run([sys.executable, str(WRITE_SESSION), name, words], cwd=self.repo, check=True)

    def values(self) -> dict[str, Sequence[str]]:
        """What the commands that take words are given, by their names."""
        one, two = self._refs()[:2]
        self.labels.write_text(json.dumps({"id": "q", "query": "pnpm", "expected_ids": [one]}))
        project = next((self.home / ".codex-auto-memory" / "projects").iterdir()).name
        waiting = json.loads(self.output("review", "list"))["data"]["waiting"][0]["id"]
        return {
            **dict.fromkeys(("memory link", "memory unlink", "memory merge"), (one, two)),
            **dict.fromkeys(
                ("memory show", "memory pin", "memory unpin", "memory archive", "memory restore", "why",
                 "forget", "recall details", "recall timeline", "recall export"), (one,),
            ),
            "memory edit": [one, "--summary", "Use yarn"],
            "memory move": [one, "--scope", "global"],
            "memory import": [str(self.home / "facts.json")],
            "recall search": ["pnpm"],
            "recall rebuild": ["--from-canonical"],
            "recall benchmark": ["--labels", str(self.labels), "--output", str(self.report)],
            "memory diff": ["--since", "7d"],
            "review accept": [waiting],
            "review reject": [waiting],
            "project move": [project],
            "project merge": [project, project],
            "project purge": [project],
            "config get": ["enabled"],
            "config set": ["enabled", "false"],
            "remember": ["The queue is at 5672"],
            "propose": ["--target", "AGENTS.md", "--", "- Be brief"],
        }  # fmt: skip

    def output(self, *words: str) -> str:
        """What a command of a person's prints as JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "cam", *words, "--json"], capture_output=True, text=True, check=True
        )
        return done.stdout

    def bytes(self) -> dict[str, bytes]:
        """Every file below the home but what is derived."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not {"cache", "__pycache__"} & set(path.parts)
        }

    def _refs(self) -> list[str]:
        listed = json.loads(self.output("memory", "list"))["data"]["entries"]
        return [f"{e['scope']}:{e['state']}:{e['topic']}:{e['id']}" for e in listed]


@pytest.fixture
def world(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(own_home)
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("CAM_CODEX_BINARY", "/nowhere/codex")
    return World(own_home, tmp_path)


def lines(leaf: Leaf, values: dict[str, Sequence[str]]) -> list[list[str]]:
    """A command by itself, and with each of its switches."""
    given = list(values.get(leaf.name, ()))
    at = given.index("--") if "--" in given else len(given)
    bare = [*leaf.words, *given]
    known = {*NOT_TRIED, *bare}
    switches = [name for name, takes_value in leaf.options if not takes_value and name not in known]
    files = [["--output", "out"] for name, _ in leaf.options if name == "--output" and name not in bare]
    more = [[], *([name] for name in switches), *files]
    return [[*leaf.words, *given[:at], *words, *given[at:]] for words in more]


def test_no_command_writes_in_an_agent_s_shell(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = world.values()
    before = world.bytes()
    monkeypatch.setenv("CODEX_THREAD_ID", "1")
    wrong, refused = [], 0
    for leaf in LEAVES:
        for line in [] if leaf.name in ELSEWHERE else lines(leaf, values):
            capsys.readouterr()
            code = run(line)
            refused += code == 5
            if code not in MAY_END or world.bytes() != before:
                wrong.append((" ".join(line), code, capsys.readouterr().err))
                assert world.bytes() == before, wrong
    assert wrong == []
    assert refused > 60
