"""A repository that moved is recognised by what it is, never by its name, and takes its memory along."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cam.cli.entry import main as cam
from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.records import MemoryScope, MemoryState
from cam.formats.memory_index import counts_in_index
from cam.memory.erase import erase
from cam.memory.flow import forget, happened, remember, undo
from cam.memory.log import log
from cam.render.log import log_text
from cam.setup.projects import (
    list_projects,
    merge_projects,
    move_project,
    note_project,
    purge_project,
    recognise,
    show_project,
)
from cam.store.identity import Project, resolve_project
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.projects import read_project
from cam.store.verify import verify

REMOTE = "git@example.org:acme/shop.git"


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org", "-c",
         "protocol.file.allow=always", *words],
        check=True, capture_output=True,
    )  # fmt: skip


def repository(folder: Path, remote: str | None = REMOTE, message: str = "first") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


class Desk:
    """One store, seen from any folder."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)

    def project(self, folder: Path) -> Project:
        found = resolve_project(str(folder), "/nobody")
        assert found is not None
        return found

    def store(self, folder: Path) -> MarkdownStore:
        project = self.project(folder)
        return MarkdownStore(StoreLayout(self.root, project.id, project.worktree))

    def remember(self, folder: Path, text: str, scope: MemoryScope = MemoryScope.PROJECT) -> None:
        remember(self.store(folder), text, [], scope, "workflow")

    def note(self, folder: Path) -> None:
        note_project(self.root, self.project(folder))

    def texts(self, folder: Path) -> set[str]:
        return {r.summary for r in self.store(folder).snapshot().records if r.state is MemoryState.ACTIVE}

    def markdown(self, folder: Path) -> dict[str, bytes]:
        home = Path(self.root, "projects", self.project(folder).id)
        return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*.md"))}

    def recognised(self, folder: Path) -> str | None:
        known = recognise(self.root, self.project(folder))
        return known.id if known else None

    def is_sound(self) -> bool:
        report = verify(self.root)
        assert report.problems == (), report.problems
        return True


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "store")


def test_a_moved_repository_is_offered_and_takes_everything_along(desk: Desk, tmp_path: Path) -> None:
    old = repository(tmp_path / "shop")
    desk.remember(old, "Deploys run on Tuesdays")
    desk.remember(old, "Port 5001 is taken", MemoryScope.PROJECT_LOCAL)
    desk.remember(old, "Never deploy on Fridays")
    name = desk.project(old).id
    gone = [r.ref for r in desk.store(old).snapshot().records if "Fridays" in r.summary]
    forget(desk.store(old), gone, delete=False)
    desk.note(old)
    new = tmp_path / "elsewhere" / "store2"
    new.parent.mkdir()
    old.rename(new)
    assert desk.texts(new) == set()
    assert desk.recognised(new) == name
    done = move_project(desk.root, name, desk.project(new))
    assert done.records == 3
    assert done.strays == ()
    assert desk.texts(new) == {"Deploys run on Tuesdays", "Port 5001 is taken"}
    assert desk.recognised(new) is None
    assert desk.is_sound()
    assert os.path.isdir(os.path.join(done.copy, name))
    assert read_project(desk.root, desk.project(new).id).former_roots == (str(old),)
    before = desk.texts(new)
    assert move_project(desk.root, name, desk.project(new)).copy == ""  # once more: nothing
    assert move_project(desk.root, str(old), desk.project(new)).copy == ""
    assert desk.texts(new) == before


