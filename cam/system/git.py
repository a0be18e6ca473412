"""Which repository a folder belongs to, read from ``.git`` directly: no process, no environment.

``GIT_DIR`` and its kin are ignored on purpose: they would let a shell's leftovers move memory elsewhere.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository as seen from one of its worktrees; real paths.

    Attributes:
        root: top folder of the worktree (the repository itself where it is bare).
        git_dir: this worktree's git folder.
        common_dir: the git folder that all worktrees share.
    """

    root: str
    git_dir: str
    common_dir: str


def find_repository(folder: str) -> Repository | None:
    """The innermost repository around ``folder``, None outside any."""
    here = os.path.realpath(folder)
    while True:
        git_dir = _git_dir_of(here)
        if git_dir is not None:
            return Repository(here, git_dir, _common_dir(git_dir))
        if _is_git_dir(here):
            return Repository(here, here, _common_dir(here))
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def remotes(repository: Repository) -> frozenset[str]:
    """Addresses of the repository's remotes, as its config file has them; empty where it cannot be read."""
    try:
        with open(os.path.join(repository.common_dir, "config"), encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
    except OSError:
        return frozenset()
    found: set[str] = set()
    in_remote = False
    for line in lines:
        if line.startswith("["):
            in_remote = line.startswith("[remote ")
        elif in_remote and line.partition("=")[0].strip() == "url":
            found.add(line.partition("=")[2].strip())
    return frozenset(found)


def is_shallow(repository: Repository) -> bool:
    """Whether its history is cut off, so that its first commit is not known."""
    return os.path.exists(os.path.join(repository.common_dir, "shallow"))


def first_commit(repository: Repository, *, seconds: float = 1.0) -> str | None:
    """The commit that the first-parent history of HEAD began with, the same in every clone.

    Args:
        repository: asked with one git process.
        seconds: what the answer may take.

    Returns:
        None for a shallow clone, for a repository without commits, and where git does not answer in time.
    """
    if is_shallow(repository):
        return None
    said = _ask(repository.root, seconds, "rev-list", "--first-parent", "--max-parents=0", "HEAD")
    words = (said or b"").decode("ascii", "replace").split()
    return words[-1] if words else None


def head_commit(folder: str, *, seconds: float = 1.0) -> str:
    """The commit that is checked out in ``folder``, twelve hex digits; "" where git cannot tell in time."""
    said = _ask(folder, seconds, "rev-parse", "--short=12", "HEAD")
    return (said or b"").decode("ascii", "replace").strip()


def is_tracked(folder: str, name: str) -> bool:
    """Whether git tracks ``name`` in ``folder``; asks git, and takes a git that cannot answer for yes."""
    return _ask(folder, 5, "ls-files", "-z", "--", name) != b""


def git_variables(keeps: Callable[[str], bool] | None = None) -> dict[str, str]:
    """This process's environment for a git that nothing in it leads elsewhere.

    Args:
        keeps: which of git's own variables stay, by name; None for none of them.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or (keeps is not None and keeps(name))
    }


def _ask(folder: str, seconds: float, *words: str) -> bytes | None:
    """What one git process prints, None where it fails or does not answer in time."""
    import subprocess  # noqa: PLC0415 - most commands start no git

    line = ["git", "-C", folder, *words]
    try:
        done = subprocess.run(line, capture_output=True, timeout=seconds, check=False, env=git_variables())
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def _git_dir_of(folder: str) -> str | None:
    path = os.path.join(folder, ".git")
    if os.path.isdir(path):
        real = os.path.realpath(path)
        return real if _is_git_dir(real) else None
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(65536)
    except (OSError, ValueError):
        return None
    if not text.startswith("gitdir:"):
        return None
    target = os.path.realpath(os.path.join(folder, text.removeprefix("gitdir:").strip()))
    return target if os.path.isfile(os.path.join(target, "HEAD")) else None


def _is_git_dir(path: str) -> bool:
    # HEAD may be a dangling link in old repositories, hence lexists.
    return os.path.lexists(os.path.join(path, "HEAD")) and all(
        os.path.isdir(os.path.join(path, name)) for name in ("objects", "refs")
    )


def _common_dir(git_dir: str) -> str:
    try:
        with open(os.path.join(git_dir, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.realpath(os.path.join(git_dir, file.read().strip()))
    except (OSError, ValueError):
        return git_dir
