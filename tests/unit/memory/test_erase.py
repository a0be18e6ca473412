"""``forget --erase``: not one byte is left in the store, and a session read again brings nothing back."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from cam.core.errors import IntegrityError, NotFoundError, WriteRefusedError
from cam.core.records import MemoryRef, MemoryScope, MemoryState
from cam.core.tombstones import tombstone_key
from cam.memory.carry import import_memory
from cam.memory.erase import Erased, erase
from cam.memory.flow import forget, remember, undo
from cam.startup.ledger import write_ledger
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.tombstones import read_tombstones
from cam.store.verify import verify

WORD = "tulip-mango-77"
FACT = f"The gate opens with {WORD}, Ada's choice"


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))


def ref_of(store: MarkdownStore, text: str) -> MemoryRef:
    return next(r.ref for r in store.snapshot().records if text in r.text)


def gone(store: MarkdownStore, tmp_path: Path, refs: Sequence[MemoryRef]) -> Erased:
    return erase(store, refs, str(tmp_path / "codex"))


def held(store: MarkdownStore, *words: str) -> list[str]:
    """Files of the store that hold one of the words, whatever their case, in names too."""
    root = Path(store.layout.root)
    found = []
    for path in root.rglob("*"):
        data = str(path.relative_to(root)).encode() + (path.read_bytes() if path.is_file() else b"")
        low = data.lower()
        if any(word.lower().encode(code) in low for word in words for code in ("utf-8", "utf-16-le")):
            found.append(str(path))
    return found


def test_every_byte(store: MarkdownStore, tmp_path: Path) -> None:
    root = Path(store.layout.root)
    remember(store, FACT, ["the hinge squeaks on Sundays"], MemoryScope.PROJECT, "workflow")
    remember(store, FACT, [], MemoryScope.GLOBAL, "reference")
    remember(store, "Lint before you push", [], MemoryScope.PROJECT, "workflow")
    ref = ref_of(store, "hinge")
    forget(store, [ref], delete=False)
    undo(store)
    folder = root / "projects" / "shop-1"
    (folder / "audit" / "review.jsonl").write_text(
        json.dumps({"waiting": [{"text": FACT}, {"text": "other"}]}) + "\n"
    )
    runs = root / "cache" / "runs" / "1-ab"
    runs.mkdir(parents=True)
    (runs / "run.json").write_text(json.dumps({"text": f"- [project/workflow] {FACT}"}))
    (runs / "other.json").write_text("{}")
    write_ledger(str(root / "cache"), "s1", {"project:workflow:x": ["d", f"- {FACT}"]})
    write_ledger(str(root / "cache"), "s2", {"project:workflow:y": ["d", "- other"]})
    (root / "cache" / "receipts.jsonl").write_text(
        json.dumps({"refs": [f"project:{ref.topic}:{ref.id}"]}) + "\n"
    )
    (root / "cache" / "search.idx").write_bytes(b"\0gate\0" + WORD.encode() + b"\0")
    (root / "cache" / "broken-1.json").write_text('{"changes": [[null, {"summary": "' + FACT)
    (root / "journal" / "t1.json.9.tmp").write_text(FACT)
    (folder / "project" / ".workflow.md.1.tmp").write_text(FACT)
    shutil.copytree(folder, root / "backup" / "20260101T000000" / "shop-1")
    shutil.copytree(root / "global", root / "backup-ts-20260101T000000" / "global")
    (folder / "continuity" / "project").mkdir(parents=True)
    (folder / "continuity" / "project" / "active.md").write_text(f"## Goal\n| try {WORD} at the gate\n")
    other = MarkdownStore(StoreLayout(str(root), "else-2", "else-2"))
    remember(other, f"{FACT}, and the door too", ["kept"], MemoryScope.PROJECT, "workflow")
    index = Path(store.layout.index_file(MemoryScope.PROJECT))
    index.write_text(index.read_text() + f"\nMy note: {WORD}\nand another\n")
    done = gone(store, tmp_path, [ref])
    assert held(store, WORD, "hinge", "Ada's choice") == []
    assert done.left == ()
    assert {r.summary for r in store.snapshot().records} == {"Lint before you push"}
    assert [(r.summary, r.details) for r in other.snapshot().records] == [
        ("[erased], and the door too", ("kept",))
    ]
    assert "and another" in index.read_text()
    assert (runs / "other.json").exists()
    assert "other" in (folder / "audit" / "review.jsonl").read_text()
    assert verify(str(root)).problems == ()
    assert store.history(MemoryScope.PROJECT)  # the others' events stay


def test_it_does_not_come_back(store: MarkdownStore, tmp_path: Path) -> None:
    remember(store, FACT, [], MemoryScope.PROJECT, "workflow")
    gone(store, tmp_path, [ref_of(store, WORD)])
    dead = read_tombstones(store)
    assert tombstone_key(FACT) in dead
    assert dead.is_erased(tombstone_key(FACT.upper()))
    assert dead[tombstone_key(FACT)] > "2020"
    assert tombstone_key("Lint") not in dead
    file = tmp_path / "list.json"
    file.write_text(json.dumps([{"summary": FACT}, {"summary": "Lint first"}]))
    done = import_memory(store, str(file), MemoryScope.PROJECT)
    assert (len(done.plan.changes), done.decided.refused) == (1, 1)
    assert held(store, WORD) == []


def test_what_was_deleted_before_can_still_be_erased(store: MarkdownStore, tmp_path: Path) -> None:
    remember(store, FACT, [], MemoryScope.PROJECT, "workflow")
    ref = ref_of(store, WORD)
    forget(store, [ref], delete=True)
    assert held(store, WORD)
    gone(store, tmp_path, [ref])
    assert held(store, WORD) == []
    with pytest.raises(NotFoundError):
        gone(store, tmp_path, [ref])


def test_links_to_it_and_reasons(store: MarkdownStore, tmp_path: Path) -> None:
    remember(store, "The gate code is summer-2025-x", [], MemoryScope.PROJECT, "workflow")
    remember(store, "The gate code is winter-2026-y", [], MemoryScope.PROJECT, "workflow")
    remember(store, "Use npm for everything", [], MemoryScope.PROJECT, "commands")
    path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "commands"))
    ref = ref_of(store, "winter")
    path.write_text(path.read_text().replace('"sources"', f'"related": ["workflow:{ref.id}"], "sources"'))
    gone(store, tmp_path, [ref])
    assert held(store, "winter-2026-y") == []
    assert all(r.related == () for r in store.snapshot().records)


def test_a_short_text_takes_nothing_else_along(store: MarkdownStore, tmp_path: Path) -> None:
    remember(store, "tabs", [], MemoryScope.PROJECT, "preferences")
    remember(store, "Use tabs in Go files", [], MemoryScope.PROJECT, "preferences")
    done = gone(store, tmp_path, [next(r.ref for r in store.snapshot().records if r.summary == "tabs")])
    assert [r.summary for r in store.snapshot().records] == ["Use tabs in Go files"]
    assert done.others == ()
    undo(store)
    assert store.snapshot().records == ()


def test_others_that_share_a_word_are_named_and_kept(store: MarkdownStore, tmp_path: Path) -> None:
    remember(store, "Ports of service-v2 are 5001 and 5002", [], MemoryScope.PROJECT, "reference")
    remember(store, "Restart service-v2 on Mondays", [], MemoryScope.PROJECT, "workflow")
    done = gone(store, tmp_path, [ref_of(store, "Ports")])
    assert [r.summary for r in store.snapshot().records] == ["Restart service-v2 on Mondays"]
    assert len(done.words_left) == 1
    events = store.history(MemoryScope.PROJECT)
    assert any(e.after and e.after.summary == "Restart service-v2 on Mondays" for e in events)


def test_other_scripts_and_odd_characters(store: MarkdownStore, tmp_path: Path) -> None:
    text = 'Das Tor öffnet "Šípková--růže" – 密码是五月的风 \u2028 end'
    remember(store, text, [], MemoryScope.PROJECT, "workflow")
    gone(store, tmp_path, [ref_of(store, "Tor")])
    assert held(store, "Šípková", "密码是五月的风", "\\u5bc6\\u7801") == []


def test_rollouts_are_named_and_not_touched(store: MarkdownStore, tmp_path: Path) -> None:
    folder = tmp_path / "codex" / "sessions" / "2026" / "01" / "01"
    folder.mkdir(parents=True)
    name = "rollout-2026-01-01T00-00-0{0}-019caf00-0000-7000-8000-00000000000{0}.jsonl"
    paths = [folder / name.format(n) for n in (1, 2)]
    paths[0].write_text(json.dumps({"text": f"remember: {FACT.upper()}"}) + "\n")
    paths[1].write_text(json.dumps({"text": "hello"}) + "\n")
    before = [p.read_bytes() for p in paths]
    remember(store, FACT, [], MemoryScope.PROJECT, "workflow")
    done = gone(store, tmp_path, [ref_of(store, WORD)])
    assert done.rollouts == (str(paths[0]),)
    assert [p.read_bytes() for p in paths] == before


def git(root: str, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", root, *who, *words], check=True, capture_output=True)


def test_a_git_history_that_holds_it_refuses(store: MarkdownStore, tmp_path: Path) -> None:
    root = store.layout.root
    remember(store, "Lint before you push", [], MemoryScope.PROJECT, "workflow")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    remember(store, FACT, [], MemoryScope.PROJECT, "workflow")
    gone(store, tmp_path, [ref_of(store, WORD)])  # the history never saw it
    remember(store, FACT, ["again"], MemoryScope.PROJECT, "workflow")
    git(root, "add", "-A")
    with pytest.raises(WriteRefusedError, match="filter-repo"):
        gone(store, tmp_path, [ref_of(store, WORD)])  # staged is enough
    git(root, "commit", "-q", "-m", "second")
    forget(store, [ref_of(store, WORD)], delete=True)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "third")
    before = held(store, "again")
    gone_events = (e for e in store.history(MemoryScope.PROJECT) if e.before and WORD in e.before.summary)
    ref = MemoryRef.parse(next(gone_events).ref)
    with pytest.raises(WriteRefusedError, match=str(root)):
        gone(store, tmp_path, [ref])
    assert held(store, "again") == before


def test_a_crash_in_between_can_be_repeated(store: MarkdownStore, tmp_path: Path) -> None:

    remember(store, FACT, [], MemoryScope.PROJECT, "workflow")
    ref = ref_of(store, WORD)
    shadows = Path(store.layout.cache_file("shadow"))
    audit = Path(store.layout.audit_file)
    text = audit.read_bytes()
    audit.unlink()
    audit.mkdir()  # stands in the way of the last step
    shutil.rmtree(shadows)
    history = Path(store.layout.history_file(MemoryScope.PROJECT))
    events = history.read_bytes()
    with pytest.raises(IntegrityError):
        gone(store, tmp_path, [ref])
    audit.rmdir()
    audit.write_bytes(text)
    history.write_bytes(events)  # as if the process had died before
    gone(store, tmp_path, [ref])
    assert held(store, WORD) == []
