"""What a crash leaves behind, at every point where it may come.

``deaths``
    the process ends at a file operation; what it did before is there.
``power_cuts``
    the machine goes off at a file operation: of what was not made durable by then anything may be missing.
    A model of the disk watches the process. Names of a folder are durable once the folder was synced, a
    file's content once the file was; of the changes of names since, none, all, each alone and all but each
    are tried, since a file system may write them in any order; content that was not synced is gone, torn,
    zero, or there.
``kills``
    SIGKILL at a system call, in a process that is traced (Linux, where the kernel allows it); what it started
    dies with it.
``faults``
    the disk is full at an operation that writes, and the process goes on; the work may raise ``CamError``.

Each works on a copy of a folder, calls ``work`` (a function of a test module) in a process of its own, and
gives the folders that differ from each other.
"""

import ctypes
import errno
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from pathlib import Path

from cam.core.errors import CamError

Work = Callable[[str], object]

DIED = 99
OPERATIONS = (
    "open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "cam.rename",
    "subprocess.Popen",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Crash:
    """One state of the disk after a crash.

    Attributes:
        root: the folder.
        point: where it came, for messages.
        is_done: whether the work had returned by then.
    """

    root: Path
    point: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class Crashes:
    """What was tried.

    Attributes:
        points: at how many operations or calls the crash came.
        states: folders that differ; the states of the whole work are among them.
    """

    points: int
    states: tuple[Crash, ...]


class CannotTraceError(Exception):
    """This machine lets no process trace another."""


def deaths(work: Work, before: Path, target: Path, every: int = 1) -> Crashes:
    """The folder after the death of the process at each file operation, or start of another process, in turn.

    Args:
        work: a function of a test module.
        before: the folder.
        target: where the folders go.
        every: of so many points only one is tried.
    """
    return _run("deaths", work, before, target, every)


def faults(work: Work, before: Path, target: Path, every: int = 1) -> Crashes:
    """The folder after the machine refused one file operation (the disk is full) and the work gave up."""
    return _run("faults", work, before, target, every)


def power_cuts(work: Work, before: Path, target: Path) -> Crashes:
    """The folder after a power cut at each file operation in turn."""
    return _run("power_cuts", work, before, target)


def kills(work: Work, before: Path, target: Path, every: int = 1) -> Crashes:
    """The folder after SIGKILL at each system call in turn, or at one of so many.

    Raises:
        CannotTraceError: this machine lets no process trace another.
    """
    return _run("kills", work, before, target, every)


def _run(kind: str, work: Work, before: Path, target: Path, every: int = 1) -> Crashes:
    name = f"{work.__module__}:{work.__name__}"
    line = [sys.executable, "-m", "tests.fakes.crashes", kind, name, str(before), str(target), str(every)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode == DIED:
        raise CannotTraceError(done.stderr)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    return Crashes(said["points"], tuple(Crash(Path(p), at, done) for p, at, done in said["states"]))


class _States:
    """Collects the folders that differ."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.found: dict[tuple[str, bool], tuple[str, str, bool]] = {}
        self.points = 0

    def keep(self, root: str, point: str, *, is_done: bool) -> None:
        """Keep the folder, or take it away if one like it is there."""
        key = (_digest(_tree(root)), is_done)
        if key in self.found:
            shutil.rmtree(root, ignore_errors=True)
        else:
            self.found[key] = (root, point, is_done)

    def make(self, tree: Mapping[str, bytes | None], point: str, *, is_done: bool) -> None:
        """Keep a folder that does not stand anywhere yet."""
        key = (_digest(tree), is_done)
        if key in self.found:
            return
        root = f"{self.target}/{len(self.found)}"
        os.makedirs(root, mode=0o700)
        for path, data in sorted(tree.items()):
            if data is None:
                os.mkdir(f"{root}/{path}", 0o700)
            else:
                with open(os.open(f"{root}/{path}", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                    file.write(data)
        self.found[key] = (root, point, is_done)

    def say(self) -> None:
        """Tell the caller."""
        print(json.dumps({"points": self.points, "states": list(self.found.values())}))


def _tree(root: str) -> dict[str, bytes | None]:
    """Content by relative path; None for folders, the target of a link for links."""
    tree: dict[str, bytes | None] = {}
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            data = os.readlink(path).encode() if stat.S_ISLNK(mode) else None
            tree[os.path.relpath(path, root)] = Path(path).read_bytes() if stat.S_ISREG(mode) else data
    return tree


def _digest(tree: Mapping[str, bytes | None]) -> str:
    # The owner of a lock names a process: it differs each time and means nothing afterwards.
    known = [(path, data) for path, data in sorted(tree.items()) if not path.endswith(".lock.owner")]
    return hashlib.sha256(repr(known).encode()).hexdigest()


def _all_deaths(work: Work, before: str, states: _States, every: int, *, refuse: bool = False) -> None:
    for die_at in count(1, every):
        root = f"{states.target}/{die_at}"
        shutil.copytree(before, root, symlinks=True)
        child = os.fork()
        if not child:
            seen = count(1)

            def audit(event: str, args: tuple[object, ...], root: str = root, die_at: int = die_at) -> None:
                if refuse and event == "open" and not int(str(args[2])) & (os.O_WRONLY | os.O_RDWR):
                    return
                if event in OPERATIONS and root in str(args) and next(seen) == die_at:  # noqa: B023
                    if not refuse:
                        os._exit(DIED)
                    Path(f"{root}.refused").touch()
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(args[0]))

            sys.addaudithook(audit)
            _work_and_exit(work, root)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in {0, DIED}, f"the work failed: {code}"
        states.points += code == DIED
        states.keep(root, f"operation {die_at}", is_done=code == 0)
        if code == 0 and not os.path.exists(f"{root}.refused"):
            return


def _work_and_exit(work: Work, root: str) -> None:
    try:
        work(root)
    except SystemExit as done:
        os._exit(done.code if isinstance(done.code, int) else 1)
    except CamError:
        os._exit(DIED)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


Names = dict[int, dict[str, int]]


@dataclass
class _Disk:
    """A model of a folder on a disk: what is there, and what of it a power cut would leave.

    Files and folders have numbers of their own, since a file system gives an inode's number again.

    Attributes:
        root: the folder.
        numbers: by inode.
        names: of each folder, as they are.
        synced_names: as they are durably.
        content: of each file, as it is.
        synced: as it is durably.
        pending: changes of names that are not durable, each all or nothing, oldest first.
    """

    root: str
    numbers: dict[int, int] = field(default_factory=dict)
    names: Names = field(default_factory=dict)
    synced_names: Names = field(default_factory=dict)
    content: dict[int, bytes] = field(default_factory=dict)
    synced: dict[int, bytes] = field(default_factory=dict)
    pending: list[dict[tuple[int, str], int | None]] = field(default_factory=list)
    last: int = 0

    def look(self) -> None:
        """Take in what the process did since the last look: one change of names at most."""
        alive: dict[int, int] = {}
        names: Names = {}
        self._look_into(self.root, alive, names)
        change: dict[tuple[int, str], int | None] = {}
        for folder in {*self.names, *names}:
            old, new = self.names.get(folder, {}), names.get(folder, {})
            gone_with_it = folder not in names
            for name in {*old, *new}:
                if old.get(name) != new.get(name) and not gone_with_it:
                    change[folder, name] = new.get(name)
        if change:
            self.pending.append(change)
        self.numbers, self.names = alive, names

    def _look_into(self, path: str, alive: dict[int, int], names: Names) -> int:
        status = os.lstat(path)
        number = self.numbers.get(status.st_ino)
        if number is None:
            self.last += 1
            number = self.last
        alive[status.st_ino] = number
        if stat.S_ISDIR(status.st_mode):
            names[number] = {
                name: self._look_into(os.path.join(path, name), alive, names) for name in os.listdir(path)
            }
        else:
            self.content[number] = Path(path).read_bytes()
        return number

    def settle(self) -> None:
        """All that is there is durable."""
        self.look()
        self.synced_names = {folder: dict(names) for folder, names in self.names.items()}
        self.synced = dict(self.content)
        self.pending = []

    def sync(self, descriptor: int) -> None:
        """A file or folder was made durable."""
        self.look()
        number = self.numbers.get(os.fstat(descriptor).st_ino)
        if number is None:
            return
        if number in self.content:
            self.synced[number] = self.content[number]
        done = [change for change in self.pending if any(folder == number for folder, _ in change)]
        for change in done:
            self.pending.remove(change)
            _apply(self.synced_names, change)

    def after_power_cut(self) -> Iterator[tuple[str, dict[str, bytes | None]]]:
        """What may be there afterwards, with a word on how."""
        whole = list(range(len(self.pending)))
        choices = [
            [], whole, *([n] for n in whole), *([m for m in whole if m != n] for n in whole),
        ]  # fmt: skip
        torn, zero = (
            {n: spoil(self.synced.get(n, b""), data) for n, data in self.content.items()}
            for spoil in (_torn, _zeroed)
        )
        for chosen in dict.fromkeys(map(tuple, choices)):
            names = {folder: dict(inside) for folder, inside in self.synced_names.items()}
            for n in chosen:
                _apply(names, self.pending[n])
            for how, content in (
                ("unsynced content gone", self.synced),
                ("unsynced content torn", torn),
                ("unsynced content zero", zero),
                ("all content there", self.content),
            ):
                tree: dict[str, bytes | None] = {}
                self._grow(tree, names, content, self.numbers[os.lstat(self.root).st_ino], "")
                yield f"changes {list(chosen)} of {len(whole)} there, {how}", tree

    def _grow(
        self, tree: dict[str, bytes | None], names: Names, content: Mapping[int, bytes], at: int, path: str
    ) -> None:
        for name, number in names.get(at, {}).items():
            inner = f"{path}{name}"
            if number in self.content:
                tree[inner] = content.get(number, b"")
            else:
                tree[inner] = None
                self._grow(tree, names, content, number, f"{inner}/")


def _torn(synced: bytes, data: bytes) -> bytes:
    """Half of what was written since; what was durable stays, unless it was written over."""
    kept = len(synced) if data.startswith(synced) else 0
    return data[: kept + (len(data) - kept + 1) // 2]


def _zeroed(synced: bytes, data: bytes) -> bytes:
    """The file's length was written, its content was not."""
    kept = len(synced) if data.startswith(synced) else 0
    return data[:kept] + b"\0" * (len(data) - kept)


def _apply(names: Names, change: Mapping[tuple[int, str], int | None]) -> None:
    for (folder, name), number in change.items():
        inside = names.setdefault(folder, {})
        if number is None:
            inside.pop(name, None)
        else:
            inside[name] = number


def _all_power_cuts(work: Work, before: str, states: _States, every: int) -> None:
    assert every == 1, "of the disk's states none is left out"
    root = f"{states.target}/live"
    shutil.copytree(before, root, symlinks=True)
    disk = _Disk(root)
    disk.settle()
    is_looking = False

    def cut(point: str, *, is_done: bool = False) -> None:
        for how, tree in disk.after_power_cut():
            states.make(tree, f"{point}: {how}", is_done=is_done)

    def audit(event: str, args: tuple[object, ...]) -> None:
        nonlocal is_looking
        if event in OPERATIONS and not is_looking and root in str(args[0]):
            is_looking = True
            states.points += 1
            disk.look()
            cut(f"before {event} {os.path.relpath(str(args[0]), root)}")
            is_looking = False

    plain_sync = os.fsync

    def sync(descriptor: int) -> None:
        nonlocal is_looking
        is_looking = True
        states.points += 1
        disk.look()
        cut("before a sync")
        plain_sync(descriptor)
        disk.sync(descriptor)
        is_looking = False

    os.fsync = sync
    sys.addaudithook(audit)
    work(root)
    is_looking = True
    disk.look()
    cut("after the work", is_done=True)
    shutil.rmtree(root)


_TRACE_ME, _NEXT_CALL, _SET_OPTIONS = 0, 24, 0x4200  # linux/ptrace.h
_GOOD_CALLS = 1


def _all_faults(work: Work, before: str, states: _States, every: int) -> None:
    _all_deaths(work, before, states, every, refuse=True)


def _all_kills(work: Work, before: str, states: _States, every: int) -> None:
    for kill_at in count(1, every):
        root = f"{states.target}/{kill_at}"
        shutil.copytree(before, root, symlinks=True)
        code = _kill_at(work, root, kill_at)
        states.points += code < 0
        states.keep(root, f"system call {kill_at}", is_done=code == 0)
        assert code in {0, -signal.SIGKILL}, f"the work failed: {code}"
        if code == 0:
            return


def _kill_at(work: Work, root: str, kill_at: int) -> int:
    """Run ``work`` in a traced child and kill it as it enters its system call number ``kill_at``."""
    trace = ctypes.CDLL(None, use_errno=True).ptrace
    trace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    trace.restype = ctypes.c_long
    child = os.fork()
    if not child:
        os.setsid()
        if trace(_TRACE_ME, 0, None, None):
            os._exit(DIED)
        os.kill(os.getpid(), signal.SIGSTOP)
        _work_and_exit(work, root)
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status) or trace(_SET_OPTIONS, child, None, _GOOD_CALLS):
        sys.stderr.write("no process may trace another here\n")
        os._exit(DIED)
    passed = 0  # stops at entry and exit of calls take turns
    send = 0
    while True:
        trace(_NEXT_CALL, child, None, send)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        is_call = os.WSTOPSIG(status) == signal.SIGTRAP | 0x80
        send = 0 if is_call else os.WSTOPSIG(status)
        passed += is_call
        if passed == 2 * kill_at - 1:
            os.killpg(child, signal.SIGKILL)
            send = 0


def main() -> None:
    """Carry out what ``_run`` asked for."""
    kind, name, before, target, every = sys.argv[1:]
    module, _, function = name.partition(":")
    work: Work = getattr(import_module(module), function)
    os.makedirs(target)
    warm = f"{target}/warm"  # whatever is imported late is imported before
    shutil.copytree(before, warm, symlinks=True)
    states = _States(target)
    _warm_up(work, warm)
    ways = {"deaths": _all_deaths, "faults": _all_faults, "power_cuts": _all_power_cuts, "kills": _all_kills}
    ways[kind](work, before, states, int(every))
    states.say()


def _warm_up(work: Work, root: str) -> None:
    with suppress(SystemExit):  # a command ends so
        work(root)
    shutil.rmtree(root)


if __name__ == "__main__":
    main()
