"""Save, refresh, clear: which session, which files, and what stays."""

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cam.continuity.flow import clear, save, save_after_session, status, undo_clear
from cam.continuity.start import open_continuity, start_lines
from cam.core.errors import CamError, InvalidInputError, NotFoundError, WriteRefusedError
from cam.core.settings import Layer, Settings, merge_settings
from cam.store.continuity import ContinuityStore, Marker
from cam.store.identity import Project, resolve_project
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.sessions import CodexSessions


@dataclass
class Box:
    """A home with a Codex home, a repository and a store."""

    home: Path
    repo: Path

    @property
    def project(self) -> Project:
        found = resolve_project(str(self.repo), str(self.home))
        assert found is not None
        return found

    @property
    def memory(self) -> MarkdownStore:
        return MarkdownStore(StoreLayout(str(self.home / "store"), self.project.id, self.project.worktree))

    def settings(self, **values: Any) -> Settings:
        return merge_settings((Layer("flag", values, {}),))

    def store(self, **values: Any) -> ContinuityStore:
        return open_continuity(self.memory, self.project, self.settings(**values))

    @property
    def sessions(self) -> CodexSessions:
        return CodexSessions(str(self.home / ".codex"))

    def said(self, name: str, *texts: str, cwd: Path | None = None, at: str = "10", **header: Any) -> str:
        """A session in which both speak in turn; its rollout's path."""
        folder = self.home / ".codex/sessions/2026/11/30"
        folder.mkdir(parents=True, exist_ok=True)
        payload = {"id": name, "cwd": str(cwd or self.repo), "cli_version": "0.171.0", "source": "cli"}
        payload |= {"history_mode": "paginated", "timestamp": f"2026-11-30T{at}:00:00.000Z"} | header
        lines: list[dict[str, Any]] = [{"type": "session_meta", "payload": payload}]
        for n, text in enumerate(texts):
            role, kind = (("user", "input_text"), ("assistant", "output_text"))[n % 2]
            item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
            lines.append({"type": "response_item", "payload": item})
        path = folder / f"rollout-2026-11-30T{at}-00-00-{name}.jsonl"
        stamped = (
            {"timestamp": f"2026-11-30T{at}:00:00.000Z", "ordinal": n, **x} for n, x in enumerate(lines)
        )
        path.write_text("".join(json.dumps(line) + "\n" for line in stamped), encoding="utf-8")
        return str(path)

    def save(self, **more: Any) -> Any:
        return save(self.store(), self.sessions, self.settings(), str(self.home), **more)

    def after(self, **values: Any) -> Any:
        return save_after_session(
            self.memory, self.sessions, self.project, self.settings(**values), str(self.home), since=0
        )

    def left(self, **more: Any) -> list[str]:
        """Sessions that are saved where no session was wrapped."""
        saved = save_after_session(
            self.memory, self.sessions, self.project, self.settings(), str(self.home), since=None, **more
        )
        return [s.meta.session for s in saved]

    def lines(self, **values: Any) -> tuple[str, ...]:
        return start_lines(self.memory, self.project, self.settings(**values))

    @property
    def local(self) -> Path:
        return self.repo / ".codex-auto-memory/sessions/active.md"


def git(folder: Path, *arguments: str) -> str:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *arguments]
    return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def box(tmp_path: Path) -> Box:
    repo = tmp_path / "shop"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    git(repo, "commit", "-q", "--allow-empty", "-m", "start")
    return Box(tmp_path, repo)


FIRST = (
    "Add paging to the orders list",
    "Paging works.\n\nNext steps:\n- add an index\n- describe it in docs/api.md",
)
LINES = ("Goal: Add paging to the orders list", "Next: describe it in docs/api.md", "Next: add an index")


def test_a_session_is_saved_and_told(box: Box) -> None:
    box.said("s1", *FIRST)
    (saved,) = box.after()
    assert len(saved.written) == 2
    assert box.lines() == LINES
    assert git(box.repo, "status", "--porcelain") == ""
    assert box.after()[0].written == ()  # nothing is new, nothing is written
    assert len(box.store().audit()) == 1


