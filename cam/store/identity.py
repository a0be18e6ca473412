"""Which project a folder belongs to: the one resolver of every surface.

git's common directory decides, so linked worktrees (``$CODEX_HOME/worktrees/…`` too) share a project;
submodules and nested repositories are projects of their own; outside git the folder itself. ``$HOME`` and
``/`` have no project, and folders below a dotfiles repository at ``$HOME`` count as outside git. The ids
are the predecessor's.
"""

import os
from dataclasses import dataclass
from hashlib import sha256

from cam.system.git import find_repository


@dataclass(frozen=True, slots=True)
class Project:
    """A project as seen from one folder.

    Attributes:
        id: ``name-hash12`` of the shared git folder, ``path-hash12`` outside git.
        worktree: the same of this worktree's git folder.
        root: top folder of the worktree; the folder itself outside git.
        is_git: whether it is a repository.
    """

    id: str
    worktree: str
    root: str
    is_git: bool

    @property
    def name(self) -> str:
        """What a person calls it."""
        return os.path.basename(self.root)


def resolve_project(folder: str, home: str) -> Project | None:
    """The project of ``folder``; None for ``home`` and ``/``."""
    here = os.path.realpath(folder)
    home = os.path.realpath(home)
    if here in (home, os.path.dirname(here)):
        return None
    repository = find_repository(here)
    if repository is None or repository.root in (home, os.path.dirname(repository.root)):
        name = f"path-{short_hash(here)}"
        return Project(name, name, here, is_git=False)
    common, git_dir = repository.common_dir, repository.git_dir
    return Project(
        f"{_basename(os.path.dirname(common))}-{short_hash(common)}",
        f"{_basename(repository.root)}-{short_hash(git_dir)}",
        repository.root,
        is_git=True,
    )


def _basename(path: str) -> str:
    return os.path.basename(path) or "root"


def short_hash(text: str) -> str:
    """What ids end with: 12 hex digits that stand for a path."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]
