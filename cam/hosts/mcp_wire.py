"""stdin and stdout as the MCP server's wire: bounded frames, bounded work, and an end when the client ends.

The SDK's own transport reads a line of any length and drops what it cannot parse without a word. Here a frame
has a bound, whatever is no message is answered with an error, and no more is read while much is unanswered.
At the end of what there is to read the SDK drops what it has not answered yet; here that is answered first.
"""

import asyncio
import json
import os
import threading
from collections import Counter
from typing import Any, BinaryIO, Self

import anyio
from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

MAX_FRAME = 4 << 20
"""Bytes of one message; the largest item that may be remembered fits in, escaped."""

MAX_TASKS = 300
"""Tasks at which reading waits for answers to be written."""

_PATIENCE = 5.0  # seconds that the next answer may take once the client has said its last

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class Unanswered:
    """Requests that were read and whose answers were not written yet, by their ids."""

    def __init__(self) -> None:
        self._open: Counter[int | str] = Counter()
        self._answered = anyio.Event()

    def came_in(self, message: Any) -> None:
        """Take note of a message of the client's."""
        if isinstance(message, JSONRPCRequest):
            self._open[message.id] += 1
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            name = (message.params or {}).get("requestId")
            if isinstance(name, (int, str)):
                self._open.pop(name, None)

    def went_out(self, text: str) -> None:
        """Take note of a message that was written."""
        said = json.loads(text)
        name = said.get("id")
        if "method" in said or name not in self._open:
            return
        self._open[name] -= 1
        if not self._open[name]:
            del self._open[name]
        self._answered.set()

    async def wait(self) -> None:
        """Return once all is answered, or no answer came for too long."""
        while self._open:
            self._answered = anyio.Event()
            with anyio.move_on_after(_PATIENCE) as scope:
                await self._answered.wait()
            if scope.cancelled_caught:
                return


class Output:
    """What the SDK writes to: one whole line at a time.

    Args:
        file: the wire.
        unanswered: what is to be answered.
    """

    def __init__(self, file: BinaryIO, unanswered: Unanswered) -> None:
        self._file = file
        self._lock = anyio.Lock()
        self._unanswered = unanswered

    async def write(self, text: str) -> None:
        """Write one line."""
        async with self._lock:
            await anyio.to_thread.run_sync(self._put, text.encode("utf-8"), abandon_on_cancel=True)
        self._unanswered.went_out(text)

    async def flush(self) -> None:
        """Nothing is held back."""

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()


class Input:
    """What the SDK reads from: lines that hold a message each.

    Args:
        file: the wire.
        output: where what is no message is answered.
        unanswered: what is to be answered before the end.
    """

    def __init__(self, file: BinaryIO, output: Output, unanswered: Unanswered) -> None:
        self._file = file
        self._output = output
        self._unanswered = unanswered

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> str:
        """The next message as it came."""
        while True:
            while len(asyncio.all_tasks()) > MAX_TASKS:
                await anyio.sleep(0.01)
            line = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
            if line is None:
                await self._refuse(None, _INVALID_REQUEST, f"a message has {MAX_FRAME >> 20} MiB at most")
                continue
            if not line:
                await self._unanswered.wait()
                _leave_soon()
                raise StopAsyncIteration
            if not line.strip():
                continue
            text = line.decode("utf-8", "replace")
            try:
                message = jsonrpc_message_adapter.validate_json(text, by_name=False)
            except Exception:
                await self._refuse(*_what_is_wrong(text))
                continue
            self._unanswered.came_in(message)
            return text

    def _line(self) -> bytes | None:
        """A line, empty at the end; None for one that is too long, which is read to its end."""
        line = self._file.readline(MAX_FRAME + 1)
        if len(line) <= MAX_FRAME or line.endswith(b"\n"):
            return line
        while line and not line.endswith(b"\n"):
            line = self._file.readline(1 << 16)
        return None

    async def _refuse(self, name: object, code: int, message: str) -> None:
        error = {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message}}
        await self._output.write(json.dumps(error) + "\n")


def claim_wire() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout away from everything else: a stray print must not tear a message.

    Raises:
        OSError: one of them is closed.
    """
    wire_in, wire_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(wire_in, "rb"), os.fdopen(wire_out, "wb")


def _what_is_wrong(text: str) -> tuple[object, int, str]:
    """Id, code and message for a line that holds no message."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None, _PARSE_ERROR, "that line is no JSON"
    name = data.get("id") if isinstance(data, dict) else None
    is_id = isinstance(name, (str, int)) and not isinstance(name, bool)
    return name if is_id else None, _INVALID_REQUEST, "that is no JSON-RPC 2.0 message"


def _leave_soon() -> None:
    """The client has gone: whatever still waits, this process does not outlive it by much."""
    timer = threading.Timer(_PATIENCE, os._exit, (0,))
    timer.daemon = True
    timer.start()
