"""A block of ours in the user's Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.formats.asset import AssetState, asset_state, stamped
from cam.formats.managed_block import find_block, with_block, without_block

NAME = "x:y"
START, END = f"<!-- {NAME}:start -->", f"<!-- {NAME}:end -->"
BODY = "one\ntwo\n"

lines = st.text(alphabet="ab#`~ -\t", max_size=8).filter(lambda line: "```" not in line and "~~~" not in line)


@given(st.lists(lines, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_in_and_out_again_gives_the_same_bytes(parts: list[str], newline: str) -> None:
    text = "".join(part + newline for part in parts)
    more = with_block(text, NAME, BODY, "f")
    found = find_block(more, NAME, "f")
    assert found is not None
    assert found.body == BODY
    assert more.startswith(text)
    if newline == "\r\n" and parts:
        assert "\n" not in more.replace("\r\n", "")
    assert with_block(more, NAME, BODY, "f") == more
    assert without_block(more, NAME, "f") == text


def test_what_stands_behind_it_stays() -> None:
    text = with_block("# Mine\n", NAME, BODY, "f") + "\nmore\n"
    assert with_block(text, NAME, "new\n", "f") == f"# Mine\n\n{START}\nnew\n{END}\n\nmore\n"
    assert without_block(text, NAME, "f") == "# Mine\n\nmore\n"


def test_markers_in_fences_and_in_lines_are_text() -> None:
    text = f"```\n{START}\n```\n~~~~md\n{END}\n~~~\n{END}\n~~~~\nsee {START}\n"
    assert find_block(text, NAME, "f") is None
    assert find_block(with_block(text, NAME, BODY, "f"), NAME, "f") is not None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a\n{START}\n", 2),
        (f"{END}\n", 1),
        (f"{END}\n{START}\n", 1),
        (f"{START}\n{END}\n{START}\n{END}\n", 4),
        (f"{START}\n{START}\n{END}\n", 3),
    ],
)
def test_markers_that_do_not_pair_up_are_refused(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=rf"^f:{line}: "):
        with_block(text, NAME, BODY, "f")


def test_an_asset_knows_its_version_and_whether_it_was_changed() -> None:
    now, old, new = (stamped("# {stamp}\ntext\n", "skill", n) for n in (2, 1, 3))
    assert asset_state(None, now) is AssetState.MISSING
    assert asset_state(now, now) is AssetState.CURRENT
    assert asset_state(now.replace("\n", "\r\n"), now) is AssetState.CURRENT
    assert asset_state(old, now) is AssetState.OLDER
    assert asset_state(new, now) is AssetState.NEWER
    assert asset_state(stamped("# {stamp}\nother\n", "skill", 2), now) is AssetState.OLDER
    assert asset_state(now + "mine\n", now) is AssetState.EDITED
    assert asset_state("mine\n", now) is AssetState.FOREIGN
    assert asset_state("# cam:asset-version retrieval-contract-v1\n", now) is AssetState.OLDER
    with pytest.raises(ValueError, match="once"):
        stamped("text", "skill", 1)
