"""What was erased, or left the history by age, is not learned again from the session that said it."""

import time
from pathlib import Path

from cam.memory.erase import erase
from cam.memory.flow import forget
from cam.store.gc import DAY, Keep, clear
from tests.unit.sync.test_flow import Box


def test_an_erased_rule_is_not_read_back(tmp_path: Path) -> None:
    box = Box(tmp_path)
    path = box.put("0.171.0", "package-manager")
    box.sync()
    learned = box.store.snapshot().records
    (record,) = [r for r in learned if "pnpm" in r.summary]
    done = erase(box.store, [record.ref], str(box.codex), box.project.root)
    assert done.rollouts == (str(path),)
    root = Path(box.store.layout.root)
    left = [p for p in root.rglob("*") if p.is_file() and record.summary.encode() in p.read_bytes()]
    assert left == []
    report = box.sync(force=True)
    assert not any("pnpm" in text for text in box.active())
    assert any(r.reason == "tombstone" for s in report.sessions for r in s.rejections)


def test_what_was_forgotten_long_ago_stays_out_when_the_history_is_cleared(tmp_path: Path) -> None:
    box = Box(tmp_path)
    box.put("0.171.0", "package-manager")
    box.sync()
    forget(box.store, [r.ref for r in box.store.snapshot().records], delete=True)
    clear(box.store.layout.root, Keep(1, 1, 1), time.time() + 10 * DAY)
    box.sync(force=True)
    assert box.active() == []
