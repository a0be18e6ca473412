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


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (["from now on indent with tabs", "hm no scrap that, leave the formatting as it was"], []),
        (["from now on indent with tabs", "scratch that, from now on two spaces"], ["two spaces"]),
        (["以后都用 tab 缩进", "刚才说的作废"], []),
        (["ab jetzt mit Tabs einrücken", "vergiss was ich eben gesagt habe"], []),
        (["from now on indent with tabs", "ok", "now", "scrap that"], ["indent with tabs"]),  # too long ago
    ],
)
def test_what_is_taken_back_in_the_next_message_is_not_kept(said: list[str], kept: list[str]) -> None:
    assert [text.rsplit("on ", 1)[-1] for text in _kept(*said)][-1:] == kept


def test_a_rule_read_before_is_forgotten_once_it_is_taken_back() -> None:
    first = extract("from now on indent with tabs")
    second = extract("from now on indent with tabs", "scrap that, leave it as it was", after=1)
    assert [type(item).__name__ for item in (*first.items, *second.items)] == ["Candidate", "ForgetRequest"]


def test_steps_of_one_sentence_are_one_record() -> None:
    told = "bump the version in Cargo.toml, run cargo xtask dist, then push the tag. keep that in mind"
    (kept,) = _kept(told)
    assert all(step in kept for step in ("Cargo.toml", "xtask dist", "push the tag"))


def test_what_leans_on_its_sentence_is_kept_with_it() -> None:
    (kept,) = _kept("staging 的 deploy 走 argo，app 名叫 mall-stg，别再 kubectl apply 了")
    assert "argo" in kept
    assert "mall-stg" in kept
    assert _kept("这个仓库统一用 pnpm，缩进两个空格") == ["这个仓库统一用 pnpm", "缩进两个空格"]


def test_both_of_two_proposals() -> None:
    asked = (
        "I suggest: (1) SwiftLint runs as a build phase, (2) force unwraps are an error. Make both the rule?"
    )
    asked = asked.replace("Make both", "Shall we make both")
    assert _kept(("assistant", asked), "yes both") == [
        "SwiftLint runs as a build phase",
        "force unwraps are an error",
    ]
