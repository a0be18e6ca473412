"""Every command on every kind of terminal: foreign code pages, pipes, narrow and wide, without colour.

What is stored holds emoji, CJK and right-to-left text, so whatever is printed has to carry it.
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cam.cli import long_work, recall
from cam.cli.entry import main
from cam.context import open_context
from cam.core.display import width
from cam.memory.flow import tell
from cam.recall import rebuild
from cam.store.sidecar import drop_indexes
from tests.command_tree import LEAVES

TEXTS = (
    "部署用 pnpm 🚀, never npm", "שלום: the API listens on port 4100", "テストは make test で実行する",
    "Ünïcode e\u0301 👩‍💻 in every file " + "and on it goes " * 12, "Deploys run on Tuesdays",
)  # fmt: skip
CODES = re.compile(r"\x1b\[[0-9;]*m")
WORDS = {
    "recall search": ["部署"],
    "recall timeline": ["REF"],
    "recall details": ["REF"],
    "memory show": ["REF"],
    "memory diff": ["--since", "1d"],
    "memory edit": ["REF2", "--summary", "שלום 部署"],
    "memory move": ["REF3", "--topic", "reference"],
    "memory link": ["REF", "REF2"],
    "memory unlink": ["REF", "REF2"],
    "memory pin": ["REF"],
    "memory archive": ["REF4"],
    "memory restore": ["REF4"],
    "why": ["REF"],
    "remember": ["記憶 🧠 זיכרון"],
    "forget": ["Tuesdays", "--yes"],
    "config get": ["enabled"],
    "config set": ["max_startup_lines", "150"],
    "help": ["memory"],
}
"""What a command needs to have something to say; the others say it without."""


AS_THEY_ARE = ("help memory", "completion", "memory export")
"""Pages, and what is meant for files and shells: not fitted to the terminal."""


class Terminal(io.TextIOWrapper):
    """A terminal, or a pipe, of some encoding, whose bytes are kept."""

    def __init__(self, encoding: str, *, is_tty: bool) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding=encoding)
        self._is_tty = is_tty

    def isatty(self) -> bool:
        return self._is_tty

    def said(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode("utf-8")


@pytest.fixture
def refs(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records of the texts above, in a project; their refs."""
    folder = own_home / "店"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("CAM_CODEX_BINARY", "/nowhere/codex")
    for text in TEXTS:
        run(["remember", text], Terminal("utf-8", is_tty=False), monkeypatch)
    return [str(record.ref) for record in tell(open_context().store)[1].records]


def run(line: list[str], terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    errors = Terminal(terminal.encoding, is_tty=terminal.isatty())
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        patch.setattr(sys, "stderr", errors)
        try:
            code = main(line)
        except SystemExit as done:
            code = int(str(done.code))
    return code, terminal.said(), errors.said()


def lines(refs: list[str]) -> Iterator[list[str]]:
    names = {"REF": refs[0], "REF2": refs[1], "REF3": refs[2], "REF4": refs[3]}
    for leaf in LEAVES:
        if leaf.words != ("mcp", "serve"):
            yield [*leaf.words, *(names.get(word, word) for word in WORDS.get(leaf.name, ()))]


@pytest.mark.parametrize(
    ("encoding", "is_tty", "columns", "variables"),
    [
        ("gbk", False, 80, {}),
        ("cp1252", True, 40, {}),
        ("ascii", True, 200, {"NO_COLOR": "1"}),
        ("utf-8", True, 80, {"TERM": "dumb"}),
    ],
    ids=["gbk-pipe", "cp1252-40", "ascii-200", "dumb-80"],
)
def test_every_command_can_be_read_everywhere(
    encoding: str, is_tty: bool, columns: int, variables: dict[str, str], refs: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    has_colour = is_tty and not variables
    for line in lines(refs):
        code, out, err = run(line, Terminal(encoding, is_tty=is_tty), monkeypatch)
        told = f"{line} -> {code}\n{out}\n{err}"
        assert code in (0, 1, 2, 3, 4, 5), told
        assert "Traceback" not in out + err, told
        assert "the details are in" not in err, told
        assert has_colour or "\x1b" not in out + err, told
        if is_tty and " ".join(line[:2]) not in AS_THEY_ARE:
            for row in CODES.sub("", out).split("\n"):
                assert width(row) <= columns or has_long_word(row, columns), f"{told}\n{row!r}"
        if line[0] == "log":
            assert "部署用 pnpm 🚀" in CODES.sub("", out), told


def has_long_word(row: str, columns: int) -> bool:
    """Whether the row is wide for the sake of a ref or a path, which stays in one piece."""
    return max(map(width, row.split()), default=0) > columns // 2 - 6


def test_long_work_has_a_bar_on_a_terminal_alone(refs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "_MOMENT", 0.0)
    monkeypatch.setattr(rebuild, "_STEP", 1)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = {"recall rebuild --from-canonical": "indexing records", "gc": "looking through the store"}
    for line, words in shown.items():
        for is_tty, more in ((True, []), (True, ["--json"]), (False, [])):
            _, out, err = run([*line.split(), *more], Terminal("utf-8", is_tty=is_tty), monkeypatch)
            assert (words in err) is (is_tty and not more), f"{line}{more}\n{out}\n{err}"


def test_a_first_search_says_what_it_waits_for_on_a_terminal_alone(
    refs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refs
    monkeypatch.setattr(recall, "_MANY", 2)
    for is_tty, says in ((False, False), (True, True), (True, False)):  # nothing to wait for any more
        if says:
            drop_indexes(open_context().layout)
        _, _, err = run(["recall", "search", "Tuesdays"], Terminal("utf-8", is_tty=is_tty), monkeypatch)
        assert ("cam: indexing what is remembered" in err) is says


def test_the_bar_counts_and_says_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "_MOMENT", 0.0)
    terminal = Terminal("utf-8", is_tty=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    with long_work.counting_bar("counting") as step:
        for n in range(5):
            step(n, 400)
    said = CODES.sub("", terminal.said())
    assert re.search(r"counting .* 4/400 [\d,]+/s ", said)
