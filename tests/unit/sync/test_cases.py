"""The labelled sessions: the figures that the bench prints may not fall."""

import importlib.util
import os
import sys

import pytest

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")
DATA = os.path.join(ROOT, "tests", "data", "extraction")
_spec = importlib.util.spec_from_file_location(
    "bench_extraction", os.path.join(ROOT, "bench", "extraction.py")
)
assert _spec is not None
assert _spec.loader is not None
bench = importlib.util.module_from_spec(_spec)
sys.modules["bench_extraction"] = bench
_spec.loader.exec_module(bench)


HELD_OUT = "blind-b.jsonl"
"""Nobody reads its texts while the extractor is worked on: its test names figures alone."""


@pytest.mark.parametrize(
    "name", sorted(n for n in os.listdir(DATA) if n.endswith(".jsonl") and n != HELD_OUT)
)
def test_figures(name: str) -> None:
    rows = [bench.play(case) for case in bench.load([os.path.join(DATA, name)])]
    new, useful, wants, hit = (sum(getattr(r, k) for r in rows) for k in ("new", "useful", "wants", "hit"))
    assert useful >= 0.95 * new, [r.junk for r in rows if r.junk]
    assert hit >= 0.90 * wants, [r.missed for r in rows if r.missed]
    assert not [(r.id, r.severe, r.stale, r.again) for r in rows if r.severe or r.stale or r.again]


def _counts(name: str) -> dict[str, float]:
    """Figures of a file, and nothing that it says."""
    rows = [bench.play(case) for case in bench.load([os.path.join(DATA, name)])]
    new, useful, wants, hit = (sum(getattr(r, k) for r in rows) for k in ("new", "useful", "wants", "hit"))
    severe, stale, again = (sum(len(getattr(r, k)) for r in rows) for k in ("severe", "stale", "again"))
    return {
        "precision": useful / new,
        "recall": hit / wants,
        "severe": severe,
        "stale": stale,
        "again": again,
    }


def test_the_held_out_half_does_not_get_worse() -> None:
    # floors of what was measured, which is below what the other files reach
    found = _counts(HELD_OUT)
    floors = {"precision": 0.82, "recall": 0.84, "severe": 5, "stale": 3, "again": 0}
    worse = [k for k in ("precision", "recall") if found[k] < floors[k]]
    worse += [k for k in ("severe", "stale", "again") if found[k] > floors[k]]
    assert worse == []
