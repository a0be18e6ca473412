"""What prompts are told of a team's memory: about the prompt when it speaks, silence when nothing is."""

from pathlib import Path

import pytest

from bench.prompts import HALVES, ask, figures


@pytest.mark.parametrize("half", HALVES)
def test_a_prompt_is_told_what_is_about_it_or_nothing(tmp_path: Path, half: str) -> None:
    found = figures(ask(tmp_path / "store", half))
    assert found.prompts >= 30
    assert found.precision >= 0.8
    assert found.spoken >= 0.7
    assert found.silent >= 0.9
