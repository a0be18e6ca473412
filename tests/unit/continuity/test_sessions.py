"""The labelled sessions: the figures that the bench prints may not fall."""

import importlib.util
import os
import sys

import pytest

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")
DATA = os.path.join(ROOT, "tests", "data", "continuity")
_spec = importlib.util.spec_from_file_location(
    "bench_continuity", os.path.join(ROOT, "bench", "continuity.py")
)
assert _spec is not None
assert _spec.loader is not None
bench = importlib.util.module_from_spec(_spec)
sys.modules["bench_continuity"] = bench
_spec.loader.exec_module(bench)


@pytest.mark.parametrize("name", sorted(n for n in os.listdir(DATA) if n.endswith(".jsonl")))
def test_figures(name: str) -> None:
    rows = [bench.play(case) for case in bench.load(os.path.join(DATA, name))]
    figures = bench.figures(rows)
    wrong = [(r.id, r.wrong, r.stale, r.leaked) for r in rows if r.wrong or r.stale or r.leaked]
    assert figures["goal"] >= 0.9, wrong
    assert figures["precision"] >= 0.9, wrong
    assert figures["recall"] >= 0.8, wrong
    assert figures["failures"] >= 0.8, wrong
    assert not figures["stale"], wrong
    assert not figures["leaked"], wrong
