"""Sync: every session of the project once, whole or not at all, and nothing when there is nothing to do."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import zstandard

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.records import MemoryScope, MemoryState
from cam.formats.project_file import KnownProject
from cam.store.identity import Project, resolve_project
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.projects import write_project
from cam.store.sessions import CodexSessions
from cam.sync.flow import SyncRequest, pending_everywhere, sync_all, sync_project
from cam.sync.heuristic import HeuristicExtractor
from cam.sync.result import SyncReport

ROLLOUTS = Path(__file__).parents[2] / "data" / "rollouts"
RULE = "We always use pnpm here, never npm"


class Box:
    """A repository, a Codex home and a store."""

    def __init__(self, root: Path) -> None:
        self.root, self.repo, self.codex = root, root / "repo", root / "codex"
        self.repo.mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=self.repo, check=True)
        url = "https://git.example.com/acme/shop.git"
        subprocess.run(["git", "remote", "add", "origin", url], cwd=self.repo, check=True)
        project = resolve_project(str(self.repo), str(root))
        assert project is not None
        self.project: Project = project
        self.store = MarkdownStore(StoreLayout(str(root / "store"), project.id, project.worktree))
        self.count = 0

    def put(self, release: str, name: str, *, cwd: Path | None = None, lines: int | None = None) -> Path:
        """A captured session as if it had run in ``cwd`` (the repository)."""
        text = (ROLLOUTS / release / f"{name}.jsonl").read_text(encoding="utf-8")
        text = text.replace("/home/dev/shop", str(cwd or self.repo))
        if lines is not None:
            text = "".join(line + "\n" for line in text.split("\n")[:lines])
        first = json.loads(text.split("\n", 1)[0])
        session = (first.get("payload") or first)["id"]
        day = self.codex / "sessions" / "2026" / "11" / "30"
        day.mkdir(parents=True, exist_ok=True)
        self.count += 1
        path = day / f"rollout-2026-11-30T10-{self.count:02d}-00-{session}.jsonl"
        path.write_text(text, encoding="utf-8")
        return path

    def sessions(self) -> CodexSessions:
        return CodexSessions(str(self.codex), self.store.layout.cache_file("sessions.json"))

    def sync(self, project: Project | None = None, **how: object) -> SyncReport:
        return sync_project(
            self.store_of(project or self.project), self.sessions(), HeuristicExtractor(),
            project or self.project, str(self.root), SyncRequest(**how),  # type: ignore[arg-type]
        )  # fmt: skip

    def sync_all(self, **how: object) -> SyncReport:
        return sync_all(
            self.store.layout.root, self.sessions(), HeuristicExtractor(), str(self.root),
            SyncRequest(**how),  # type: ignore[arg-type]
        )  # fmt: skip

    def store_of(self, project: Project) -> MarkdownStore:
        return MarkdownStore(StoreLayout(self.store.layout.root, project.id, project.worktree))

    def another(self, name: str) -> Project:
        """Another repository."""
        (self.root / name).mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.root / name, check=True)
        project = resolve_project(str(self.root / name), str(self.root))
        assert project is not None
        return project

    def active(self, project: Project | None = None) -> list[str]:
        records = self.store_of(project or self.project).snapshot().records
        return [r.summary for r in records if r.state is MemoryState.ACTIVE]

    def tree(self) -> dict[str, bytes]:
        root = Path(self.store.layout.root)
        return {
            str(p.relative_to(root)): p.read_bytes()
            for p in root.rglob("*")
            if p.is_file() and not p.name.startswith(".lock") and "cache" not in p.parts
        }


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path / "box")


@pytest.mark.parametrize("release", ["0.20.0", "0.36.0", "0.98.0", "0.148.0", "0.171.0"])
def test_a_session_is_learned_once(box: Box, release: str) -> None:
    box.put(release, "package-manager")
    report = box.sync()
    assert [s.status for s in report.sessions] == ["synced"]
    assert any("pnpm" in text for text in box.active())
    before = box.tree()
    assert box.sync().sessions == ()
    assert box.tree() == before  # not a byte


def test_a_record_says_where_it_comes_from(box: Box) -> None:
    box.put("0.171.0", "package-manager")
    box.sync()
    record = next(r for r in box.store.snapshot().records if "pnpm" in r.summary)
    assert (record.sources[0].kind, record.sources[0].ordinal) == ("session", 1)
    (event,) = [e for e in box.store.history(record.scope) if e.after == record]
    assert event.quotes[0].session == record.sources[0].session
    assert "pnpm" in event.quotes[0].text
    audit = json.loads(Path(box.store.layout.audit_file).read_text().splitlines()[0])
    assert audit["session"] == record.sources[0].session
    assert audit["applied"][0]["ref"] == str(record.ref)


def test_a_dry_run_writes_nothing(box: Box) -> None:
    box.put("0.171.0", "package-manager")
    report = box.sync(dry_run=True)
    assert [s.status for s in report.sessions] == ["planned"]
    assert report.changes
    assert box.tree() == {}


def test_an_id_that_stands_twice_keeps_nothing_else_from_being_learned(box: Box) -> None:
    from cam.memory.flow import remember

    known = remember(box.store, "Run the tests with make test", (), MemoryScope.PROJECT, "commands").record
    topic = Path(box.store.layout.topic_file(known.scope, known.state, known.topic))
    text = re.sub(
        '"created": "[^"]+"', '"created": "2026-01-01T00:00:00.000Z"', topic.read_text(encoding="utf-8")
    )
    topic.write_text(f"{text}\n{text[text.index('## ') :]}", encoding="utf-8")
    box.put("0.171.0", "correction")
    planned = box.sync(dry_run=True)
    report = box.sync()
    assert [s.status for s in (*planned.sessions, *report.sessions)] == ["planned", "synced"]
    assert [c.ref for c in planned.changes] == [c.ref for c in report.changes]
    assert [n.record.key for n in report.sessions[0].plan.noops if "stands twice" in n.reason] == [known.key]
    (problem,) = report.sessions[0].problems
    assert (problem.path, known.id in problem.reason) == (str(topic), True)
    assert [text for text in box.active() if "make test" in text and "uv run" not in text] == [
        known.summary
    ] * 2
    assert any("uv run pytest" in text for text in box.active())


def test_a_session_that_grew_is_read_on(box: Box) -> None:
    whole = box.put("0.171.0", "correction")
    data = whole.read_bytes()
    first = data.split(b"\n")
    cut = next(i for i, line in enumerate(first) if b"that was the old repo" in line)
    whole.write_bytes(b"\n".join(first[:cut]) + b"\n")
    box.sync()
    assert not any("uv run pytest" in text for text in box.active())
    whole.write_bytes(data)
    box.sync()
    assert any("uv run pytest -q" in text for text in box.active())
    before = box.tree()
    box.sync(force=True)
    changed = {name for name, content in box.tree().items() if before.get(name) != content}
    assert {Path(name).name for name in changed} == {"sync-log.jsonl", "processed.jsonl"}


def test_losing_the_marks_adds_nothing_twice(box: Box) -> None:
    box.put("0.171.0", "package-manager")
    box.put("0.171.0", "chinese")
    box.sync()
    before = {k: v for k, v in box.tree().items() if k.endswith(".md")}
    shutil.rmtree(box.store.layout.audit_folder)
    box.sync()
    assert {k: v for k, v in box.tree().items() if k.endswith(".md")} == before


def test_what_a_person_took_out_stays_out(box: Box) -> None:
    from cam.memory.flow import forget

    box.put("0.171.0", "package-manager")
    box.sync()
    forget(box.store, [r.ref for r in box.store.snapshot().records], delete=True)
    shutil.rmtree(box.store.layout.audit_folder)
    box.sync()
    assert box.active() == []


def test_subagents_are_no_source_of_rules(box: Box) -> None:
    for path in sorted(ROLLOUTS.glob("0.1*/subagent.2.jsonl")):
        box.put(path.parent.name, "subagent.2")
    report = box.sync()
    assert {s.status for s in report.sessions} == {"skipped"}
    assert box.active() == []
    assert box.sync().sessions == ()


def test_other_projects_are_left_alone(box: Box, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    path = box.put("0.171.0", "package-manager", cwd=other)
    assert box.sync().sessions == ()
    with pytest.raises(InvalidInputError, match="belongs to another project"):
        box.sync(rollout=str(path))
    assert box.tree() == {}
    assert [s.status for s in box.sync(rollout=str(path), force_project=True).sessions] == ["synced"]


def test_a_nested_repository_is_not_the_project(box: Box) -> None:
    nested = box.repo / "vendor" / "tool"
    nested.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=nested, check=True)
    box.put("0.171.0", "package-manager", cwd=nested)
    assert box.sync().sessions == ()


def test_without_a_folder_the_remote_decides(box: Box) -> None:
    box.put("0.29.0", "package-manager")
    subprocess.run(
        ["git", "remote", "set-url", "origin", "https://else.example/x.git"], cwd=box.repo, check=True
    )
    assert box.sync().sessions == ()


def test_a_rollout_that_cannot_be_read_is_an_error_and_the_others_go_on(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = box.put("0.171.0", "package-manager")
    box.put("0.171.0", "remember-reference")
    sessions = CodexSessions(str(box.codex))
    read = sessions.read

    def failing(meta):  # type: ignore[no-untyped-def]
        if meta.path == str(bad):
            raise OSError(5, os.strerror(5))
        return read(meta)

    sessions.read = failing  # type: ignore[method-assign]
    report = sync_project(box.store, sessions, HeuristicExtractor(), box.project, str(box.root))
    assert [s.status for s in report.sessions] == ["failed", "synced"]
    assert "the disk reports an error" in report.sessions[0].error
    assert [s.status for s in box.sync().sessions] == ["synced"]  # tried again
    assert any("pnpm" in text for text in box.active())


def test_names_that_are_no_rollouts(box: Box, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        box.sync(rollout=str(tmp_path / "nothing.jsonl"))
    text = tmp_path / "notes.txt"
    text.write_text("hello\n")
    with pytest.raises(InvalidInputError, match="no rollout"):
        box.sync(rollout=str(text))


def test_in_the_home_folder_there_is_nothing_to_sync(box: Box) -> None:
    report = sync_project(
        MarkdownStore(StoreLayout(str(box.root / "store"))), CodexSessions(str(box.codex)),
        HeuristicExtractor(), None, str(box.root),
    )  # fmt: skip
    assert report.sessions == ()
    assert "there is no project here" in report.note


def moving(box: Box, there: Path, release: str = "0.171.0") -> Path:
    """A session that begins in the box's repository and goes on in another folder from its second turn on."""
    path = box.put(release, "correction")
    head, mark, rest = path.read_text(encoding="utf-8").partition('"type":"task_complete"')
    path.write_text(head + mark + rest.replace(str(box.repo), str(there)), encoding="utf-8")
    return path


