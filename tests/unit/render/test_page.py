"""Documentation in a terminal: the same words, without Markdown's signs."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.render.page import page_text

DOCS = sorted((Path(__file__).parents[3] / "docs").glob("*.md"))
PAGE = """\
# A page

Some **bold** words in
two lines, with [a link](x.md) and `code`.

- one
  goes on
- two

| setting | |
|---|---|
| `a\\|b` | what it does |

| release | way | seen |
|---|---|---|
| 0.58 | flags | 部署 yes |
| 0.125 | hook | no |

<!-- hidden -->
```console
$ cam **x**
```
"""


def test_a_page() -> None:
    assert page_text(PAGE) == (
        "A PAGE\n\nSome bold words in two lines, with a link and code.\n\n- one goes on\n- two\n\n"
        "  a|b  what it does\n\n"
        "  release  way    seen\n  ───────  ─────  ────────\n"
        "  0.58     flags  部署 yes\n  0.125    hook   no\n\n"
        "    $ cam **x**"
    )


def test_a_page_on_a_narrow_terminal() -> None:
    lines = page_text(PAGE, 24).split("\n")
    assert lines[2:5] == ["Some bold words in two", "lines, with a link and", "code."]
    assert lines[lines.index("  0.58") :][:3] == ["  0.58", "      way: flags", "      seen: 部署 yes"]


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.stem)
def test_every_page_can_be_read(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    text = "\n".join(line for line in page_text(source, 10_000).split("\n") if not line.startswith("    "))
    assert not re.search(r"\]\(|^\s*\||\|-{3}|\*\*", text, re.MULTILINE)


@given(st.text(st.sampled_from("# |-`*[]()\nab\\<!>"), max_size=80))
def test_any_text_is_a_page(text: str) -> None:
    page_text(text)
