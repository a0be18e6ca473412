"""Start Codex with the terminal handed over, and come back with its exit code."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType


def launch(
    program: str,
    arguments: Sequence[str],
    cwd: str,
    meanwhile: Callable[[], None] = lambda: None,
    variables: Mapping[str, str] | None = None,
) -> int:
    """Run Codex to its end; it has the terminal, and what is pressed there is for it.

    Args:
        program: the executable.
        arguments: for it.
        cwd: folder to start in.
        meanwhile: called once when it runs.
        variables: for it, beside those of this process.

    Returns:
        Its exit code, 128+n when signal n ended it.

    Raises:
        OSError: it cannot be started.
    """
    environment = {**os.environ, **(variables or {})}
    with _signals_for_child() as signals:
        # Not subprocess: its import costs a third of an interpreter, and Codex would wait for it.
        with _working_in(cwd):
            signals.child = os.posix_spawn(
                program, [program, *arguments], environment, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ)
            )  # Python ignores those two, and what is ignored is inherited
        meanwhile()
        _, status = os.waitpid(signals.child, 0)
        signals.child = 0
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


class _Signals:
    """Passes on what only the wrapper got."""

    def __init__(self) -> None:
        self.child = 0

    def ignore(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-C and its like reach Codex from the terminal itself."""

    def forward(self, number: int, _frame: FrameType | None) -> None:
        """``kill`` and a closed terminal reach the wrapper alone."""
        if self.child:
            with suppress(ProcessLookupError):
                os.kill(self.child, number)


@contextmanager
def _working_in(folder: str) -> Iterator[None]:
    here = os.getcwd()
    if folder == here:
        yield
        return
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


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
