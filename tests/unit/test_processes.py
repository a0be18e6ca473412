"""What the tests themselves rely on: a process that was started is seen at once."""

import os
import sys
from pathlib import Path

from tests.processes import processes_with


def test_a_process_that_has_only_just_been_started_is_found(tmp_path: Path) -> None:
    here = str(tmp_path)
    for _ in range(20):
        words = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()", "waits"]
        read, write = os.pipe()
        pid = os.posix_spawn(words[0], words, {"HERE": here}, file_actions=[(os.POSIX_SPAWN_DUP2, read, 0)])
        found = processes_with("HERE", here)
        os.close(read)
        os.close(write)
        assert os.waitpid(pid, 0)[1] == 0
        assert b"\0waits\0" in found[pid]
