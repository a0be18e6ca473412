"""Which sentences at the end of an answer leave something to do, and which only tell how things are."""

from pathlib import Path

import pytest

from cam.continuity.summary import summarize
from tests.unit.continuity.test_summary import session

DATA = Path(__file__).parents[2] / "data" / "sentences"


def sentences(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


def steps(answer: str) -> tuple[str, ...]:
    return summarize(session("Rework the shop's checkout page", ("a", answer)), "/repo").state.next_steps


@pytest.mark.parametrize("sentence", sentences("open.txt"))
def test_it_leaves_something_to_do(sentence: str) -> None:
    assert steps(sentence) != ()


@pytest.mark.parametrize("sentence", sentences("told.txt"))
def test_it_only_tells(sentence: str) -> None:
    assert steps(sentence) == ()
