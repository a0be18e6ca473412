"""Starts are made ready again after memory changed, by a process that nobody waits for."""

import contextlib
import os
import signal
import sys

from cam.core.errors import CamError
from cam.startup.ready import forget_ready, ready_root, stale_folders, stands_ready
from cam.system.background import start_apart

_MOST = 8  # folders: those where somebody works
_ROUNDS = 3  # memory may change once more meanwhile
_MOST_SECONDS = 60


def renew_later() -> None:
    """Have the starts that stood ready made anew, where there are any; an error is none of the caller's."""
    with contextlib.suppress(OSError):
        if stands_ready():
            start_apart([sys.executable, "-I", "-m", "cam", "hook", "ready"])


def main() -> int:
    """Make them anew, in a process of its own."""
    signal.alarm(_MOST_SECONDS)
    renew()
    return 0


def renew() -> None:
    """Make them anew; who comes while another does leaves it to that one."""
    from cam.hosts.hook_compile import make_ready  # noqa: PLC0415 - not for those who only ask for it
    from cam.store.hook_notes import one_at_a_time  # noqa: PLC0415

    with (
        contextlib.suppress(CamError),
        one_at_a_time(os.path.join(ready_root(), "cache"), "ready") as is_mine,
    ):
        for _ in range(_ROUNDS if is_mine else 0):
            folders = stale_folders(_MOST)
            for cwd in folders:
                can_stand = False
                with contextlib.suppress(CamError):
                    can_stand = make_ready(cwd)
                if not can_stand:
                    forget_ready(cwd)
            if not folders:
                break
