"""Files: read only what is a regular file, write whole or not at all, make it durable."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from cam.core.errors import IntegrityError, StoreUnavailableError, WriteRefusedError

_MACHINE = {
    errno.ENOSPC: "the disk is full; make room, then try again",
    errno.EDQUOT: "your disk quota is used up; make room, then try again",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only; mount it writable, or use a folder elsewhere",
    errno.EIO: "the disk reports an error; the system's log says more, and it may be failing",
    errno.EMFILE: "too many open files; 'ulimit -n' says how many may be open",
    errno.ENFILE: "too many open files in the whole system",
    errno.ENAMETOOLONG: "the name is too long for the file system; choose a shorter one",
    errno.EFBIG: "the file is larger than the file system or 'ulimit -f' allows",
    errno.ELOOP: "links lead in a circle",
    errno.ENOTDIR: "a file stands where a folder is expected",
    errno.EISDIR: "a folder stands where a file is expected",
}


def read_bytes(path: str) -> bytes | None:
    """The file's bytes, None if there is none. An unreadable file is never an empty one.

    Raises:
        IntegrityError: it is a folder, a link, a pipe or a device.
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(path):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise IntegrityError(f"{path}: this is no regular file; move it away") from None
            raise
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise IntegrityError(f"{path}: this is no regular file; move it away")
        with os.fdopen(descriptor, "rb") as file:
            return file.read()


def write_atomic(path: str, data: bytes) -> None:
    """Put ``data`` at ``path``, mode 0600: afterwards it is there whole and durable, or nothing changed.

    Raises:
        IntegrityError: something that is no regular file stands there.
        StoreUnavailableError: the machine refuses.
    """
    put_in_place(stage_file(path, data, str(os.getpid())), path)


def require_place(path: str) -> None:
    """Make sure that a file can stand at ``path``: a regular one does, or nothing, and above it are folders.

    Raises:
        IntegrityError: something else stands there or above.
        StoreUnavailableError: the machine refuses to say.
    """
    folder = os.path.dirname(path)
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise IntegrityError(f"{folder}: a folder is expected here; move away what stands there")
    with _machine_errors(path):
        _require_regular(path)


def require_writable(path: str) -> None:
    """Make sure that ``path`` can be written, replaced or made, as far as asking tells.

    Renaming over a file asks nothing of the file itself; a person who made it read-only by hand means that
    it stays as it is.

    Raises:
        WriteRefusedError: its owner may not write it: somebody took that away.
        IntegrityError: something else stands there or above.
        StoreUnavailableError: the machine refuses: it belongs to another user, may not be changed, or the
            file system is read-only.
    """
    require_place(path)
    with _machine_errors(path):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            folder = os.path.dirname(path)
            while not os.path.isdir(folder):
                folder = os.path.dirname(folder)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise _refusal(folder) from None
            return
        if not mode & stat.S_IWUSR:
            raise WriteRefusedError(
                f"{path} is read-only, so it stays as it is; 'chmod u+w' lets cam write it"
            )
        if not os.access(path, os.W_OK):
            raise _refusal(path)


def _refusal(path: str) -> OSError:
    """Why ``path`` may not be written: asking for access does not tell it."""
    is_fixed = os.statvfs(path).f_flag & os.ST_RDONLY
    number = errno.EROFS if is_fixed else errno.EACCES
    return OSError(number, os.strerror(number))


def stage_file(path: str, data: bytes, tag: str) -> str:
    """Write ``data`` durably beside ``path`` and return the temporary file; ``path`` itself is not touched.

    Raises:
        IntegrityError: something that is no regular file stands at ``path``.
        WriteRefusedError: what stands there is read-only.
        StoreUnavailableError: the machine refuses.
    """
    require_writable(path)
    folder = os.path.dirname(path)
    make_folder(folder)
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{tag}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with _machine_errors(path):
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            unlink_quietly(temporary)
            raise
    return temporary


def put_in_place(temporary: str, path: str) -> None:
    """Rename ``temporary`` to ``path``, durably.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(path):
        try:
            os.replace(temporary, path)
        except BaseException:
            unlink_quietly(temporary)
            raise
        sync_folder(os.path.dirname(path))


def rename_file(old: str, new: str) -> None:
    """Rename a file, over what stands at ``new``; after a power cut the old name may be back.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(new):
        os.replace(old, new)


