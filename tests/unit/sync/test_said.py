"""Messages as people type them: what they hold that lasts, and what they do not."""

import os

import pytest

from cam.core.extraction import Candidate
from tests.unit.sync.conftest import extract

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "data", "extraction", "said.txt")


def _lines(sign: str) -> list[str]:
    with open(DATA, encoding="utf-8") as file:
        return [line[1:].strip() for line in file if line.startswith(f"{sign} ")]


def _kept(*said: str | tuple[str, str]) -> list[str]:
    items = (item for item in extract(*said).items if isinstance(item, Candidate))
    return ["\n".join((item.summary, *item.details)) for item in items]


@pytest.mark.parametrize("line", _lines("+"))
def test_kept(line: str) -> None:
    text, _, keys = line.partition(" => ")
    wanted = [key.strip().casefold() for key in keys.split("|")]
    kept = [summary.casefold() for summary in _kept(text)]
    assert all(any(key in summary for summary in kept) for key in wanted), kept
    assert len(kept) <= len(wanted)


@pytest.mark.parametrize("text", _lines("-"))
def test_passed(text: str) -> None:
    assert _kept(text) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (["you keep deleting my TODO comments. stop it"], ["you keep deleting my TODO comments, stop it"]),
        (["你老是改我的配置文件。别这样"], ["你老是改我的配置文件，别这样"]),
        (["you keep rewriting imports"], ["don't keep rewriting imports"]),
        (["why do you always add comments?"], ["don't add comments"]),
        (
            ["you forgot the changelog again. every pr needs an entry"],
            ["every pr needs an entry\ndon't forget the changelog again"],
        ),
    ],
)
def test_a_complaint_carries_its_rule(said: list[str], kept: list[str]) -> None:
    assert _kept(*said) == kept


@pytest.mark.parametrize(
    ("meant", "answer", "kept"),
    [
        ("I'll use yarn for this.", "no, pnpm", ["pnpm, not yarn"]),
        ("I'll use yarn for this.", "no, use pnpm", ["pnpm, not yarn"]),
        ("I'll use yarn for this.", "ok", []),
        ("I'll translate it to English.", "no, german", []),
        ("Should I rename it?", "no, leave it", []),
    ],
)
def test_a_tool_chosen_against_the_assistants(meant: str, answer: str, kept: list[str]) -> None:
    assert _kept(("assistant", meant), answer) == kept