@pytest.mark.parametrize("setting", ["manual", "off"])
def test_what_is_not_wanted_is_not_done(box: Box, setting: str) -> None:
    box.said("s1", *FIRST)
    assert box.after(session_continuity=setting) == ()
    assert not (box.home / "store").exists()
    box.save()
    assert box.lines(session_continuity=setting) == ()
    if setting == "off":
        with pytest.raises(WriteRefusedError):
            save(box.store(), box.sessions, box.settings(session_continuity="off"), str(box.home))


def test_a_question_does_not_replace_the_goal_and_a_task_does(box: Box) -> None:
    box.said("s1", *FIRST)
    box.save()
    box.said("s2", "Why do we use UUIDs for orders?", "They can be made anywhere.", at="11")
    box.save()
    assert box.lines() == LINES
    box.said("s3", "Write the release notes", "Written.", at="12")
    box.save()
    assert box.lines()[0] == "Goal: Write the release notes"
    assert set(box.lines()[1:]) == set(LINES[1:])


def test_refresh_replaces_and_keeps_what_people_added(box: Box) -> None:
    box.said("s1", *FIRST)
    box.save()
    path = Path(box.store().project_file)
    path.write_text(
        path.read_text().replace("- add an index\n", "- add an index\n- ask Ann\n") + "\n## Mine\nKeep.\n"
    )
    box.said("s2", "Write the release notes", "Done. Remaining: tag it.", at="11")
    box.save(refresh=True, rollout=box.sessions.find("s2").path)  # type: ignore[union-attr]
    text = path.read_text()
    assert "- ask Ann\n" in text
    assert "- add an index" not in text
    assert text.endswith("\n## Mine\nKeep.\n")
    assert box.lines() == (
        "Goal: Write the release notes", "Next: tag it", "Next: ask Ann", "Mine: Keep.",
    )  # fmt: skip


def test_what_a_person_took_out_does_not_come_back_from_the_same_session(box: Box) -> None:
    box.said("s1", *FIRST)
    box.save()
    path = Path(box.store().project_file)
    path.write_text(path.read_text().replace("- add an index\n", ""))
    box.said("s1", *FIRST, "go on", "Still to do: translate the labels.")
    box.save()
    assert "add an index" not in path.read_text()
    assert "translate the labels" in path.read_text()
    box.save()
    assert "add an index" not in path.read_text()


def test_one_scope_leaves_the_other_alone(box: Box) -> None:
    box.said("s1", *FIRST)
    box.save(scope="project")
    assert not box.local.exists()
    assert ".codex-auto-memory" not in (box.repo / ".git/info/exclude").read_text()
    box.save(scope="project-local")
    assert box.lines() == LINES


def test_outside_git_nothing_is_written_into_the_folder_unless_asked(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    box = Box(tmp_path, plain)
    box.said("s1", *FIRST)
    box.after()
    assert list(plain.iterdir()) == []
    assert set(box.lines()) == set(LINES)
    box.save(scope="both")
    assert box.local.exists()


def test_worktrees_share_the_projects_layer(box: Box, tmp_path: Path) -> None:
    other = Box(tmp_path, tmp_path / "other")
    git(box.repo, "worktree", "add", "-q", str(other.repo))
    box.said("s1", *FIRST)
    box.after()
    assert other.lines() == ("Goal: Add paging to the orders list", "Next: add an index")
    other.said("s2", "Fix the broken link in docs/intro.md", "Fixed.", cwd=other.repo, at="11")
    other.after()
    assert git(other.repo, "status", "--porcelain") == ""
    assert other.lines()[0] == "Goal: Fix the broken link in docs/intro.md"
    assert box.lines() == LINES


def test_a_goal_that_moves_to_the_other_layer_leaves_no_copy(box: Box) -> None:
    box.said("s1", *FIRST)
    box.save()
    box.said("s2", "Rename helper.py to tools.py", "Renamed.", at="11")
    box.save()
    assert [la.state.goal for la in box.store().read()] == ["", "Rename helper.py to tools.py"]
    box.said("s3", "Write the release notes", "Written.", at="12")
    box.save()
    assert [la.state.goal for la in box.store().read()] == ["Write the release notes", ""]


def test_sub_agents_are_looked_at_and_never_saved(box: Box) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "s0", "depth": 1}}}
    path = box.said("s1", *FIRST, source=spawned)
    with pytest.raises(NotFoundError):
        box.save()
    saved = box.save(rollout=path)
    assert saved.persisted is False
    assert saved.summary.state.goal == "Add paging to the orders list"
    assert not (box.home / "store").exists()
    assert box.after() == ()


