"""A lock file that one writer holds at a time, whichever process or thread it is in.

Hooks hold one while Codex waits: filelock's import alone costs more than all that a hook may take.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cam.core.errors import StoreUnavailableError
from cam.system.files import explain

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02


class HeldElsewhereError(Exception):
    """Another writer holds the lock and did not let go in time."""


@contextmanager
def hold(path: str, seconds: float) -> Iterator[None]:
    """Hold the lock file ``path``; the system lets go of it when the process ends, however it does.

    Args:
        path: is made if it is not there; its folder must be.
        seconds: how long to wait for another holder.

    Raises:
        HeldElsewhereError: another one holds it still.
        StoreUnavailableError: the machine refuses.
    """
    try:
        descriptor = _acquire(path, time.monotonic() + seconds)
    except OSError as error:
        raise StoreUnavailableError(explain(error, path)) from error
    try:
        yield
    finally:
        os.close(descriptor)


def _acquire(path: str, deadline: float) -> int:
    pause = _FIRST_PAUSE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_the_one(descriptor, path):  # not a file that somebody took away meanwhile
                return descriptor
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                os.close(descriptor)
                raise
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise HeldElsewhereError
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _is_the_one(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
