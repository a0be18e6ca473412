"""A terminal for programs with a screen: a pty, a screen in memory, and the answers a real terminal gives.

Nothing sleeps: ``wait_for`` returns as soon as the screen shows what is asked for.
"""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Self

import pyte

ENTER = "\r"
ESCAPE = "\x1b"
CTRL_C = "\x03"
CTRL_D = "\x04"
UP = "\x1b[A"
DOWN = "\x1b[B"

# The child makes the pty its controlling terminal itself: a fork hook is not safe beside threads.
_STARTER = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvpe(sys.argv[1], sys.argv[1:], os.environ)"
)

_QUERY = re.compile(rb"\x1b\[(?P<csi>6n|5n|0?c|>0?c|\?u|\?\d+\$p)|\x1b\](?P<osc>1[0-2]);\?(?:\x07|\x1b\\)")
_NOT_FOR_PYTE = re.compile(
    rb"\x1b\[[<>=][0-9;]*[A-Za-z]|\x1b\[\?[0-9;]*(?:u|\$p)|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-9;?<>=$]*|\][^\x07\x1b]*\x1b?)?\Z")


class Tui:
    """A program under a pty.

    Args:
        argv: the program and its arguments.
        env: its whole environment; ``TERM`` is set.
        cwd: its folder.
        rows: the screen's height.
        columns: its width.
    """

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: str, *, rows: int = 40, columns: int = 120
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._left = b""
        self.raw = b""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _STARTER, *argv],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**env, "TERM": "xterm-256color"},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def text(self) -> str:
        """The screen, lines without trailing blanks."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n")

    def send(self, keys: str) -> None:
        """Type ``keys``."""
        os.write(self._master, keys.encode())

    def wait_for(self, wanted: str | Callable[[str], bool], timeout: float = 30.0) -> str:
        """Wait until the screen holds the text ``wanted``, or satisfies it; return the screen.

        Raises:
            AssertionError: it does not in ``timeout`` seconds, or the program ended before.
        """
        until = time.monotonic() + timeout
        holds = wanted if callable(wanted) else lambda text: wanted in text
        while not holds(self.text):
            if not self._read(until):
                raise AssertionError(f"no {wanted!r} on the screen:\n{self.text}")
        return self.text

    def press(self, keys: str, until: str | Callable[[str], bool], timeout: float = 30.0) -> str:
        """Type ``keys``, again every second, until the screen is as ``wait_for`` wants it.

        For dialogues, which drop what is typed in their first moment.
        """
        end = time.monotonic() + timeout
        while True:
            self.send(keys)
            try:
                return self.wait_for(until, min(1.0, end - time.monotonic()))
            except AssertionError:
                if time.monotonic() >= end or self.process.poll() is not None:
                    raise

    def submit(self, line: str, until: str | Callable[[str], bool], timeout: float = 30.0) -> str:
        """Type ``line`` into Codex's composer, see it there, and press Enter until the screen is as wanted.

        Enter right behind the text would count as part of a paste.
        """
        self.send(line)
        self.wait_for(lambda text: line in text.rpartition("›")[2], timeout)
        return self.press(ENTER, until, timeout)

    def wait_exit(self, timeout: float = 30.0) -> int:
        """Wait until the program ends; return its exit code (negative: the signal).

        Raises:
            AssertionError: it does not in ``timeout`` seconds.
        """
        until = time.monotonic() + timeout
        while self._read(until):
            pass
        try:
            return self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running:\n{self.text}") from None

    def close(self) -> None:
        """End the program and its children, if they still run, and give the pty back."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with contextlib.suppress(OSError):
            os.close(self._master)

    def _read(self, until: float) -> bool:
        """Take in what the program writes next; False when it ended or the time is up."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so when the last writer is gone.
            return False
        if not data:
            return False
        self.raw += data
        data = self._left + data
        cut = _UNFINISHED.search(data)
        self._left = data[cut.start() :] if cut else b""
        data = data[: cut.start()] if cut else data
        at = 0
        for query in _QUERY.finditer(data):
            self._show(data[at : query.start()])
            os.write(self._master, self._reply(query))
            at = query.end()
        self._show(data[at:])
        return True

    def _show(self, data: bytes) -> None:
        self._stream.feed(_NOT_FOR_PYTE.sub(b"", data))

    def _reply(self, query: re.Match[bytes]) -> bytes:
        """What a dark xterm would say."""
        if query["osc"]:
            colour = b"0000/0000/0000" if query["osc"] == b"11" else b"ffff/ffff/ffff"
            return b"\x1b]" + query["osc"] + b";rgb:" + colour + b"\x1b\\"
        match query["csi"]:
            case b"6n":
                cursor = self._screen.cursor
                return f"\x1b[{cursor.y + 1};{cursor.x + 1}R".encode()
            case b"5n":
                return b"\x1b[0n"
            case b"?u":
                return b"\x1b[?0u"
            case b"c" | b"0c":
                return b"\x1b[?62;22c"
            case b">c" | b">0c":
                return b"\x1b[>41;354;0c"
            case mode:
                return b"\x1b[" + mode.removesuffix(b"$p") + b";0$y"
