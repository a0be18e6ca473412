r"""Codex's rollout files on disk: found, opened plain or compressed, read line by line in bounded memory.

A line ends at ``b"\n"`` and nowhere else. A failing read is an ``OSError`` for the caller, never an end of
file: what was not read to its end must not pass for read.
"""

import errno
import io
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from cam.core.lines import MAX_LINE, SkippedLine
from cam.core.problems import Problem
from cam.system.files import reason_of

_BUFFER = 64 * 1024  # larger ones cost more than they save: they no longer fit the processor's cache
_CHUNK = 1024 * 1024
_ZST = ".zst"
_STAMP = b'{"timestamp":"'
_SKIPPABLE_FRAME = range(0x184D2A50, 0x184D2A60)
_FRAME = 0xFD2FB528


@dataclass(frozen=True, slots=True)
class RolloutFile:
    """One rollout file, known by one stat.

    Attributes:
        path: where it is.
        size: bytes on disk (compressed where it is compressed).
        changed: mtime in nanoseconds.
        archived: it lies in ``archived_sessions``.
        inode: its number in the file system.
    """

    path: str
    size: int
    changed: int
    archived: bool = False
    inode: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found, the oldest name first, and the folders that could not be looked into."""

    files: tuple[RolloutFile, ...] = ()
    problems: tuple[Problem, ...] = ()


def list_rollouts(codex_home: str) -> Listing:
    """All rollout files of a Codex home, for one stat each; nothing is opened.

    Of a plain file and its compressed sibling the plain one counts. Linked folders are followed once; a link
    that leads back into what was seen, a broken link and a folder that may not be read are problems.
    """
    files: dict[str, RolloutFile] = {}
    problems: list[Problem] = []
    seen: set[tuple[int, int]] = set()
    for name in ("sessions", "archived_sessions"):
        archived = name == "archived_sessions"
        _walk(os.path.join(codex_home, name), files, problems, seen, archived=archived)
    found = sorted(files.values(), key=lambda f: (os.path.basename(f.path), f.path))
    return Listing(tuple(found), tuple(problems))


def read_blocks(path: str, start: int = 0) -> Iterator[bytes | SkippedLine]:
    r"""The file in blocks of whole lines, ``b"\n"`` included, the last one perhaps without.

    A line longer than ``MAX_LINE`` is passed over in pieces and reported as a ``SkippedLine``.

    Args:
        path: a plain or ``.zst`` file.
        start: byte to begin at, of the decompressed text.

    Raises:
        OSError: the file cannot be read to its end; ``ESTALE`` when it became shorter meanwhile, ``EIO`` when
            the compressed data are damaged or cut off.
    """
    with _open(path) as file:
        read = _skip_to(file, start)
        while block := file.read(_BUFFER):
            read += len(block)
            if block.endswith(b"\n"):
                yield block
                continue
            rest = file.readline(MAX_LINE + 1)
            read += len(rest)
            last = block.rfind(b"\n") + 1
            if len(block) - last + len(rest) <= MAX_LINE:
                yield block + rest
                continue
            size = len(block) - last + len(rest)
            if last:
                yield block[:last]
            del block
            while not rest.endswith(b"\n") and (rest := file.readline(_CHUNK)):
                size += len(rest)
                read += len(rest)
            yield SkippedLine(size)
        if not path.endswith(_ZST) and os.fstat(file.fileno()).st_size < read:
            raise OSError(errno.ESTALE, "the file was rewritten while it was read", path)


def read_lines(path: str, start: int = 0) -> Iterator[bytes | SkippedLine]:
    r"""The same line by line.

    Raises:
        OSError: as for ``read_blocks``.
    """
    for block in read_blocks(path, start):
        if isinstance(block, SkippedLine):
            yield block
            continue
        at = 0
        while at < len(block):
            end = block.find(b"\n", at) + 1 or len(block)
            yield block[at:end]
            at = end


def read_first_line(path: str) -> bytes | SkippedLine | None:
    """The first line, with as little reading as it takes; None where the file is empty.

    Raises:
        OSError: the file cannot be read.
    """
    with _open(path, buffer=32 * 1024, check=False) as file:
        line = file.readline(MAX_LINE + 1)
    if len(line) > MAX_LINE:
        return SkippedLine(len(line))
    return line or None


def last_time(path: str, since: str = "") -> str:
    """Time of the last record that has one, as it stands there; "" where that is not soon found.

    Args:
        path: the file; of a compressed one nothing is read.
        since: a file that was not written since this time is not opened.
    """
    if path.endswith(_ZST):
        return ""
    try:
        with _open(path, buffer=0) as file:
            state = os.fstat(file.fileno())
            if time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(state.st_mtime)) < since[:19]:
                return ""
            file.seek(max(0, state.st_size - _CHUNK))
            end = file.read(_CHUNK)
    except OSError:
        return ""
    at = end.rfind(_STAMP)
    return end[at + len(_STAMP) :].split(b'"', 1)[0][:40].decode("ascii", "replace") if at >= 0 else ""


def other_form(path: str) -> str:
    """The path of the same rollout compressed, or plain if this one is compressed."""
    return path.removesuffix(_ZST) if path.endswith(_ZST) else path + _ZST


def _walk(
    top: str,
    files: dict[str, RolloutFile],
    problems: list[Problem],
    seen: set[tuple[int, int]],
    *,
    archived: bool,
) -> None:
    folders = [top]
    while folders:
        folder = folders.pop()
        try:
            here = os.stat(folder)
            if (here.st_dev, here.st_ino) in seen:
                problems.append(Problem(folder, 0, "the link leads to a folder that was read already"))
                continue
            seen.add((here.st_dev, here.st_ino))
            with os.scandir(folder) as entries:
                inside = list(entries)
        except OSError as error:
            if not isinstance(error, FileNotFoundError) or folder != top or os.path.islink(top):
                problems.append(_refused(folder, error))
            continue
        for entry in inside:
            try:
                if entry.is_dir():
                    folders.append(entry.path)
                elif _is_rollout(entry.name) or entry.is_symlink():
                    _take(entry, files, archived=archived)
            except OSError as error:
                if not isinstance(error, FileNotFoundError) or entry.is_symlink():  # else: gone meanwhile
                    problems.append(_refused(entry.path, error))


def _take(entry: "os.DirEntry[str]", files: dict[str, RolloutFile], *, archived: bool) -> None:
    known = entry.stat()  # fails for a link that leads nowhere
    if not stat.S_ISREG(known.st_mode) or not _is_rollout(entry.name):
        return
    plain = entry.path.removesuffix(_ZST)
    if plain not in files or entry.path == plain:
        files[plain] = RolloutFile(entry.path, known.st_size, known.st_mtime_ns, archived, known.st_ino)


def _is_rollout(name: str) -> bool:
    return name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.zst"))


def _refused(path: str, error: OSError) -> Problem:
    return Problem(
        path, 0, f"cannot be read: {reason_of(error)}", "sessions in it are not seen until it can be read"
    )


def _open(path: str, *, buffer: int = _BUFFER, check: bool = True) -> IO[bytes]:
    """Open a regular file (a pipe would block for ever), decompressed where its name says so."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        file = os.fdopen(descriptor, "rb", buffering=buffer)
    except BaseException:
        os.close(descriptor)
        raise
    return _decompressed(file, path, check=check) if path.endswith(_ZST) else file