def test_which_session_is_taken(box: Box, tmp_path: Path) -> None:
    one = box.said("s1", *FIRST)
    box.save()
    two = box.said("s2", "Write the release notes", "Written.", at="11")
    assert box.save(refresh=True).meta.path == one  # what was saved last
    assert box.save().meta.path == two  # the latest
    other = tmp_path / "elsewhere"
    other.mkdir()
    foreign = box.said("s3", "Something else", "ok", cwd=other, at="12")
    assert box.save().meta.path == two
    with pytest.raises(InvalidInputError, match="belongs to another project"):
        box.save(rollout=foreign)
    with pytest.raises(NotFoundError):
        box.save(rollout="/no/such/file")
    box.store().set_marker(Marker("summary-write", "project", "w", "s1", one, "x", "disk full"))
    assert box.save(scope="project-local").meta.path == two  # the marker does not fit
    saved = box.save()
    assert (saved.meta.path, saved.chosen) == (one, "marker")
    assert box.store().marker() is None


def test_a_refused_write_leaves_a_marker_that_the_next_run_acts_on(box: Box) -> None:
    box.said("s1", *FIRST)
    (box.repo / ".codex-auto-memory").write_text("in the way")
    with pytest.raises(CamError):
        box.after()
    marker = box.store().marker()
    assert marker is not None
    assert (marker.stage, marker.session) == ("summary-write", "s1")
    assert not os.path.exists(box.store().project_file)
    assert status(box.store(), box.settings()).marker == marker
    (box.repo / ".codex-auto-memory").unlink()
    box.said("s2", "thanks", "ok", at="11")
    assert [s.meta.session for s in box.after()] == ["s1", "s2"]
    assert box.store().marker() is None
    assert box.lines() == LINES


def test_the_newest_session_that_nobody_saved_is_saved_once(box: Box) -> None:
    for n, name in enumerate(("s1", "s2")):
        path = box.said(name, f"Add {name} to the menu", "Half of it is in.", at=f"1{n}")
        os.utime(path, (time.time() - 100 + n, time.time() - 100 + n))
    assert box.left(running={"s2"}) == ["s1"]  # its own wrapper saves s2
    assert box.left() == ["s2"]
    assert box.lines()[0] == "Goal: Add s2 to the menu"
    assert box.left() == []
    path = box.said("s2", "Add s2 to the menu", "Half of it is in.", "And to the footer", "Done.", at="11")
    assert box.left() == ["s2"]  # it went on
    clear(box.store(), "both")
    assert box.left() == []


def test_before_what_a_run_leaves_stands_what_was_never_saved(box: Box) -> None:
    path = box.said("killed", "Build the importer", "Next steps:\n- write the mapping page")
    os.utime(path, (time.time() - 100, time.time() - 100))
    began = time.time() - 2
    box.said("own", "thanks", "You're welcome.", at="12")
    saved = save_after_session(
        box.memory, box.sessions, box.project, box.settings(), str(box.home), since=began
    )
    assert [(s.meta.session, s.chosen) for s in saved] == [("killed", "unseen"), ("own", "latest")]
    assert box.lines()[:2] == ("Goal: Build the importer", "Next: write the mapping page")


def test_nobody_stopped_where_a_session_is_older_than_two_weeks(box: Box) -> None:
    path = box.said("old", "Build the importer", "Half of it is in.")
    os.utime(path, (time.time() - 15 * 86400, time.time() - 15 * 86400))
    assert box.left() == []


def test_a_marker_whose_session_is_gone_is_dropped(box: Box) -> None:
    box.said("s1", *FIRST)
    box.store().set_marker(Marker("summary-write", "both", "w", "s0", "/gone.jsonl", "x", "y"))
    assert [s.meta.session for s in box.after()] == ["s1"]
    assert box.store().marker() is None


