"""A store of the TypeScript cam: every record is read, ids stay, and there is a way back."""

import shutil
from pathlib import Path

import pytest

from cam.core.errors import NotFoundError
from cam.core.records import MemoryScope, MemoryState
from cam.memory.flow import remember
from cam.setup.care import restore_ts
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.predecessor import backups, is_predecessors
from cam.store.verify import verify

GOLDEN = Path(__file__).parents[2] / "golden" / "ts-store" / "home" / ".codex-auto-memory"
PROJECT = "shop-a064ce9bbf9b"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "store"))


def store(root: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(root), PROJECT, PROJECT))


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_every_record_is_read_and_reading_writes_nothing(root: Path) -> None:
    before = tree(root)
    snapshot = store(root).snapshot()
    assert snapshot.problems == ()
    assert sorted(str(r.ref) for r in snapshot.records) == [
        "global:active:workflow:prefer-small-pull-requests",
        "project-local:active:debugging:api-port-is-5001-in-this-worktree",
        "project:active:architecture:the-billing-service-owns-the-invoices-table-other-services-read-",
        "project:active:commands:pnpm-build",
        "project:active:commands:run-pnpm-vitest-run-for-the-unit-tests",
        "project:active:debugging:database-migrations-live-in-db-migrations",
        "project:active:preferences:use-pnpm-not-npm-in-this-repository",
        "project:active:workflow:memory-entry",
        "project:archived:workflow:staging-deploys-run-from-main",
    ]
    chinese = next(r for r in snapshot.records if r.id == "memory-entry")
    assert chinese.summary == "发布前要先跑一遍冒烟用例。"
    assert tree(root) == before
    assert is_predecessors(str(root))


def test_the_first_write_keeps_a_copy_and_the_way_back_gives_it(root: Path) -> None:
    before = tree(root)
    remember(store(root), "Deploys run on Tuesdays", [], MemoryScope.PROJECT, "workflow")
    remember(store(root), "Lint first", [], MemoryScope.GLOBAL, "workflow")
    (copy,) = backups(str(root))
    assert tree(Path(copy)) == before
    assert root.stat().st_mode & 0o077 == 0
    assert (root / "projects" / PROJECT / "project" / "workflow.md").read_text().count("cam:entry") == 1
    assert verify(str(root)).problems == ()
    written = {path: data for path, data in tree(root).items() if path.startswith(("global/", "projects/"))}
    done = restore_ts(str(root))
    now = {
        path: data for path, data in tree(root).items()
        if not path.startswith((".lock", "backup", "replaced", "cache", "journal"))
    }  # fmt: skip
    assert now == before
    aside = tree(Path(done.aside))
    assert {path: aside[path] for path in written} == written
    assert len(store(root).snapshot().records) == 9
    restore_ts(str(root))  # and once more: nothing more is lost
    assert len(store(root).snapshot().records) == 9
    remember(store(root), "Deploys run on Tuesdays", [], MemoryScope.PROJECT, "workflow")
    assert len(backups(str(root))) == 1
    assert verify(str(root)).problems == ()


def test_only_the_predecessors_store_is_copied(tmp_path: Path) -> None:
    own = MarkdownStore(StoreLayout(str(tmp_path / "own"), "p", "p"))
    remember(own, "Deploys run on Tuesdays", [], MemoryScope.PROJECT, "workflow")
    assert backups(own.layout.root) == []
    with pytest.raises(NotFoundError):
        restore_ts(own.layout.root)
    with pytest.raises(NotFoundError):
        restore_ts(str(tmp_path / "nothing"))
    assert not (tmp_path / "nothing").exists()


def test_records_that_it_broke_are_rescued_and_reported(root: Path) -> None:
    topic = root / "projects" / PROJECT / "project" / "patterns.md"
    head = '"scope":"project","updatedAt":"2026-05-01T10:00:00.000Z","sources":["manual"]'
    topic.write_text(
        "# Patterns\n\n<!-- cam:topic patterns -->\n\n"
        f'## two-lines\n<!-- cam:entry {{"id":"two-lines",{head}}} -->\n'
        "Summary: Use the builder\nfor every fixture\nDetails:\n- Use the builder\nfor every fixture\n\n"
        f'## next-id\n<!-- cam:entry {{"id":"next-id",{head}}} -->\n'
        "Summary: Keep it small\nDetails:\n- Keep it small\n\n"
        f'## lost\n<!-- cam:entry {{"id":"lost",{head}}} -->\nnone\n'
    )
    root.chmod(0o700)
    snapshot = store(root).snapshot()
    found = {r.id: r for r in snapshot.records if r.topic == "patterns" and r.state is MemoryState.ACTIVE}
    assert found["two-lines"].summary == "Use the builder"
    assert "for every fixture" in found["two-lines"].details
    assert found["next-id"].summary == "Keep it small"
    report = verify(str(root))
    assert [(p.path, p.line) for p in report.problems] == [(str(topic), 19)]
    assert [(n.path, n.line) for n in report.notes] == [(str(topic), 7)]
    assert "several lines" in report.notes[0].reason
