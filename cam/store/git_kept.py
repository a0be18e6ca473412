"""A store that is kept in git: a repository of its own in the store's folder, off until somebody asks for it.

Shared are topic files, indexes, history, audit and identity, each by its name; nothing else of the folder is
committed, and a file that somebody put into the repository is left alone. git gets no setting of the
environment, runs no hook and signs nothing.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence

from cam.core.errors import StoreUnavailableError
from cam.core.operations import MemoryPlan
from cam.store.git_merge import is_shared
from cam.store.machine import MARKER, name_machine
from cam.system.files import read_bytes, unlink_quietly, write_atomic, written_at
from cam.system.git import git_variables
from cam.system.processes import works_in

BRANCH = "main"

_STALE = 60.0
"""Seconds after which a lock that no git holds is taken away; programs that are no git hold one for less."""

_HELD = re.compile(r"(?:Unable to create '|could not lock config file )([^']+?)(?:\.lock)?'?: File exists")
"""How git says that something is locked."""

_REGULAR = "100"
"""How the mode of a regular file begins."""

_LOCKS = ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", f"refs/heads/{BRANCH}.lock")
_IGNORED = """\
/cache/
/journal/
/integrations/
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
_OWN = {".gitignore": _IGNORED.encode(), ".gitattributes": _ATTRIBUTES.encode()}
_QUIET = (
    "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.symlinks=false",
    "-c", "core.autocrlf=false", "-c", "core.quotePath=false", "-c", "gc.auto=0",
    "-c", "init.defaultBranch=main", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false",
    "-c", "core.fsync=committed,reference",
)  # fmt: skip


def is_kept(root: str) -> bool:
    """Whether the store is kept in git by cam."""
    return os.path.isfile(os.path.join(root, MARKER))


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
    name_machine(root)
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
    """Commit what changed of what machines share; whether anything had. The lock is held.

    What an older cam committed of this machine's own goes out of the next commit; it stays on disk.

    Raises:
        StoreUnavailableError: git fails.
    """
    clear_locks(root)
    for name, data in _OWN.items():
        if read_bytes(os.path.join(root, name)) != data:
            write_atomic(os.path.join(root, name), data)
    names = _listed(root, "-c", "-o", "--exclude-from=.gitignore")
    _stage(root, "--add", "--remove", names=[n for n in names if is_shared(n) or n in _OWN])
    _stage(root, "--force-remove", names=private_files(root))
    if try_git(root, "diff", "--cached", "--quiet")[0] == 0:
        return False
    git(root, *_who(root), "commit", "-q", "--no-verify", "-m", message)
    return True


def clear_locks(root: str) -> None:
    """Take away what a git that was killed left locked.

    A person's git holds one as long as its editor is open: while any git lives in the store, whoever started
    it, locks stay, and so do young ones.
    """
    paths = [os.path.join(root, ".git", name) for name in _LOCKS]
    old = [path for path in paths if 0 < written_at(path) < time.time() - _STALE]
    if old and not works_in("git", root):
        for path in old:
            unlink_quietly(path)


def changed_files(root: str, old: str, new: str) -> list[str]:
    """Files of the store in which two commits differ, without what is no regular file in ``new``.

    Raises:
        StoreUnavailableError: git fails.
    """
    names = git(root, "diff", "--no-renames", "--name-only", "-z", old, new).split("\0")
    others = {name for name, kind in _entries(root, new).items() if not kind.startswith(_REGULAR)}
    return [name for name in names if is_shared(name) and name not in others]


def _entries(root: str, commit: str) -> dict[str, str]:
    """Mode, kind and object of each entry of a commit, by name."""
    rows = (row.partition("\t") for row in git(root, "ls-tree", "-r", "-z", commit).split("\0"))
    return {name: kind for kind, _, name in rows if name}


def files_at(root: str, commit: str, names: Iterable[str]) -> dict[str, bytes | None]:
    """What a commit holds at each of ``names``; None where that is no regular file, or nothing.

    Raises:
        StoreUnavailableError: git fails, or the repository lost an object.
    """
    entries = _entries(root, commit).items()
    blobs = {name: kind.split(" ")[2] for name, kind in entries if kind.startswith(_REGULAR)}
    found: dict[str, bytes | None] = dict.fromkeys(names)
    wanted = [name for name in found if name in blobs]
    told = "".join(f"{blobs[name]}\n" for name in wanted)
    code, said, complaints = try_git(root, "cat-file", "--batch", told=told)
    if code:
        raise StoreUnavailableError(f"git cat-file: {complaint(complaints)}")
    data, at = said.encode("utf-8", "surrogateescape"), 0
    for name in wanted:
        head, _, _ = data[at : at + 200].partition(b"\n")
        size = head.rpartition(b" ")[2]
        if not size.isdigit():
            raise StoreUnavailableError(f"git has lost {name} of the commit {commit[:12]}")
        at += len(head) + 1
        found[name] = data[at : at + int(size)]
        at += int(size) + 1
    return found


def private_files(root: str) -> list[str]:
    """What git tracks of the store although it belongs to one machine alone.

    Raises:
        StoreUnavailableError: git fails.
    """
    return [n for n in _listed(root, "-c", "-i", "--exclude-from=.gitignore") if not is_shared(n)]


def own_file(name: str) -> bytes | None:
    """What one of cam's own settings of the repository holds; None for any other file."""
    return _OWN.get(name)


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
        raise _refusal(words[0], err, code)
    return out


def complaint(said: str) -> str:
    """The line of git's complaints that says what is wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")


def try_git(root: str, *words: str, told: str | None = None) -> tuple[int, str, str]:
    """Exit code, output and complaints of git.

    Args:
        root: the folder it works in.
        words: its command line.
        told: what it reads from its input; a person's terminal, or nothing, where None.

    Raises:
        StoreUnavailableError: it cannot be started.
    """
    environment = git_variables(_PASSED.__contains__)
    asks = told is None and sys.stdin is not None and sys.stdin.isatty()
    environment |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "1" if asks else "0"}
    given = None if asks else (told or "").encode("utf-8", "surrogateescape")
    try:
        done = subprocess.run(
            ["git", "-C", root, *_QUIET, *words],
            env=environment,
            input=given,
            capture_output=True,
            check=False,
        )
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


def _refusal(verb: str, said: str, code: int) -> StoreUnavailableError:
    """What git refused, in one line; where something is locked, what to do about it."""
    line = complaint(said)
    if held := _HELD.search(line):
        return StoreUnavailableError(
            f"{held.group(1)}.lock: another git is at work in the store, maybe one whose editor is open;"
            " let it end and try again, or take that file away if no git runs"
        )
    return StoreUnavailableError(f"git {verb}: {line or f'it failed with exit code {code}'}")


def _listed(root: str, *words: str) -> list[str]:
    return sorted({name for name in git(root, "ls-files", "-z", *words).split("\0") if name})


def _stage(root: str, *words: str, names: Sequence[str]) -> None:
    told = "".join(f"{name}\0" for name in names)
    code, _, said = try_git(root, "update-index", *words, "-z", "--stdin", told=told)
    if code:
        raise _refusal("update-index", said, code)


def _has_commits(root: str) -> bool:
    return try_git(root, "rev-parse", "-q", "--verify", "HEAD")[0] == 0
