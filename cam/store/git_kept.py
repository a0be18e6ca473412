"""A store that is kept in git: a repository of its own in the store's folder, off until somebody asks for it.

Shared are topic files, indexes, history and audit; what is derived, locked or tied to one machine stays out.
git gets no setting of the environment, runs no hook and signs nothing.
"""

import os
import subprocess
import sys
from collections.abc import Sequence

from cam.core.errors import StoreUnavailableError
from cam.core.operations import MemoryPlan
from cam.system.files import write_atomic

BRANCH = "main"

_MARKER = ".git/cam-store"
_IGNORED = """\
/cache/
/journal/
/backup*/
/replaced-*/
/.lock*
/tombstones.jsonl
processed.jsonl
continuity/
off
*.tmp
*.unmerged
"""
_ATTRIBUTES = """\
* -text
*.md merge=cam
*.jsonl merge=cam
"""
_QUIET = (
    "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.symlinks=false",
    "-c", "core.autocrlf=false", "-c", "core.quotePath=false", "-c", "gc.auto=0",
    "-c", "init.defaultBranch=main", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false",
)  # fmt: skip


def is_kept(root: str) -> bool:
    """Whether the store is kept in git by cam."""
    return os.path.isfile(os.path.join(root, _MARKER))


def start(root: str) -> bool:
    """Keep the store in git from now on; whether that is new. The lock is held.

    Raises:
        StoreUnavailableError: git cannot be started, or fails.
    """
    is_new = not is_kept(root)
    if not os.path.isdir(os.path.join(root, ".git")):
        git(root, "init", "-q")
    if not _has_commits(root):
        git(root, "symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
    set_driver(root)
    for name, text in ((".gitignore", _IGNORED), (".gitattributes", _ATTRIBUTES)):
        if is_new:
            write_atomic(os.path.join(root, name), text.encode())
    write_atomic(os.path.join(root, _MARKER), b"1\n")
    keep(root, "The store as it stands")
    return is_new


def set_driver(root: str) -> None:
    """Tell the repository how its files are merged; the program's place may change.

    Raises:
        StoreUnavailableError: git fails.
    """
    # -I: nothing that lies in the store is ever run.
    line = f'"{sys.executable}" -I -m cam store git merge-driver %O %A %B %P'
    git(root, "config", "merge.cam.name", "cam, record by record")
    git(root, "config", "merge.cam.driver", line)


def keep(root: str, message: str) -> bool:
    """Commit what changed; whether anything had. The lock is held.

    Raises:
        StoreUnavailableError: git fails.
    """
    git(root, "add", "-A", "--", ".")
    if not git(root, "status", "--porcelain", "-uno").strip():
        return False
    git(root, *_who(root), "commit", "-q", "--no-verify", "-m", message)
    return True


def message_of(plan: MemoryPlan) -> str:
    """What a commit says of a plan: one line."""
    lines = [f"{c.operation.kind} {c.ref}" for c in plan.changes]
    if not lines:
        return "Hand edits, history"
    return lines[0] if len(lines) == 1 else f"{len(lines)} changes: {lines[0]} …"


def git(root: str, *words: str, good: Sequence[int] = (0,)) -> str:
    """What git says.

    Raises:
        StoreUnavailableError: it cannot be started, or ends with a code that is not ``good``.
    """
    code, out, err = try_git(root, *words)
    if code not in good:
        raise StoreUnavailableError(f"git {words[0]}: {complaint(err) or f'it failed with exit code {code}'}")
    return out


def complaint(said: str) -> str:
    """The line of git's complaints that says what is wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")


def try_git(root: str, *words: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of git.

    Raises:
        StoreUnavailableError: it cannot be started.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _PASSED}
    environment |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "1" if sys.stdin and sys.stdin.isatty() else "0"}
    try:
        done = subprocess.run(
            ["git", "-C", root, *_QUIET, *words], env=environment, capture_output=True, check=False,
            stdin=None if sys.stdin and sys.stdin.isatty() else subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise StoreUnavailableError(f"git cannot be started: {error.strerror or error}") from error
    out, err = (data.decode("utf-8", "surrogateescape") for data in (done.stdout, done.stderr))
    return done.returncode, out, err


_PASSED = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")


def _who(root: str) -> tuple[str, ...]:
    """Git's options for an author, where the person has told git none."""
    if try_git(root, "config", "user.email")[0] == 0:
        return ()
    return ("-c", "user.name=cam", "-c", "user.email=cam@localhost")


def _has_commits(root: str) -> bool:
    return try_git(root, "rev-parse", "-q", "--verify", "HEAD")[0] == 0