def test_an_audit_line_that_cannot_be_written_is_marked(box: Box) -> None:
    box.said("s1", *FIRST)
    os.makedirs(box.store().audit_file)
    with pytest.raises(CamError):
        box.save()
    marker = box.store().marker()
    assert marker is not None
    assert (marker.stage, len(marker.written)) == ("audit-write", 2)
    assert box.lines() == LINES


def test_clear_and_back(box: Box) -> None:
    box.said("s1", *FIRST)
    box.save()
    before = {p: Path(p).read_bytes() for p in (box.store().project_file, str(box.local))}
    assert set(clear(box.store(), "both").files) == set(before)
    assert box.lines() == ()
    assert clear(box.store(), "both").files == ()
    assert set(undo_clear(box.store()).files) == set(before)
    assert {p: Path(p).read_bytes() for p in before} == before
    with pytest.raises(NotFoundError):
        undo_clear(box.store())


def test_undo_after_a_new_save_changes_places_with_it(box: Box) -> None:
    box.said("s1", *FIRST)
    box.save()
    clear(box.store(), "both")
    box.said("s2", "Write the release notes", "Written.", at="11")
    box.save()
    undo_clear(box.store())
    assert box.lines() == LINES
    undo_clear(box.store())
    assert box.lines()[0] == "Goal: Write the release notes"


def test_the_claude_style_takes_the_newest_file(box: Box) -> None:
    folder = box.repo / ".claude/sessions"
    folder.mkdir(parents=True)
    old = folder / "2026-11-01-abcdefgh-session.tmp"
    old.write_text("# Session Continuity\n\n## Incomplete / Next\n- an old step\n\n## Mine\nhello\n")
    box.said("s1", *FIRST)
    settings = box.settings(session_continuity_path_style="claude")
    store = box.store(session_continuity_path_style="claude")
    saved = save(store, box.sessions, settings, str(box.home))
    (new,) = [p for p in saved.written if ".claude" in p]
    assert old.read_text().startswith("# Session Continuity")
    assert "an old step" in Path(new).read_text()
    assert "## Mine\nhello\n" in Path(new).read_text()
    assert git(box.repo, "status", "--porcelain") == ""
    assert len(clear(store, "project-local").files) == 2
    assert list(folder.iterdir()) == []


def test_turns_of_another_project_do_not_count(box: Box, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    path = Path(box.said("s1", *FIRST))
    turn = {"type": "turn_context", "payload": {"cwd": str(other)}}
    words = [{"type": "input_text", "text": "Write a poem about the sea"}]
    message = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": words}}
    with path.open("a") as file:
        file.write(json.dumps(turn) + "\n" + json.dumps(message) + "\n")
    box.save()
    assert box.lines() == LINES


def test_where_there_is_no_project(box: Box) -> None:
    assert start_lines(box.memory, None, box.settings()) == ()
    with pytest.raises(InvalidInputError):
        open_continuity(box.memory, None, box.settings())


def test_the_predecessors_files_load_and_what_it_wrote_stays_on_save(box: Box) -> None:
    golden = Path(__file__).parents[2] / "golden/ts-store"
    (shared,) = golden.rglob("continuity/project/active.md")
    (local,) = golden.rglob(".codex-auto-memory/sessions/active.md")
    project_file = Path(box.store().project_file)
    for source, place in ((shared, project_file), (local, box.local)):
        place.parent.mkdir(parents=True)
        place.write_bytes(source.read_bytes())
    assert box.lines() == (
        "Goal: Remember that database migrations live in db/migrations.",
        "Next: add the index on orders.created_at.",
        "Works: Command succeeded: `pnpm build`",
        "Note: Remember that database migrations live in db/migrations.",
    )
    box.said("s1", "Write the release notes", "Written. Remaining: tag the release.")
    box.save()
    assert set(box.lines()) == {
        "Goal: Write the release notes",
        "Next: tag the release",
        "Next: add the index on orders.created_at.",
        "Works: Command succeeded: `pnpm build`",
        "Note: Remember that database migrations live in db/migrations.",
    }
    assert "sourceSessionId: s1\n" in project_file.read_text()