def test_a_turn_belongs_to_the_project_it_ran_in(box: Box) -> None:
    other = box.another("other")
    moving(box, Path(other.root))
    box.sync()
    assert not any("uv run pytest" in text for text in box.active())
    assert box.active(other) == []
    box.sync(other)  # found by what the first reading noted
    assert any("uv run pytest -q" in text for text in box.active(other))
    assert not any("uv run pytest" in text for text in box.active())
    before = box.tree()
    assert box.sync().sessions == box.sync(other).sessions == ()
    assert box.tree() == before


def test_a_session_that_moves_here_while_nobody_reads_it_is_found_by_its_new_turns(box: Box) -> None:
    other = box.another("other")
    path = moving(box, Path(other.root))
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b'"type":"task_complete"')].rpartition(b"\n")[0] + b"\n")
    assert box.sync(other).sessions == ()
    with path.open("ab") as file:
        file.write(whole[path.stat().st_size :])
    assert [s.status for s in box.sync(other).sessions] == ["synced"]


def test_all_projects_each_into_its_own_memory(box: Box) -> None:
    other = box.another("other")
    moving(box, Path(other.root))
    box.put("0.171.0", "package-manager")
    box.put("0.98.0", "remember-reference", cwd=Path(other.root))
    box.put("0.171.0", "chinese", cwd=box.root / "gone")
    report = box.sync_all()
    assert {s.project for s in report.sessions} == {box.project.id, other.id}
    assert any("pnpm" in text for text in box.active())
    assert any("uv run pytest -q" in text for text in box.active(other))
    assert [m.cwd for m in report.unassigned] == [str(box.root / "gone")]
    before = box.tree()
    assert box.sync_all().sessions == ()
    assert box.tree() == before


