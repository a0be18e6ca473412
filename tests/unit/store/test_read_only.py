"""A file that somebody made read-only stays as it is: every write says so before anything is written."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from cam.core.errors import CamError, StoreUnavailableError, WriteRefusedError
from cam.core.records import MemoryScope
from cam.formats.project_file import KnownProject
from cam.memory.carry import import_memory
from cam.memory.edits import edit
from cam.memory.flow import change, forget, remember, undo
from cam.memory.wish import Wish
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.projects import attach
from cam.system.files import explain, reason_of
from tests.unit.cli.run import run

PROJECT = MemoryScope.PROJECT
HOME = "projects/shop-1"
FILES = {
    "topic": f"{HOME}/project/workflow.md",
    "index": f"{HOME}/project/MEMORY.md",
    "history": f"{HOME}/project/memory-history.jsonl",
    "audit": f"{HOME}/audit/sync-log.jsonl",
}


def store_in(root: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(root), "shop-1", "shop-1"))


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    found = store_in(tmp_path / "store")
    remember(found, "Deploys run on Tuesdays", (), PROJECT, "workflow")
    remember(found, "Lint before you push", (), PROJECT, "workflow")
    return found


def say(store: MarkdownStore) -> object:
    return remember(store, "Ask Ada", (), PROJECT, "workflow")


def drop(store: MarkdownStore) -> object:
    return forget(store, [store.snapshot().records[0].ref], delete=True)


def put_away(store: MarkdownStore) -> object:
    return forget(store, [store.snapshot().records[0].ref], delete=False)


def reword(store: MarkdownStore) -> object:
    ref = store.snapshot().records[0].ref
    return change(store, "edit", partial(edit, wish=Wish("Deploys run on Mondays")), ref)


def take_in(store: MarkdownStore) -> object:
    path = Path(store.layout.root).with_name("list.json")
    path.write_text('[{"topic": "workflow", "summary": "Port 80"}]')
    return import_memory(store, str(path), PROJECT)


def attach_it(store: MarkdownStore) -> object:
    return attach(store.layout.root, "shop-1", KnownProject("new-2", "/there"), {"shop-1": "new-2"})


WRITES = (say, drop, put_away, reword, take_in, undo, attach_it)


def tree(root: Path) -> dict[str, bytes]:
    paths = (p for p in root.rglob("*") if p.is_file() and "cache" not in p.parts)
    return {str(p.relative_to(root)): p.read_bytes() for p in paths if ".lock" not in p.name}


@pytest.mark.parametrize("what", FILES)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_refused_before_it_begins(
    write: Callable[[MarkdownStore], object], what: str, store: MarkdownStore
) -> None:
    if write is reword and what == "index":
        return  # the counts stay, so the index does
    root = Path(store.layout.root)
    before, path = tree(root), root / FILES[what]
    path.chmod(0o400)
    with pytest.raises(WriteRefusedError, match=f"{path.name} is read-only.*chmod u.w"):
        write(store)
    assert tree(root) == before
    assert not os.listdir(store.layout.journal_folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    path.chmod(0o600)
    write(store)
    assert tree(root) != before


def test_others_are_written_all_the_same(store: MarkdownStore) -> None:
    Path(store.layout.root, FILES["topic"]).chmod(0o400)
    remember(store, "Port 80 is taken", (), PROJECT, "reference")
    reworded = store.snapshot().records
    assert {r.summary for r in reworded} >= {"Port 80 is taken", "Lint before you push"}


def test_an_index_whose_counts_stay_may_be_read_only(store: MarkdownStore) -> None:
    path = Path(store.layout.root, FILES["index"])
    path.chmod(0o400)
    reword(store)
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


def test_a_command_says_it_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAM_HOME", str(tmp_path / "store"))
    words = ("--cwd", str(tmp_path), "remember", "--scope", "global", "--topic", "workflow")
    assert run([*words, "Lint first"]) == 0
    path = tmp_path / "store/global/workflow.md"
    path.chmod(0o444)
    capsys.readouterr()
    assert run([*words, "Test last"]) == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"cam: {path} is read-only, so it stays as it is; 'chmod u+w' lets cam write it\n"


@contextmanager
def immutable(path: Path) -> Iterator[None]:
    if subprocess.run(["chattr", "+i", path], capture_output=True, check=False).returncode:
        pytest.skip("no file can be made immutable here")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", path], check=True)


@pytest.mark.skipif(not Path("/usr/bin/chattr").exists(), reason="needs chattr")
@pytest.mark.parametrize("what", [*FILES, "archive"])
def test_what_may_not_be_changed_at_all(store: MarkdownStore, what: str) -> None:
    root = Path(store.layout.root)
    put_away(store)
    before = tree(root)
    path = (
        root / FILES["topic"].replace("project/", "project/archive/")
        if what == "archive"
        else root / FILES[what]
    )
    with immutable(path), pytest.raises(StoreUnavailableError, match="permission denied"):
        put_away(store)
    assert tree(root) == before
    assert not os.listdir(store.layout.journal_folder)


@contextmanager
def mounted_read_only(path: Path) -> Iterator[None]:
    binds = (["mount", "--bind", path, path], ["mount", "-o", "remount,ro,bind", path])
    for words in binds:
        if subprocess.run(words, capture_output=True, check=False).returncode:
            subprocess.run(["umount", path], capture_output=True, check=False)
            pytest.skip("no folder can be mounted read-only here")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("write", [say, drop, take_in])
def test_a_read_only_file_system_is_called_so(
    write: Callable[[MarkdownStore], object], store: MarkdownStore
) -> None:
    root = Path(store.layout.root)
    before = tree(root)
    with (
        mounted_read_only(root),
        pytest.raises(StoreUnavailableError, match="file system is read-only; mount it writable"),
    ):
        write(store)
    assert tree(root) == before


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.EROFS, "mount it writable"),
        (errno.ENOSPC, "the disk is full; make room"),
        (errno.EDQUOT, "quota is used up; make room"),
        (errno.EIO, "the system's log"),
        (errno.ENAMETOOLONG, "choose a shorter one"),
    ],
)
def test_what_the_machine_refuses_is_named_with_what_to_do(number: int, told: str) -> None:
    said = explain(OSError(number, os.strerror(number)), "/there/file")
    assert said.startswith("/there/file: ")
    assert told in said


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("what", [*FILES, "folder"])
def test_what_belongs_to_another_user(what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # below pytest's own no other user may look
        os.chmod(folder, 0o755)
        refused_to_nobody(Path(folder, "store"), what)


def refused_to_nobody(root: Path, what: str) -> None:
    store = store_in(root)
    say(store)
    for path in (root, *root.rglob("*")):
        os.chown(path, 65534, 65534)
    path = root / (f"{HOME}/audit" if what == "folder" else FILES[what])
    os.chown(path, 0, 0)
    path.chmod(0o755 if what == "folder" else 0o644)
    if what == "folder":
        (path / "sync-log.jsonl").unlink()
    before = tree(root)
    assert _as_nobody(root) == ("StoreUnavailableError", "permission denied")
    assert tree(root) == before
    assert not os.listdir(store.layout.journal_folder)


def _as_nobody(root: Path) -> tuple[str, str]:
    """The error of a write by another user, and the end of its message."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            try:
                remember(store_in(root), "Lint before you push", (), PROJECT, "workflow")
                said = "nothing: it was written"
            except CamError as error:
                said = f"{type(error).__name__}: {str(error).rpartition(': ')[2]}"
            os.write(writing, said.encode())
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        kind, _, text = pipe.read().partition(": ")
    os.waitpid(child, 0)
    return kind, text


def test_what_has_no_words_of_ours_has_the_systems() -> None:
    assert reason_of(OSError(errno.EIO, "Input/output error")).startswith("the disk reports an error")
    assert explain(OSError(errno.ENOTCONN, "Gone Away"), "/there") == "/there: gone away"
    # No disk's fault: a damaged session says itself what is wrong with it.
    assert explain(OSError(errno.EIO, "the data are cut off"), "/there") == "/there: the data are cut off"
