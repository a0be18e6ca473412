"""A disk that fills up at any point of a write: nothing half written, nothing lost, one clear line."""

from pathlib import Path

import pytest

from cam.core.errors import StoreUnavailableError
from cam.core.records import MemoryScope
from cam.memory.flow import remember
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from tests.conftest import fill


@pytest.mark.parametrize("pages", range(8))
def test_a_write_is_whole_or_not_at_all(small_disk: Path, pages: int) -> None:
    store = MarkdownStore(StoreLayout(str(small_disk / "store"), "shop-1", "shop-1"))
    remember(store, "Never push to main", (), MemoryScope.PROJECT, "workflow")
    fill(small_disk, leave=pages * 4096)
    try:
        remember(store, "Deploys run on Tuesdays", ("after lunch",), MemoryScope.PROJECT, "workflow")
        refusal = ""
    except StoreUnavailableError as error:
        refusal = str(error)
    acknowledged = not refusal
    assert acknowledged or "the disk is full" in refusal
    seen = {r.summary for r in store.snapshot().records}
    assert "Never push to main" in seen
    assert seen <= {"Never push to main", "Deploys run on Tuesdays"}
    if acknowledged:
        assert len(seen) == 2
    (small_disk / "filler").unlink()
    snapshot = store.snapshot()  # whatever was left undone is done now
    assert not snapshot.problems
    remember(store, "Answer in German", (), MemoryScope.GLOBAL, "preferences")
    after = {r.summary for r in store.snapshot().records}
    assert after >= {"Never push to main", "Answer in German"} | (seen if acknowledged else set())
    if not acknowledged and "Deploys run on Tuesdays" in after:
        pytest.fail("a write that was refused was done")
