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

<!-- hidden -->
```console
$ cam **x**
```
"""


def test_a_page() -> None:
    assert page_text(PAGE) == (
        "A PAGE\n\nSome bold words in two lines, with a link and code.\n\n- one goes on\n- two\n\n"
        "  a|b\n      what it does\n\n    $ cam **x**"
    )


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.stem)
def test_every_page_can_be_read(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    text = "\n".join(line for line in page_text(source).split("\n") if not line.startswith("    "))
    assert not re.search(r"\]\(|^\s*\||\|-{3}|\*\*", text, re.MULTILINE)


@given(st.text(st.sampled_from("# |-`*[]()\nab\\<!>"), max_size=80))
def test_any_text_is_a_page(text: str) -> None:
    page_text(text)