def test_a_folder_that_is_gone_belongs_to_the_project_that_stood_there(box: Box) -> None:
    gone = box.root / "old-place"
    url = "https://else.example/x.git"
    subprocess.run(["git", "remote", "set-url", "origin", url], cwd=box.repo, check=True)
    box.put("0.171.0", "package-manager", cwd=gone / "packages")
    assert box.sync().sessions == ()
    write_project(
        box.store.layout.root,
        KnownProject(box.project.id, str(box.repo), former_roots=(str(gone),)),
    )
    assert [s.status for s in box.sync().sessions] == ["synced"]
    assert any("pnpm" in text for text in box.active())


def test_a_remote_that_two_projects_have_places_nothing(box: Box) -> None:
    box.put("0.29.0", "package-manager")
    twin = box.another("twin")
    remotes = ("https://git.example.com/acme/shop",)
    write_project(box.store.layout.root, KnownProject(twin.id, twin.root, remotes=remotes))
    assert box.sync().sessions == ()
    waiting, unassigned = pending_everywhere(
        box.store.layout.root, box.sessions(), str(box.root), here=box.project
    )
    assert (len(waiting), len(unassigned)) == (0, 1)


def test_since_a_time(box: Box) -> None:
    box.put("0.171.0", "package-manager")
    assert box.sync(since="2027-01-01T00:00:00.000Z").sessions == ()
    last = re.findall(rb'"timestamp":"([^"]*)"', box.put("0.171.0", "chinese").read_bytes())[-1].decode()
    assert len(box.sync(since=last).sessions) >= 1


