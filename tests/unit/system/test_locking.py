"""One writer at a time, whatever becomes of the holder or of the lock file."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cam.core.errors import StoreUnavailableError
from cam.system.locking import HeldElsewhereError, hold

HOLDER = """
import sys
from cam.system.locking import hold
with hold(sys.argv[1], 0):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_at_a_time(tmp_path: Path) -> None:
    lock, count = str(tmp_path / "lock"), tmp_path / "count"
    count.write_text("0")

    def add(_: int) -> None:
        with hold(lock, 30):
            count.write_text(str(int(count.read_text()) + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(80)))
    assert count.read_text() == "80"


def test_the_lock_of_a_process_that_died_is_free(tmp_path: Path) -> None:
    lock = str(tmp_path / "lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(HeldElsewhereError), hold(lock, 0.05):
            pass
        holder.kill()
        holder.wait()
    with hold(lock, 0):
        pass


def test_a_lock_file_that_was_taken_away_holds_nobody_out_for_long(tmp_path: Path) -> None:
    lock = str(tmp_path / "lock")
    with hold(lock, 0):
        os.unlink(lock)
        with hold(lock, 0), pytest.raises(HeldElsewhereError), hold(lock, 0):
            pass


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreUnavailableError, match="folder stands where a file is expected"),
        hold(str(tmp_path), 0),
    ):
        pass
