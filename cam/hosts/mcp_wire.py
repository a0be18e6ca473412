"""stdin and stdout as the MCP server's wire: bounded frames, bounded work, and an end when the client ends.

The SDK's own transport reads a line of any length and drops what it cannot parse without a word. Here a frame
has a bound, whatever is no message is answered with an error, and no more is read while much is unanswered.
"""

import asyncio
import json
import os
import threading
from typing import BinaryIO, Self

import anyio
from mcp_types import jsonrpc_message_adapter

MAX_FRAME = 4 << 20
"""Bytes of one message; the largest item that may be remembered fits in, escaped."""

MAX_TASKS = 300
"""Tasks at which reading waits for answers to be written."""

_PATIENCE = 5.0  # seconds that answers may take to be written once the client has gone

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class Output:
    """What the SDK writes to: one whole line at a time.

    Args:
        file: the wire.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = anyio.Lock()

    async def write(self, text: str) -> None:
        """Write one line."""
        async with self._lock:
            await anyio.to_thread.run_sync(self._put, text.encode("utf-8"), abandon_on_cancel=True)

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
    """

    def __init__(self, file: BinaryIO, output: Output) -> None:
        self._file = file
        self._output = output

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
                _leave_soon()
                raise StopAsyncIteration
            if not line.strip():
                continue
            text = line.decode("utf-8", "replace")
            try:
                jsonrpc_message_adapter.validate_json(text, by_name=False)
            except Exception:
                await self._refuse(*_what_is_wrong(text))
                continue
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