def _decompressed(file: IO[bytes], path: str, *, check: bool) -> IO[bytes]:
    import zstandard  # noqa: PLC0415 - 10 ms that only compressed rollouts should cost

    class Source(io.RawIOBase):
        """Decompressed bytes; damage is an I/O error like that of a failing disk."""

        def readable(self) -> bool:
            return True

        def readinto(self, into: object) -> int:
            try:
                return int(reader.readinto(into))
            except zstandard.ZstdError as error:
                raise OSError(errno.EIO, f"the compressed data are damaged ({error})", path) from None

        def close(self) -> None:
            file.close()
            super().close()

    try:
        if check and not _ends_whole(file):
            raise OSError(errno.EIO, "the compressed data are cut off", path)
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)
    except BaseException:
        file.close()
        raise
    return io.BufferedReader(Source(), _BUFFER)


def _ends_whole(file: IO[bytes]) -> bool:
    """Whether a compressed file ends where a frame ends (RFC 8878).

    The decompressor ends at a cut in silence. Reads the block headers alone; other damage it finds itself.
    """
    size = os.fstat(file.fileno()).st_size
    at = 0
    try:
        while at < size:
            file.seek(at)
            head = file.read(6)
            magic = int.from_bytes(head[:4], "little")
            if magic in _SKIPPABLE_FRAME:
                file.seek(at + 4)
                at += 8 + int.from_bytes(file.read(4), "little")
                continue
            if len(head) < 6 or magic != _FRAME:
                return magic != _FRAME and len(head) >= 4
            at = _frame_end(file, at, head[4])
            if at < 0:
                return False
        return at == size
    finally:
        file.seek(0)


def _frame_end(file: IO[bytes], at: int, descriptor: int) -> int:
    """Where the frame at ``at`` ends; -1 where the file ends before it."""
    single = descriptor >> 5 & 1
    content = (single, 2, 4, 8)[descriptor >> 6]
    at += 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + content
    while True:
        file.seek(at)
        block = file.read(3)
        if len(block) < 3:
            return -1
        header = int.from_bytes(block, "little")
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        if header & 1:
            return at + 4 * (descriptor >> 2 & 1)


def _skip_to(file: IO[bytes], start: int) -> int:
    if file.seekable():
        return file.seek(start)
    left = start
    while left and (piece := file.read(min(left, _CHUNK))):
        left -= len(piece)
    return start - left
