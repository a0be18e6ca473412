"""One line, whatever was stored."""

import pytest

from cam.core.display import one_line, without_escapes


@pytest.mark.parametrize("text", ["plain", "你好", "🧑‍💻 works", "می‌خواهم", "é", "a\u00a0b"])
def test_what_people_write_stays(text: str) -> None:
    assert one_line(text).replace("\u00a0", " ") == text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    "bad", ["\n", "\r", "\x1b", "\x00", "\x85", "\u2028", "\u202e", "\u2066", "\ufeff", "\ud800", "\u00ad"]
)
def test_what_hides_or_moves_is_a_blank(bad: str) -> None:
    assert one_line(f"a{bad}b") == "a b"


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mUse pnpm\x1b[0m",
        "\x1b[1;38;5;9mUse\x1b[K pnpm\x1b[",
        "\x9b31mUse pnpm",
        "\x1b]8;;https://example.org\x1b\\Use pnpm\x1b]8;;\x07",
        "\x1b(BUse pnpm\x1b",
        " \u202eUse pnpm\u202c\u2069 ",
    ],
)
def test_escape_sequences_go_whole(text: str) -> None:
    assert without_escapes(text) == "Use pnpm"


def test_direction_marks_inside_stay() -> None:
    assert without_escapes("a \u2067שלום\u2069 b [31m]") == "a \u2067שלום\u2069 b [31m]"
