"""A process that dies at any file operation of a write leaves the old state or the new one, whole."""

import os
import subprocess
import sys
from pathlib import Path

from cam.core.records import MemoryScope, MemoryState
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore

CHILD = """
import os, sys
from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope
from cam.core.seams import Attachment
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact


root, die_at = sys.argv[1], int(sys.argv[2])
count = 0

def audit(event, args):
    global count
    watched = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "cam.rename")
    if event in watched and root in str(args[0]):
        count += 1
        if count == die_at:
            os._exit(99)

at = "2026-11-30T10:00:00.000Z"
old = MemoryRecord(MemoryScope.PROJECT, "workflow", "old", "Deploy on Mondays", created_at=at, updated_at=at)
new = MemoryRecord(MemoryScope.PROJECT, "workflow", "new", "Deploy on Tuesdays", created_at=at, updated_at=at)
other = MemoryRecord(MemoryScope.GLOBAL, "preferences", "p", "Answer in German", created_at=at, updated_at=at)
operations = [
    MemoryOperation(OperationKind.ADD, new, "said"),
    MemoryOperation(OperationKind.ADD, other, "said"),
    MemoryOperation(OperationKind.ARCHIVE, old.archived("replaced", at), "corrected"),
]
store = MarkdownStore(StoreLayout(root, "p", "p"))
if die_at == 0:
    operations = [MemoryOperation(OperationKind.ADD, old, "said")]
sys.addaudithook(audit)
attachment = Attachment((("projects/p/audit/sync-log.jsonl", '{"n":%d}' % die_at),))
transact(store, lambda snapshot: (build_plan(operations, snapshot.records), attachment))
print(count)
"""

OLD = {"project:active:workflow:old"}
NEW = {"project:archived:workflow:old", "project:active:workflow:new", "global:active:preferences:p"}


def run(root: Path, die_at: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(root), str(die_at)], capture_output=True, text=True, check=False
    )


def test_death_at_every_file_operation(tmp_path: Path) -> None:
    die_at, seen = 0, set()
    while True:
        die_at += 1
        root = tmp_path / str(die_at)
        assert run(root, 0).returncode == 0
        done = run(root, die_at)
        store = MarkdownStore(StoreLayout(str(root), "p", "p"))
        snapshot = store.snapshot()
        refs = {str(r.ref) for r in snapshot.records}
        assert not snapshot.problems
        assert refs in (OLD, NEW), die_at
        is_new = refs == NEW
        seen.add(is_new)
        history = [e.ref for scope in store.layout.scopes for e in store.history(scope)]
        assert len(history) == (4 if is_new else 1), die_at
        audit = root / "projects/p/audit/sync-log.jsonl"
        assert audit.read_text().count("\n") == (2 if is_new else 1)
        index = Path(store.layout.index_file(MemoryScope.PROJECT)).read_text()
        assert "[workflow](workflow.md): 1 record" in index
        assert not os.listdir(store.layout.journal_folder)
        again = transact_again(store)
        assert again
        if done.returncode == 0:
            break
        assert done.returncode == 99
    assert seen == {True, False}
    assert die_at > 20


def transact_again(store: MarkdownStore) -> bool:
    """The store still takes writes, and what was staged and not used is in nobody's way."""
    path = store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow")
    folder = os.path.dirname(path)
    assert store.is_writable() == ""
    return all(name.endswith((".md", ".jsonl", ".tmp", "archive")) for name in os.listdir(folder))
