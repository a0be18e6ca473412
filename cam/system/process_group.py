"""A child that leads a process group: it ends with whatever it started."""

import contextlib
import os
import signal
import subprocess


def end_group(child: "subprocess.Popen[bytes]") -> None:
    """End the child and whatever it started: politely, and after a second for good."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1.0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
