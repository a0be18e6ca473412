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
            child = os.posix_spawn(
                program, [program, *arguments], environment, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ)
            )  # Python ignores those two, and what is ignored is inherited
            signals.reach(child)
        with suppress(Exception):  # Codex runs: from here on its exit code is all that counts
            meanwhile()
        _, status = os.waitpid(child, 0)
        signals.child = 0
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


class _Signals:
    """Passes on what only the wrapper got."""

    def __init__(self) -> None:
        self.child = 0
        self._early = 0

    def reach(self, child: int) -> None:
        """From now on ``child`` gets what comes; a signal that was too early for it comes now."""
        self.child = child
        if self._early:
            self.forward(self._early, None)

    def ignore(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-C and its like reach Codex from the terminal itself."""

    def forward(self, number: int, _frame: FrameType | None) -> None:
        """``kill`` and a closed terminal reach the wrapper alone."""
        if not self.child:
            self._early = number
            return
        with suppress(ProcessLookupError):
            os.kill(self.child, number)


@contextmanager
def _working_in(folder: str) -> Iterator[None]:
    here = ""
    with suppress(OSError):  # it was deleted
        here = os.getcwd()
    if folder == here:
        yield
        return
    os.chdir(folder)
    try:
        yield
    finally:
        if here:
            with suppress(OSError):  # Codex runs; nothing of cam's depends on the way back
                os.chdir(here)


@contextmanager
def _signals_for_child() -> Iterator[_Signals]:
    # Handlers, not SIG_IGN: the child inherits what is ignored, but starts with handlers reset.
    signals = _Signals()
    handlers: dict[signal.Signals, Callable[[int, FrameType | None], None] | signal.Handlers] = {
        signal.SIGINT: signals.ignore,
        signal.SIGQUIT: signals.ignore,
        signal.SIGTERM: signals.forward,
        signal.SIGHUP: signals.forward,
        signal.SIGCHLD: signal.SIG_DFL,  # where it is ignored, the exit code is lost
    }
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        # What is ignored stays so, for Codex too: nohup, and shells that start in the background, mean it.
        if number == signal.SIGCHLD or signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
