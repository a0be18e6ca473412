"""An MCP client made of bytes, for what the SDK's own client would never send."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Wire:
    """``cam mcp serve`` and the pipes to it.

    Args:
        folder: where it is started.
        arguments: behind ``mcp serve``.
        capabilities: of this client.
    """

    def __init__(
        self, folder: Path, *arguments: str, capabilities: dict[str, Any] | None = None, greet: bool = True
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cam", "mcp", "serve", *arguments],
            cwd=folder, env=dict(os.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self._watchdog = threading.Timer(60, self.process.kill)
        self._watchdog.start()
        self.number = 0
        if greet:
            params = {**INITIALIZE, "capabilities": capabilities or {}}
            self.greeting = self.ask("initialize", params)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> int:
        """Hang up, and wait for the server's end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        code = self.process.wait(timeout=20)
        self._watchdog.cancel()
        if not self.process.stderr.closed:
            self.stderr = self.process.stderr.read().decode()
            self.process.stderr.close()
        return code

    def raw(self, data: bytes) -> None:
        """Send bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        """Send one message."""
        self.raw(json.dumps(message).encode() + b"\n")

    def next(self) -> Any:
        """The next message from the server."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has gone"
        return json.loads(line)

    def ask(self, method: str, params: Any = None) -> Any:
        """Send a request and wait for its answer."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}})
        answer = self.next()
        assert answer["id"] == self.number
        return answer

    def call(self, tool: str, arguments: Any = None, **more: Any) -> Any:
        """A tool's result."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments or {}, **more})["result"]
