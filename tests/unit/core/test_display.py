"""One line, whatever was stored."""

import pytest

from cam.core.display import one_line


@pytest.mark.parametrize("text", ["plain", "你好", "🧑‍💻 works", "می‌خواهم", "é", "a\u00a0b"])
def test_what_people_write_stays(text: str) -> None:
    assert one_line(text).replace("\u00a0", " ") == text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    "bad", ["\n", "\r", "\x1b", "\x00", "\x85", "\u2028", "\u202e", "\u2066", "\ufeff", "\ud800", "\u00ad"]
)
def test_what_hides_or_moves_is_a_blank(bad: str) -> None:
    assert one_line(f"a{bad}b") == "a b"
