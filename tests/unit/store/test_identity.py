"""One resolver: git's common directory decides, whatever the way in."""

import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from cam.store.identity import Project, resolve_project


def git(folder: Path, *arguments: str) -> None:
    options = ["user.email=a@b.example", "user.name=a", "protocol.file.allow=always"]
    line = ["git", *(word for option in options for word in ("-c", option)), *arguments]
    subprocess.run(line, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def resolve(folder: Path) -> Project:
    project = resolve_project(str(folder), os.environ["HOME"])
    assert project is not None
    return project


def test_the_ids_are_the_predecessors(repo: Path) -> None:
    digest = sha256(str(repo / ".git").encode()).hexdigest()[:12]
    assert resolve(repo) == Project(f"shop-{digest}", f"shop-{digest}", str(repo), is_git=True)


def test_every_folder_of_a_worktree_is_the_same_project(repo: Path, tmp_path: Path) -> None:
    inner = repo / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "link").symlink_to(inner)
    assert resolve(inner) == resolve(repo) == resolve(tmp_path / "link")


def test_linked_worktrees_share_the_project_and_not_the_worktree(repo: Path, tmp_path: Path) -> None:
    linked = tmp_path / "codex" / "worktrees" / "ab12" / "shop"
    git(repo, "worktree", "add", "-q", "--detach", str(linked))
    assert resolve(linked).id == resolve(repo).id
    assert resolve(linked).worktree != resolve(repo).worktree
    assert resolve(linked).root == str(linked)


def test_nested_repositories_and_submodules_are_projects_of_their_own(repo: Path, tmp_path: Path) -> None:
    nested = repo / "vendor" / "tool"
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    other = tmp_path / "lib"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "start")
    git(repo, "submodule", "add", "-q", str(other), "sub")
    assert len({resolve(f).id for f in (repo, nested, repo / "sub", other)}) == 4


def test_namesakes_are_different_projects(repo: Path, tmp_path: Path) -> None:
    namesake = tmp_path / "elsewhere" / "shop"
    namesake.mkdir(parents=True)
    git(namesake, "init", "-q")
    assert resolve(namesake).id != resolve(repo).id


def test_worktrees_of_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    bare, linked = tmp_path / "shop.git", tmp_path / "wt"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    git(bare, "worktree", "add", "-q", "--detach", str(linked))
    assert resolve(linked).id == resolve(bare).id
    assert resolve(bare).root == str(bare)


def test_outside_git_the_folder_is_the_project(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "inner").mkdir(parents=True)
    project = resolve(folder)
    assert project.id == "path-" + sha256(str(folder).encode()).hexdigest()[:12]
    assert not project.is_git
    assert resolve(folder / "inner").id != project.id


def test_home_and_the_root_have_no_project(own_home: Path) -> None:
    git(own_home, "init", "-q")  # a dotfiles repository
    assert resolve_project(str(own_home), str(own_home)) is None
    assert resolve_project("/", str(own_home)) is None
    below = own_home / "scratch"
    below.mkdir()
    assert not resolve(below).is_git


def test_a_hostile_environment_moves_nothing(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = resolve(repo)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "evil"))
    monkeypatch.setenv("GIT_COMMON_DIR", str(tmp_path / "evil"))
    assert resolve(repo) == before


def test_a_git_file_that_points_nowhere_is_no_repository(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / ".git").write_text("gitdir: /nowhere\n")
    assert not resolve(folder).is_git
