"""A process that dies at any file operation of an undo: the next start finds the bytes before it or after."""

import subprocess
import sys
from pathlib import Path

from cam.core.records import MemoryScope, MemoryState
from cam.memory.flow import forget, remember
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore

CHILD = """
import os, sys

from cam.memory.flow import undo
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore

root, die_at = sys.argv[1], int(sys.argv[2])
count = 0

def audit(event, args):
    global count
    watched = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "cam.rename")
    if event in watched and root in str(args[0]):
        count += 1
        if count == die_at:
            os._exit(99)

store = MarkdownStore(StoreLayout(root, "p", "p"))
sys.addaudithook(audit)
undo(store)
"""

PERSON = (
    b"# Ours\r\n\r\n\r\n## One\r\ntext\r\n\r\n\r\n## Two\r\n* star\r\n\r\n## Three\r\nno newline at the end"
)


def markdown(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.md") if "cache" not in p.parts}


def test_death_at_every_file_operation_of_an_undo(tmp_path: Path) -> None:
    die_at, seen = 0, set()
    while True:
        die_at += 1
        root = tmp_path / str(die_at)
        store = MarkdownStore(StoreLayout(str(root), "p", "p"))
        path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "ours"))
        path.parent.mkdir(parents=True)
        path.write_bytes(PERSON)
        remember(store, "Something else", (), MemoryScope.PROJECT, "workflow")
        old = markdown(root)
        forget(
            store, [r.ref for r in store.snapshot().records if r.summary in ("Two", "Three")], delete=False
        )
        new = markdown(root)
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(root), str(die_at)], capture_output=True, text=True, check=False
        )
        snapshot = store.snapshot()
        assert not snapshot.problems
        assert not snapshot.has_edits
        found = markdown(root)
        assert found in (old, new), die_at
        seen.add(found == old)
        if done.returncode == 0:
            assert found == old
            break
        assert done.returncode == 99, done.stderr
    assert seen == {True, False}
    assert die_at > 20
