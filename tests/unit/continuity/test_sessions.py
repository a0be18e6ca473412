"""The labelled sessions: the figures that the bench prints may not fall."""

import pytest

from tests.labelled import bench, open_files, path_of

continuity = bench("continuity")


@pytest.mark.parametrize("name", open_files("continuity"))
def test_figures(name: str) -> None:
    rows = [continuity.play(case) for case in continuity.load(path_of("continuity", name))]
    found = continuity.measure(rows)
    wrong = [(r.id, w) for r in rows if (w := continuity.wrong(r))]
    assert found["goal"] >= 0.9, wrong
    assert found["precision"] >= 0.9, wrong
    assert found["recall"] >= 0.8, wrong
    assert found["failures"] >= 0.8, wrong
    assert not found["stale"], wrong
    assert not found["leaked"], wrong