def link_on_the_way(root: str, path: str) -> str:
    """The first part of ``path`` below the folder ``root`` that is a link, "" where none is."""
    for part in os.path.relpath(path, root).split(os.sep):
        root = os.path.join(root, part)
        if os.path.islink(root):
            return root
    return ""


def write_quick(path: str, data: bytes) -> None:
    """Put ``data`` at ``path`` whole, mode 0600, but not durable: for what can be made again.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with _machine_errors(path):
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            unlink_quietly(temporary)
            raise


def append_line(path: str, line: str) -> None:
    """Append ``line`` and a line feed, durable; a last line without end before it is closed first.

    Raises:
        IntegrityError: something that is no regular file stands there.
        WriteRefusedError: what stands there is read-only.
        StoreUnavailableError: the machine refuses.
    """
    require_writable(path)
    make_folder(os.path.dirname(path))
    with _machine_errors(path):
        is_new = not os.path.exists(path)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            data = line.encode("utf-8", "backslashreplace") + b"\n"
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                data = b"\n" + data
            written = file.write(data)
            if written != len(data):
                os.ftruncate(file.fileno(), size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        if is_new:
            sync_folder(os.path.dirname(path))


def append_to_log(path: str, line: str) -> None:
    """``append_line`` for a file of JSON lines: a last line that a crash tore is cut off first.

    Raises:
        IntegrityError: something that is no regular file stands there.
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(path), contextlib.suppress(FileNotFoundError):
        require_writable(path)
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                tail = _last_line(descriptor, size)
                if not _is_json(tail):
                    os.ftruncate(descriptor, size - len(tail))
        finally:
            os.close(descriptor)
    append_line(path, line)


def _is_json(line: bytes) -> bool:
    import json  # noqa: PLC0415 - only after a crash

    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _last_line(descriptor: int, size: int) -> bytes:
    """What stands behind the last line feed of a file."""
    tail = b""
    while size and b"\n" not in tail:
        start = max(0, size - 65_536)
        tail = os.pread(descriptor, size - start, start) + tail
        size = start
    return tail.rpartition(b"\n")[2]


def tail_holds(path: str, line: str, *, within: int = 1 << 20) -> bool:
    """Whether ``line`` stands whole among the last ``within`` bytes of the file."""
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    with _machine_errors(path):
        try:
            with open(path, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - within - len(data)))
                return data in file.read()
        except FileNotFoundError:
            return False


def exchange(temporary: str, path: str) -> bytes | None:
    """Put ``temporary`` at ``path`` and return what stood there, None if nothing did; durable.

    Where the system can (Linux), the two change places in one step, so that what somebody saved a moment
    before is what is returned, never something that is lost. Who has the old file open still, and appends to
    it, is waited for a little.

    Raises:
        IntegrityError: something that is no regular file stood there; it stands there again.
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(path):
        found: bytes | None = None
        if _rename_in_one_step(temporary, path, _NOREPLACE):
            pass
        elif _rename_in_one_step(temporary, path, _EXCHANGE):
            found = _read_settled(temporary)
            os.unlink(temporary)
        else:
            found = read_bytes(path)
            os.replace(temporary, path)
        sync_folder(os.path.dirname(path))
        return found


def exchange_folders(new: str, old: str) -> bool:
    """Let the folder ``new`` take the place of ``old``, in one step where the system can; durable.

    Returns:
        Whether ``old`` was there; it stands at ``new`` then.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    make_folder(os.path.dirname(old))
    with _machine_errors(old):
        was_there = os.path.isdir(old)
        if not was_there:
            os.rename(new, old)
        elif not _rename_in_one_step(new, old, _EXCHANGE):
            aside = f"{new}.old"
            os.rename(old, aside)
            os.rename(new, old)
            os.rename(aside, new)
        sync_folder(os.path.dirname(old))
        sync_folder(os.path.dirname(new))
        return was_there


def move_folder(old: str, new: str) -> None:
    """Rename a folder, durably.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    make_folder(os.path.dirname(new))
    with _machine_errors(old):
        os.rename(old, new)
        sync_folder(os.path.dirname(new))
        sync_folder(os.path.dirname(old))


def remove_folder(path: str) -> None:
    """Take a folder and all in it away; nothing happens if it is gone. Links are not followed.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    import shutil  # noqa: PLC0415 - only housekeeping

    with _machine_errors(path):
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return
        sync_folder(os.path.dirname(path))


