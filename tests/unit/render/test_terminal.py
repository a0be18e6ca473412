"""What a terminal shows: rows that fit, refs in one piece, nothing lost, no code where none may be."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cam.core.display import one_line, width
from cam.render.terminal import dress

REF = "project:active:architecture:api-listens-port-3000-af376b"
CODES = re.compile(r"\x1b\[[0-9;]*m")
TEXT = st.text(st.sampled_from("ab Z09-:.“”+~部署テスト한국😀é\u0301\u05d0\u0628"), max_size=150).map(
    one_line
)


def test_wide_characters_take_two_columns() -> None:
    assert [width(text) for text in ("ab", "部署", "e\u0301", "😀", "\u200d")] == [2, 4, 1, 2, 0]


def test_a_long_line_goes_on_under_its_own_column() -> None:
    line = "ok       codex      " + "word " * 20 + "end"
    rows = dress(line, 60, colour=False).split("\n")
    assert all(len(row) <= 60 for row in rows)
    assert all(row.startswith((" " * 20 + "word", " " * 20 + "end")) for row in rows[1:])


def test_a_ref_stays_in_one_piece() -> None:
    text = dress(f"    was replaced by {REF}", 40, colour=True)
    assert REF in text


def test_wide_text_without_blanks_is_broken_where_the_row_ends() -> None:
    rows = dress("  " + "部署在每周二进行" * 10, 40, colour=False).split("\n")
    assert all(width(row) <= 40 for row in rows)
    assert "".join(row.strip() for row in rows) == "部署在每周二进行" * 10


@pytest.mark.parametrize("columns", [0, 1, 40, 80, 200])
@given(text=st.lists(TEXT, max_size=4).map("\n".join))
@example(text="")
@example(text="  + “quote” " + REF)
def test_nothing_is_lost_and_colour_adds_codes_alone(columns: int, text: str) -> None:
    plain = dress(text, columns, colour=False)
    assert CODES.sub("", dress(text, columns, colour=True)) == plain
    assert "".join(plain.split()) == "".join(text.split())
    if columns >= 40:
        for row in plain.split("\n"):
            assert width(row) <= columns or max(map(len, row.split())) > columns // 2 - 4


def test_nothing_that_closes_begins_a_row() -> None:
    rows = dress("これはとても長い文章です。「そして」もっと長い文章です。", 24, colour=False).split("\n")
    assert max(map(width, rows)) <= 24
    assert [row for row in rows if row.strip()[:1] in "。」" or row[-1:] == "「"] == []


def test_what_is_no_column_in_the_first_half_is_none() -> None:
    line = f"{'a-name':<24}value   where it comes from"
    assert dress(line, 32, colour=False).split("\n")[1].startswith("  where")
