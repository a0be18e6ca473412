"""Everything that a git repository holds, asked of git itself: its files, and every object, one by one."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from cam.core.errors import StoreUnavailableError
from cam.system.git import git_variables

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class GitObject:
    """One object of the object database.

    Attributes:
        id: its hash, hex.
        kind: ``blob``, ``tree``, ``commit`` or ``tag``.
        size: bytes.
        chunks: its content, to be read before the next object is asked for.
    """

    id: str
    kind: str
    size: int
    chunks: Iterator[bytes]


def list_files(root: str) -> list[str]:
    """Files of the worktree that are, or could be, committed, relative to ``root``.

    Raises:
        StoreUnavailableError: git cannot say.
    """
    return list(dict.fromkeys(_names(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")))


def list_ignored(root: str) -> list[str]:
    """Files and whole folders that git ignores, relative to ``root``; a folder ends with ``/``.

    Raises:
        StoreUnavailableError: git cannot say.
    """
    return _names(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")


def read_objects(git_dir: str) -> Iterator[GitObject]:
    """Every object there is, reachable or not, each once, in the order in which it lies on disk.

    Raises:
        StoreUnavailableError: git cannot read them all.
    """
    with _git(git_dir, "cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch") as out:
        while header := out.readline():
            name, _, rest = header.decode("ascii", "replace").strip().partition(" ")
            kind, _, length = rest.partition(" ")
            if not length.isdigit():
                raise StoreUnavailableError(f"{git_dir}: git cannot read the object {name} ({rest})")
            chunks = _content(out, int(length))
            yield GitObject(name, kind, int(length), chunks)
            for _ in chunks:
                pass
            out.read(1)


def name_objects(git_dir: str, wanted: set[str]) -> dict[str, str]:
    """The path at which each of the objects stands, where a commit or a reflog still leads to it.

    Raises:
        StoreUnavailableError: git cannot say.
    """
    found: dict[str, str] = {}
    with _git(git_dir, "rev-list", "--objects", "--all", "--reflog") as out:
        for line in out:
            name, _, path = line.rstrip(b"\n").decode("utf-8", "replace").partition(" ")
            if path and name in wanted:
                found.setdefault(name, path)
    return found


def tree_names(data: bytes, id_size: int) -> Iterator[str]:
    """Names of the entries of a tree object.

    Args:
        data: the object's content.
        id_size: bytes of an object's id.
    """
    at = 0
    while (end := data.find(b"\0", at)) >= 0:
        yield data[at:end].partition(b" ")[2].decode("utf-8", "replace")
        at = end + 1 + id_size


def _names(root: str, *words: str) -> list[str]:
    with _git(root, *words, inside=True) as out:
        data = out.read()
    return [os.fsdecode(name) for name in data.split(b"\0") if name]


def _content(out: IO[bytes], left: int) -> Iterator[bytes]:
    while left:
        chunk = out.read(min(left, _CHUNK))
        if not chunk:
            raise StoreUnavailableError("git ended in the middle of an object")
        left -= len(chunk)
        yield chunk


@contextmanager
def _git(place: str, *words: str, inside: bool = False) -> Iterator[IO[bytes]]:
    """What git on ``place`` prints; not led elsewhere by the environment, replacing and fetching nothing.

    Raises:
        StoreUnavailableError: it cannot be started, or fails.
    """
    environment = git_variables(lambda name: name.startswith("GIT_CONFIG")) | dict.fromkeys(
        ("GIT_NO_REPLACE_OBJECTS", "GIT_NO_LAZY_FETCH"), "1"
    )
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    line = ["git", *(["-C", place] if inside else [f"--git-dir={place}"]), *words]
    with tempfile.TemporaryFile() as complaints:
        try:
            git = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, env=environment
            )
        except OSError as error:
            raise StoreUnavailableError(f"git cannot be started: {error.strerror or error}") from error
        with git:  # closes the pipe, which ends a git that is not read to its end
            assert git.stdout is not None
            yield git.stdout
        if git.returncode != 0:
            complaints.seek(0)
            said = complaints.read(4_000).decode("utf-8", "replace").strip().splitlines()
            raise StoreUnavailableError(f"{place}: {said[-1] if said else 'git failed'}")