@pytest.mark.parametrize("release", ["0.36.0", "0.98.0", "0.171.0"])
def test_the_same_words_in_another_file_change_nothing(box: Box, release: str) -> None:
    path = box.put(release, "correction")
    box.sync()
    before = box.tree()
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    path.unlink()
    box.sync()
    assert box.tree() == before
    archive = box.codex / "archived_sessions"
    archive.mkdir()
    packed.rename(archive / packed.name)
    box.sync()
    assert box.tree() == before
    assert box.sync().sessions == ()  # and is not read again


def test_subagents_are_not_even_read(box: Box) -> None:
    path = box.put("0.171.0", "subagent.2")
    with path.open("ab") as file:
        file.write(b"x" * 5_000_000)
    sessions = box.sessions()
    sessions.read = lambda _: pytest.fail("it was read")  # type: ignore[method-assign,assignment]
    report = sync_project(box.store, sessions, HeuristicExtractor(), box.project, str(box.root))
    assert [s.status for s in report.sessions] == ["skipped"]


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_worktrees_own_notes_go_to_the_worktree_it_ran_in(box: Box, everywhere: bool) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "x"],
        cwd=box.repo, check=True,
    )  # fmt: skip
    subprocess.run(["git", "worktree", "add", "-q", "../w2"], cwd=box.repo, check=True)
    linked = resolve_project(str(box.root / "w2"), str(box.root))
    assert linked is not None
    for cwd, release, port in ((box.root / "w2", "0.148.0", 5001), (box.repo, "0.98.0", 5002)):
        path = box.put(release, "package-manager", cwd=cwd)
        text = path.read_text(encoding="utf-8")
        assert RULE in text
        said = f"In this worktree only, the API runs on port {port}."
        path.write_text(re.sub(RULE + r"[^\"\\]*", said, text), encoding="utf-8")
    assert not (box.sync_all() if everywhere else box.sync()).failed
    for project, own, other in ((linked, "5001", "5002"), (box.project, "5002", "5001")):
        told = " ".join(box.active(project))
        assert own in told
        assert other not in told
