"""Start Codex with the terminal handed over, and come back with its exit code."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType


def launch(program: str, arguments: Sequence[str], cwd: str) -> int:
    """Run Codex to its end; it has the terminal, and what is pressed there is for it.

    Args:
        program: the executable.
        arguments: for it.
        cwd: folder to start in.

    Returns:
        Its exit code, 128+n when signal n ended it.

    Raises:
        OSError: it cannot be started.
    """
    with _signals_for_child() as signals:
        child = subprocess.Popen([program, *arguments], cwd=cwd)
        signals.child = child
        code = child.wait()
    return 128 - code if code < 0 else code


class _Signals:
    """Passes on what only the wrapper got."""

    def __init__(self) -> None:
        self.child: subprocess.Popen[bytes] | None = None

    def ignore(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-C and its like reach Codex from the terminal itself."""

    def forward(self, number: int, _frame: FrameType | None) -> None:
        """``kill`` and a closed terminal reach the wrapper alone."""
        if self.child is not None and self.child.poll() is None:
            self.child.send_signal(number)


@contextmanager
def _signals_for_child() -> Iterator[_Signals]:
    # Handlers, not SIG_IGN: the child inherits what is ignored, but starts with handlers reset.
    signals = _Signals()
    handlers = {
        signal.SIGINT: signals.ignore,
        signal.SIGQUIT: signals.ignore,
        signal.SIGTERM: signals.forward,
        signal.SIGHUP: signals.forward,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
