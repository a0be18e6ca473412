"""Questions to a program that speaks JSON-RPC over its standard streams, a line each: one short process."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cam.system.process_group import end_group

Question = tuple[str, Mapping[str, Any]]

_ANSWER_BYTES = 8_000_000


def ask_app_server(
    program: str,
    questions: Sequence[Question],
    cwd: str,
    *,
    options: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> list[Any]:
    """Ask the app server of a Codex; see ``ask``.

    Args:
        program: Codex's path.
        questions: method and parameters of each.
        cwd: folder to ask in.
        options: of the command line, behind ``app-server``.
        variables: its whole environment; None for this process's own.
    """
    hello = ("initialize", {"clientInfo": {"name": "cam", "version": "1"}})
    return ask([program, "app-server", *options], hello, "initialized", questions, cwd, variables=variables)


def ask_mcp_server(words: Sequence[str], questions: Sequence[Question], cwd: str) -> list[Any]:
    """Ask an MCP server; see ``ask``.

    Args:
        words: the program and its arguments.
        questions: method and parameters of each.
        cwd: folder to start it in.
    """
    about = {"name": "cam", "version": "1"}
    hello = ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
    return ask(words, hello, "notifications/initialized", questions, cwd)


def ask(
    words: Sequence[str],
    hello: Question,
    ready: str,
    questions: Sequence[Question],
    cwd: str,
    *,
    variables: Mapping[str, str] | None = None,
    seconds: float = 10.0,
) -> list[Any]:
    """Start a program, ask, take the answers, end it.

    Args:
        words: the program and its arguments.
        hello: the question that opens the talk.
        ready: the notification that follows it.
        questions: method and parameters of each.
        cwd: folder to start it in.
        variables: its whole environment; None for this process's own.
        seconds: what all of it may take.

    Returns:
        A result for each question; None for one that it does not know, or that has no answer in time.
    """  # fmt: skip
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": hello[0], "params": dict(hello[1])},
        {"jsonrpc": "2.0", "method": ready},
        *(
            {"jsonrpc": "2.0", "id": n, "method": m, "params": dict(p)}
            for n, (m, p) in enumerate(questions, 1)
        ),
    ]
    answers: list[Any] = [None] * len(questions)
    try:
        child = subprocess.Popen(
            list(words), cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True, env=variables,
        )  # fmt: skip
    except OSError:
        return answers
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        with contextlib.suppress(OSError):
            child.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            child.stdin.flush()
        waiting = set(range(1, len(questions) + 1))
        for found in _objects(child.stdout.fileno(), time.monotonic() + seconds):
            number = found.get("id")
            if number in waiting and "method" not in found:
                answers[number - 1] = found.get("result")
                waiting.discard(number)
            if not waiting:
                break
    finally:
        end_group(child)  # a launcher's own child too
        with contextlib.suppress(OSError):
            child.stdin.close()
        child.stdout.close()
    return answers


def _objects(descriptor: int, until: float) -> Iterator[dict[str, Any]]:
    """The JSON objects that come, until the time is up or the stream ends."""
    left, total = b"", 0
    while (
        total < _ANSWER_BYTES and select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]
    ):
        data = os.read(descriptor, 65536)
        if not data:
            return
        total += len(data)
        *lines, left = (left + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict):
                    yield found