def test_files_that_move_keep_their_bytes(desk: Desk, tmp_path: Path) -> None:
    old = repository(tmp_path / "shop")
    desk.remember(old, "Deploys run on Tuesdays")
    folder = Path(desk.store(old).layout.scope_folder(MemoryScope.PROJECT))
    topic = folder / "workflow.md"
    topic.write_bytes(topic.read_bytes().replace(b"\n", b"\r\n") + b"\r\n## Mine\r\n\xff not UTF-8, kept")
    index = folder / "MEMORY.md"
    index.write_bytes(index.read_bytes() + b"\nAsk before touching infra.\n")
    desk.note(old)
    desk.store(old).note_edits()
    wanted = {p.name: p.read_bytes() for p in folder.iterdir()}
    name = desk.project(old).id
    new = tmp_path / "other"
    old.rename(new)
    move_project(desk.root, name, desk.project(new))
    found = Path(desk.store(new).layout.scope_folder(MemoryScope.PROJECT))
    history = found / "memory-history.jsonl"
    assert history.read_bytes().startswith(wanted[history.name])
    assert {p.name: p.read_bytes() for p in found.iterdir() if p != history} == {
        name: data for name, data in wanted.items() if name != history.name
    }


def test_a_clone_is_recognised_by_remote_and_first_commit(desk: Desk, tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", None)
    first = tmp_path / "one" / "shop"
    git(tmp_path, "clone", "-q", str(origin), str(first))
    git(first, "remote", "set-url", "origin", REMOTE)
    desk.remember(first, "Deploys run on Tuesdays")
    desk.note(first)
    shutil.rmtree(first)
    second = tmp_path / "two" / "renamed"
    git(tmp_path, "clone", "-q", str(origin), str(second))
    git(second, "remote", "set-url", "origin", "https://example.org/acme/shop")
    assert desk.recognised(second) is not None
    git(second, "remote", "set-url", "origin", "https://example.org/acme/other")
    assert desk.recognised(second) is None


def test_a_shallow_clone_is_recognised_by_its_remote_alone(desk: Desk, tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", None)
    git(origin, "commit", "-q", "--allow-empty", "-m", "second")
    first = tmp_path / "shop"
    git(tmp_path, "clone", "-q", str(origin), str(first))
    git(first, "remote", "set-url", "origin", REMOTE)
    desk.remember(first, "Deploys run on Tuesdays")
    desk.note(first)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", str(shallow))
    git(shallow, "remote", "set-url", "origin", REMOTE)
    assert read_project(desk.root, desk.project(first).id).first_commit
    assert desk.recognised(shallow) == desk.project(first).id
    desk.remember(shallow, "x")
    desk.note(shallow)
    assert read_project(desk.root, desk.project(shallow).id).first_commit is None


def test_names_never_match(desk: Desk, tmp_path: Path) -> None:
    one = repository(tmp_path / "one" / "shop", "git@example.org:acme/shop.git", "a")
    desk.remember(one, "Deploys run on Tuesdays")
    desk.note(one)
    other = repository(tmp_path / "two" / "shop", "git@example.org:else/shop.git", "b")
    same_remote = repository(tmp_path / "three" / "shop", "git@example.org:acme/shop.git", "c")
    bare_name = repository(tmp_path / "four" / "shop", None, "d")
    assert [desk.recognised(p) for p in (other, same_remote, bare_name)] == [None, None, None]


def test_two_that_match_are_not_guessed(desk: Desk, tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", None)
    clones = [tmp_path / name for name in ("a", "b", "c")]
    for clone in clones:
        git(tmp_path, "clone", "-q", str(origin), str(clone))
        git(clone, "remote", "set-url", "origin", REMOTE)
    for clone in clones[:2]:
        desk.remember(clone, f"from {clone.name}")
        desk.note(clone)
    assert desk.recognised(clones[2]) is None


def test_without_a_remote_the_first_commit_counts_once_the_folder_is_gone(desk: Desk, tmp_path: Path) -> None:
    old = repository(tmp_path / "shop", None)
    desk.remember(old, "Deploys run on Tuesdays")
    desk.note(old)
    copy = tmp_path / "copy"
    shutil.copytree(old, copy)
    assert desk.recognised(copy) is None
    shutil.rmtree(old)
    assert desk.recognised(copy) is not None


def test_a_folder_that_becomes_a_repository(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    desk.remember(folder, "Deploys run on Tuesdays")
    desk.remember(folder, "Port 5001", MemoryScope.PROJECT_LOCAL)
    desk.note(folder)
    name = desk.project(folder).id
    git(folder, "init", "-q")
    assert desk.recognised(folder) == name
    move_project(desk.root, name, desk.project(folder))
    assert desk.texts(folder) == {"Deploys run on Tuesdays", "Port 5001"}


def test_a_project_with_memory_is_offered_nothing(desk: Desk, tmp_path: Path) -> None:
    old = repository(tmp_path / "shop")
    desk.remember(old, "Deploys run on Tuesdays")
    desk.note(old)
    new = tmp_path / "new"
    old.rename(new)
    desk.remember(new, "Lint first")
    assert desk.recognised(new) is None


def test_where_both_remember_nothing_is_lost(desk: Desk, tmp_path: Path) -> None:
    old, new = repository(tmp_path / "old"), repository(tmp_path / "new")
    for folder, texts in ((old, ("Deploys run on Tuesdays", "Lint first")), (new, ("lint first", "Ask Ada"))):
        for text in texts:
            desk.remember(folder, text)
        desk.note(folder)
    mine = Path(desk.store(old).layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow"))
    broken = "\n## Broken\n<!-- cam:record {oops -->\n\n## Gate\nkey is under the mat\n"
    mine.write_text("My own words.\n\n" + mine.read_text() + broken)
    theirs = Path(desk.store(new).layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow"))
    theirs.write_text(theirs.read_text() + "\n## Gate\nkey is with Bo\n")
    index = Path(desk.store(old).layout.index_file(MemoryScope.PROJECT))
    index.write_text(index.read_text() + "\nNever touch infra.\n")
    for folder in (old, new):
        desk.store(folder).note_edits()
    before = [desk.markdown(old), desk.markdown(new)]
    done = move_project(desk.root, desk.project(old).id, desk.project(new))
    snapshot = desk.store(new).snapshot()
    active = [(r.summary, r.details) for r in snapshot.records]
    assert sorted(active) == [
        ("Ask Ada", ()), ("Deploys run on Tuesdays", ()), ("Gate", ("key is under the mat",)),
        ("Gate", ("key is with Bo",)), ("lint first", ()),
    ]  # fmt: skip
    assert done.known == 1
    assert len(done.renamed) == 1
    text = theirs.read_text()
    assert "My own words." in text
    assert "cam:record {oops" in text
    assert len(snapshot.problems) == 1
    index = Path(desk.store(new).layout.index_file(MemoryScope.PROJECT))
    assert "Never touch infra." in index.read_text()
    assert counts_in_index(index.read_bytes()) == {"workflow": 5}
    copies = [name for name in os.listdir(done.copy) if os.path.isdir(os.path.join(done.copy, name))]
    assert {"old", "new"} == {n.rpartition("-")[0] for n in copies}
    undo(desk.store(new))
    assert [desk.markdown(old), desk.markdown(new)] == before


def test_a_move_is_told_and_taken_back(desk: Desk, tmp_path: Path) -> None:
    old, new = repository(tmp_path / "old"), repository(tmp_path / "new", "git@example.org:acme/new.git")
    desk.remember(old, "Deploys run on Tuesdays")
    desk.remember(old, "Port 5001 is taken", MemoryScope.PROJECT_LOCAL)
    desk.remember(new, "Lint first")
    desk.note(old)
    before = [desk.markdown(old), desk.markdown(new)]
    known = read_project(desk.root, desk.project(new).id)
    name = desk.project(old).id
    move_project(desk.root, name, desk.project(new))
    (entry, *_) = log(happened(desk.store(new)))
    assert {(lesson.what, lesson.record and lesson.record.summary) for lesson in entry.lessons} == {
        ("taken along", "Deploys run on Tuesdays"), ("taken along", "Port 5001 is taken"),
    }  # fmt: skip
    remember(desk.store(new), "Ask Ada", [], MemoryScope.PROJECT, "reference")  # stays
    (done,) = undo(desk.store(new), entry.transaction)
    assert (done.redo, len(done.changes)) == (f"cam project move {name}", 2)
    assert desk.texts(new) == {"Lint first", "Ask Ada"}
    assert desk.texts(old) == {"Deploys run on Tuesdays", "Port 5001 is taken"}
    assert desk.markdown(old) == before[0]
    assert {n: d for n, d in desk.markdown(new).items() if n.endswith("workflow.md")} == {
        n: d for n, d in before[1].items() if n.endswith("workflow.md")
    }
    assert read_project(desk.root, desk.project(new).id).absorbed == known.absorbed
    assert desk.is_sound()
    with pytest.raises(InvalidInputError, match=f"cam project move {name}"):
        undo(desk.store(new), done.transaction)
    undo(desk.store(new))
    assert desk.texts(new) == {"Lint first"}
    move_project(desk.root, name, desk.project(new))
    assert desk.texts(new) == {"Lint first", "Deploys run on Tuesdays", "Port 5001 is taken"}
    assert desk.is_sound()


def test_a_persons_own_text_moves_and_goes_back_whatever_came_since(desk: Desk, tmp_path: Path) -> None:
    old, new = repository(tmp_path / "old"), repository(tmp_path / "new", "git@example.org:acme/new.git")
    index = {}
    for folder, own in ((old, "- use npm"), (new, "- use npm workspaces")):
        desk.remember(folder, f"Ask {folder.name}")
        index[folder] = Path(desk.store(folder).layout.index_file(MemoryScope.PROJECT))
        index[folder].write_bytes(index[folder].read_bytes() + f"\r\n{own}".encode())
    name = desk.project(old).id
    done = move_project(desk.root, name, desk.project(new))
    assert desk.store(new).person_notes(MemoryScope.PROJECT).split() == [
        "-", "use", "npm", "workspaces", "-", "use", "npm",
    ]  # fmt: skip
    remember(desk.store(new), "Ask Ada", [], MemoryScope.PROJECT, "reference")  # the counts are others now
    undo(desk.store(new), os.path.basename(done.copy))
    assert desk.store(new).person_notes(MemoryScope.PROJECT) == "- use npm workspaces"
    assert desk.store(old).person_notes(MemoryScope.PROJECT) == "- use npm"
    told = log(happened(desk.store(new)))[0]
    assert (told.came_from, told.can_undo) == (name, False)
    assert f"\n  redo: cam project move {name}\n" in log_text([told], 2)
    assert desk.is_sound()


def test_what_was_changed_since_a_move_stands_in_its_way(desk: Desk, tmp_path: Path) -> None:
    old, new = repository(tmp_path / "old"), repository(tmp_path / "new")
    desk.remember(old, "Deploys run on Tuesdays")
    desk.remember(new, "Lint first")
    done = move_project(desk.root, desk.project(old).id, desk.project(new))
    transaction = os.path.basename(done.copy)
    desk.remember(new, "Never deploy on Fridays")
    forget(
        desk.store(new),
        [r.ref for r in desk.store(new).snapshot().records if "Tue" in r.summary],
        delete=False,
    )
    with pytest.raises(InvalidInputError, match=r"in project/workflow\.md of .* was changed since"):
        undo(desk.store(new), transaction)
    undo(desk.store(new), 2)
    desk.remember(old, "Begun anew")
    with pytest.raises(InvalidInputError, match="again, made since"):
        undo(desk.store(new))
    purge_project(desk.root, desk.project(old).id)
    undo(desk.store(new))
    assert (desk.texts(old), desk.texts(new)) == ({"Deploys run on Tuesdays"}, {"Lint first"})
    done = move_project(desk.root, desk.project(old).id, desk.project(new))
    shutil.rmtree(done.copy)
    with pytest.raises(NotFoundError, match="cleared away since"):
        undo(desk.store(new))
    assert desk.texts(new) == {"Lint first", "Deploys run on Tuesdays"}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_that_were_taken_along_go_back_in_any_order(
    desk: Desk, tmp_path: Path, order: tuple[int, int]
) -> None:
    one, two, third = (repository(tmp_path / name, f"git@example.org:acme/{name}.git") for name in "abc")
    for folder, text in (
        (one, "Lint first"),
        (one, "Ship on Mondays"),
        (two, "Never deploy on Fridays"),
        (two, "Ask Ada"),
        (third, "Ask Ada"),
    ):
        desk.remember(folder, text)
    remember(desk.store(one), "Port 80", [], MemoryScope.PROJECT, "reference")
    before = [desk.markdown(folder) for folder in (one, two, third)]
    known = read_project(desk.root, desk.project(third).id)
    moves = [
        os.path.basename(move_project(desk.root, desk.project(folder).id, desk.project(third)).copy)
        for folder in (one, two)
    ]
    desk.remember(third, "Test last")  # into the very file
    remember(
        desk.store(third), "Ada knows the cache", [], MemoryScope.PROJECT, "reference"
    )  # and into one that came along
    assert desk.texts(third) == {
        "Lint first", "Ship on Mondays", "Never deploy on Fridays", "Ask Ada", "Test last", "Port 80",
        "Ada knows the cache",
    }  # fmt: skip
    for number in order:
        undo(desk.store(third), moves[number])
        assert desk.is_sound()
    undo(desk.store(third), 2)
    assert [desk.markdown(folder) for folder in (one, two, third)] == before
    assert read_project(desk.root, desk.project(third).id).absorbed == known.absorbed
    moved = move_project(desk.root, desk.project(one).id, desk.project(third))
    erase(
        desk.store(third),
        [r.ref for r in desk.store(third).snapshot().records if "Lint" in r.summary],
        "/nowhere",
    )
    undo(desk.store(third), os.path.basename(moved.copy))
    assert [desk.texts(folder) for folder in (one, third)] == [{"Ship on Mondays", "Port 80"}, {"Ask Ada"}]
    assert desk.is_sound()


def test_a_move_of_what_was_known_already_is_taken_back_too(desk: Desk, tmp_path: Path) -> None:
    old, new = repository(tmp_path / "old"), repository(tmp_path / "new")
    for folder in (old, new):
        desk.remember(folder, "Lint first")
    before = [desk.markdown(folder) for folder in (old, new)]
    move_project(desk.root, desk.project(old).id, desk.project(new))
    (done,) = undo(desk.store(new))
    assert done.redo == f"cam project move {desk.project(old).id}"
    assert [desk.markdown(folder) for folder in (old, new)] == before
    assert desk.is_sound()


def test_linked_worktrees_keep_their_own_notes(desk: Desk, tmp_path: Path) -> None:
    main = repository(tmp_path / "shop")
    linked = tmp_path / "feature"
    git(main, "worktree", "add", "-q", str(linked))
    desk.remember(main, "Main uses 5001", MemoryScope.PROJECT_LOCAL)
    desk.remember(linked, "Feature uses 5002", MemoryScope.PROJECT_LOCAL)
    desk.note(main)
    desk.note(linked)
    name = desk.project(main).id
    assert desk.project(linked).id == name
    new = tmp_path / "moved"
    main.rename(new)
    git(new, "worktree", "repair", str(linked))
    done = move_project(desk.root, name, desk.project(new))
    assert done.strays == ()
    assert desk.texts(new) == {"Main uses 5001"}
    assert desk.texts(linked) == {"Feature uses 5002"}


def test_a_project_stands_where_its_main_worktree_does(desk: Desk, tmp_path: Path) -> None:
    main, linked = repository(tmp_path / "shop"), tmp_path / "feature"
    git(main, "worktree", "add", "-q", str(linked))
    desk.remember(linked, "Deploys run on Tuesdays")  # nothing was ever remembered in the main one
    desk.note(linked)
    shutil.rmtree(linked)
    (row,) = list_projects(desk.root, None)
    assert (row.known.root, row.place) == (str(main), "here")
    bare, linked = tmp_path / "bare.git", tmp_path / "tree"
    git(tmp_path, "clone", "-q", "--bare", str(main), str(bare))
    git(bare, "worktree", "add", "-q", str(linked))
    desk.remember(linked, "Lint first")
    desk.note(linked)
    assert read_project(desk.root, desk.project(linked).id).root == str(linked)


def test_a_linked_worktree_of_a_repository_that_moved_before_its_first_session(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = repository(tmp_path / "shop")
    linked = tmp_path / "feature"
    git(main, "worktree", "add", "-q", str(linked))
    monkeypatch.setenv("CAM_HOME", desk.root)
    for folder in (linked, main):
        with pytest.raises(SystemExit, match="0"):
            cam(["--cwd", str(folder), "remember", f"Local to {folder.name}", "--scope", "project-local"])
    name = desk.project(main).id
    new = tmp_path / "moved"
    main.rename(new)
    git(new, "worktree", "repair", str(linked))
    assert move_project(desk.root, name, desk.project(new)).strays == ()
    assert desk.texts(new) == {"Local to shop"}
    assert desk.texts(linked) == {"Local to feature"}


def test_what_a_lost_worktree_knew_is_shown_and_taken_along(desk: Desk, tmp_path: Path) -> None:
    main = repository(tmp_path / "shop")
    linked = tmp_path / "linked"
    git(main, "worktree", "add", "-q", str(linked))
    for folder, text in ((main, "Lint first"), (linked, "Runs on staging"), (linked, "Lint first")):
        desk.remember(folder, text, MemoryScope.PROJECT_LOCAL)
        desk.note(folder)
    here, worktree = desk.project(main), desk.project(linked).worktree
    with pytest.raises(InvalidInputError, match="still stands"):
        move_project(desk.root, worktree, here)
    shutil.rmtree(linked)  # git is not told, and looks itself
    assert {(w.id, w.place, w.records) for w in show_project(desk.root, here.id, here).worktrees} == {
        (here.worktree, "here", 1), (worktree, "gone", 2),
    }  # fmt: skip
    assert desk.texts(main) == {"Lint first"}  # it was said of that worktree alone
    done = move_project(desk.root, worktree, here)
    assert (done.records, done.known) == (1, 1)
    assert desk.texts(main) == {"Lint first", "Runs on staging"}
    assert [w.id for w in show_project(desk.root, here.id, here).worktrees] == [here.worktree]
    assert desk.is_sound()
    with pytest.raises(NotFoundError):
        move_project(desk.root, worktree, here)
    undo(desk.store(main))
    assert desk.texts(main) == {"Lint first"}
    assert (worktree, "gone", 2) in {
        (w.id, w.place, w.records) for w in show_project(desk.root, here.id, here).worktrees
    }
    assert desk.is_sound()
    assert move_project(desk.root, worktree, here).records == 1


def test_merge_purge_and_what_is_not_there(desk: Desk, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    desk.remember(one, "Deploys run on Tuesdays")
    desk.remember(two, "Lint first")
    first, second = desk.project(one).id, desk.project(two).id
    with pytest.raises(NotFoundError):
        merge_projects(desk.root, "nobody", second)
    with pytest.raises(NotFoundError):
        merge_projects(desk.root, first, "../../etc")
    with pytest.raises(InvalidInputError):
        merge_projects(desk.root, first, first)
    merge_projects(desk.root, first, second)
    assert desk.texts(two) == {"Deploys run on Tuesdays", "Lint first"}
    assert merge_projects(desk.root, first, second).copy == ""
    assert [row.known.id for row in list_projects(desk.root, desk.project(two))] == [second]
    purge_project(desk.root, second)
    assert list_projects(desk.root, None) == ()
    assert desk.texts(two) == set()
    with pytest.raises(NotFoundError):
        purge_project(desk.root, "..")
    assert desk.is_sound()


def test_nothing_is_noted_of_a_project_that_the_store_does_not_have(desk: Desk, tmp_path: Path) -> None:
    desk.note(repository(tmp_path / "shop"))
    assert not os.path.exists(desk.root)


def test_noting_twice_writes_once(desk: Desk, tmp_path: Path) -> None:
    old = repository(tmp_path / "shop")
    desk.remember(old, "Deploys run on Tuesdays")
    desk.note(old)
    path = Path(desk.root, "projects", desk.project(old).id, "project.json")
    before = path.stat()
    desk.note(old)
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("{broken")
    desk.note(old)
    assert read_project(desk.root, desk.project(old).id).first_commit