def walk_files(path: str) -> Iterator[str]:
    """Relative paths of all files below ``path`` but folders, sorted; links are listed, not followed.

    Raises:
        StoreUnavailableError: a folder cannot be read.
    """
    with _machine_errors(path):
        for folder, folders, names in os.walk(path, onerror=_raise):
            folders.sort()
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for name in sorted([*names, *links]):
                yield os.path.relpath(os.path.join(folder, name), path)


def take_away(path: str) -> bytes | None:
    """Take the file away and return what it held, None if there was none; durable.

    Where an earlier try was cut short after the file had gone, what it held then is returned now.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.gone.tmp")
    with _machine_errors(path):
        try:
            os.rename(path, temporary)
        except FileNotFoundError:
            if not os.path.lexists(temporary):
                return None
        found = _read_settled(temporary)
        os.unlink(temporary)
        sync_folder(os.path.dirname(path))
        return found


def remove_file(path: str) -> None:
    """Take the file away, durably; nothing happens if it is gone.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        sync_folder(os.path.dirname(path))


def unlink_quietly(path: str) -> None:
    """Take a temporary file away; one that stays harms nobody."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def make_folder(path: str) -> None:
    """Make the folder and those above it, mode 0700.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(path):
        if os.path.isdir(path):
            return
        missing = []
        while not os.path.isdir(path):
            missing.append(path)
            parent = os.path.dirname(path)
            if parent == path:
                break
            path = parent
        for folder in reversed(missing):
            try:
                os.mkdir(folder, 0o700)
            except FileExistsError:
                if not os.path.isdir(folder):
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
            sync_folder(os.path.dirname(folder))


def sync_folder(path: str) -> None:
    """Make the folder's entries durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def list_folder(path: str) -> list[str]:
    """Names in the folder, sorted; empty if there is none.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    with _machine_errors(path):
        try:
            return sorted(os.listdir(path))
        except FileNotFoundError:
            return []


def safe_name(session: str) -> str:
    """A session's id as part of a file name."""
    return "".join(c for c in session if c.isalnum() or c in "-_")[:80] or "unnamed"


def explain(error: OSError, path: str | None = None) -> str:
    """An operating system's refusal in words: what, where."""
    what = reason_of(error)
    where = path or error.filename
    return f"{where}: {what}" if where else what


def reason_of(error: OSError) -> str:
    """``explain`` without the place; an error with words of its own, not the system's, keeps them."""
    number, said = error.errno or 0, error.strerror or str(error)
    return _MACHINE.get(number, said.lower()) if said == os.strerror(number) else said.lower()


@contextlib.contextmanager
def _machine_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailableError(explain(error, path)) from error


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none that can be asked."""
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0


def written_at(path: str) -> float:
    """When a file was last written, seconds since the epoch; 0 where there is none that can be asked."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _raise(error: OSError) -> None:
    if error.errno != errno.ENOENT:
        raise error


_NOREPLACE, _EXCHANGE = 1, 2  # linux/fs.h
_AT_FDCWD = -100


def _rename_in_one_step(old: str, new: str, flag: int) -> bool:
    """``renameat2`` with a flag; False where the system has no such call or the names do not allow it."""
    import ctypes  # noqa: PLC0415 - only where the store is written
    import sys  # noqa: PLC0415

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    sys.audit("cam.rename", old, new)  # tests let the process die here, as at any other file operation
    if call(_AT_FDCWD, os.fsencode(old), _AT_FDCWD, os.fsencode(new), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EEXIST, errno.ENOENT, errno.EINVAL, errno.ENOSYS, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), new)


_PATIENCE = 0.2
"""Seconds that are waited for an editor to close a file that was replaced under it."""


def _read_settled(path: str) -> bytes | None:
    """``read_bytes`` once nobody else has the file open, or patience is at an end."""
    import time  # noqa: PLC0415 - only where the store is written

    deadline = time.monotonic() + _PATIENCE
    found = read_bytes(path)
    while found is not None and _is_open_elsewhere(path) and time.monotonic() < deadline:
        time.sleep(0.005)
    return read_bytes(path)


def _is_open_elsewhere(path: str) -> bool:
    """Whether another process has the file open; False where the system does not tell (all but Linux)."""
    import fcntl  # noqa: PLC0415 - only where the store is written
    import signal  # noqa: PLC0415

    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # Should somebody open it while we ask, the system would say so with a signal that ends us.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        # Only who has a file open alone gets a lease of this kind.
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(descriptor)
    return False


def _require_regular(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise IntegrityError(f"{path}: this is no regular file; move it away")
