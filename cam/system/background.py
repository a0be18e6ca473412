"""A process that goes on when this one has ended: no terminal, its own session."""

import os
import sys
from collections.abc import Sequence


def start_cam(folder: str, words: Sequence[str]) -> None:
    """Start a cam of its own session that works on in ``folder``; for callers in which threads may run.

    What cam leaves to itself is no agent's doing, whoever started the session.

    Args:
        folder: the value of ``--cwd``.
        words: the command and its arguments.

    Raises:
        OSError: it cannot be started.
    """
    import subprocess  # noqa: PLC0415 - a hook must not wait for it, nor for the next

    from cam.system.environment import AGENT_VARIABLES  # noqa: PLC0415

    subprocess.Popen(
        [sys.executable, "-I", "-m", "cam", "--cwd", folder, *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name not in AGENT_VARIABLES},
    )  # fmt: skip


def start_apart(words: Sequence[str]) -> None:
    """Start a program apart from this process, which is about to end; what it prints goes nowhere.

    No ``subprocess`` and no fork: the caller answers Codex and has no milliseconds to give away.

    Args:
        words: the program's path and its arguments.

    Raises:
        OSError: no process can be started.
    """
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    os.posix_spawn(words[0], list(words), os.environ, file_actions=nowhere, setsid=True)
