"""What git takes: every diff, applied by git, gives the new file."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cam.formats.unified_diff import render_diff

LINES = st.lists(
    st.sampled_from(["a", "b", "", "- x", "--- a", "+++ b", "@@ -1 +1 @@", "\\ No", "é", "c\r"]), max_size=12
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n", "\n\n"]))


@settings(max_examples=40)
@given(before=st.none() | TEXTS, after=TEXTS)
def test_git_applies_it(tmp_path_factory: pytest.TempPathFactory, before: str | None, after: str) -> None:
    old, new = None if before is None else before.encode(), after.encode()
    diff = render_diff("AGENTS.md", old, new)
    if not diff or (old is None and not new):
        assert old == new or not new
        return
    folder = tmp_path_factory.mktemp("diff")
    path = Path(folder) / "AGENTS.md"
    if old is not None:
        path.write_bytes(old)
    subprocess.run(["git", "apply", "-"], cwd=folder, input=diff.encode(), check=True, capture_output=True)
    assert path.read_bytes() == new


def test_nothing_changes_nothing() -> None:
    assert render_diff("x", b"a\n", b"a\n") == ""
