"""A loopback Responses server: the model's place, answering from a script.

Codex runs against it without an account when its ``config.toml`` names it (``codex_config``). Every
request is kept, so a test can say what the model was told.

As a program: ``python -m cam.testing.responses_server --port-file F --answers FILE [--requests-file R]``. The
answers file is a JSON list; each entry is a text, ``{"say": TEXT}``, ``{"run": COMMAND, "say": TEXT}`` (a
shell command, then the text), ``{"call": NAME, "arguments": {…}, "say": TEXT}`` or ``{"fail": STATUS}``.
"""

import argparse
import contextlib
import itertools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Request = dict[str, Any]
"""The JSON body of one ``POST /v1/responses``."""

KEY_VARIABLE = "LOOP_KEY"
"""The environment variable that ``codex_config`` names as the provider's key; any value will do."""

DEFAULT_ANSWER = "OK."


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with an assistant message.

    Attributes:
        text: the message.
        total_tokens: the usage that is reported; above ``model_auto_compact_token_limit`` Codex compacts.
    """

    text: str
    total_tokens: int = 100


@dataclass(frozen=True, slots=True)
class Call:
    """Answer with a function call; Codex's next request carries its output.

    Attributes:
        name: a tool of that release.
        arguments: its arguments.
        total_tokens: as in ``Say``.
        namespace: what the request lists the tool in, for those that stand in one (an MCP server's).
    """

    name: str
    arguments: dict[str, Any]
    total_tokens: int = 100
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Answer with a shell command, through whichever shell tool the request offers.

    Attributes:
        command: a POSIX shell line.
        total_tokens: as in ``Say``.
    """

    command: str
    total_tokens: int = 100


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an HTTP error.

    Attributes:
        status: the HTTP status.
    """

    status: int = 500


Answer = str | Say | Call | Run | Fail
Script = Sequence[Answer] | Callable[[Request], Answer]


class ResponsesServer:
    """The server, running in threads between ``__enter__`` and ``__exit__`` on a free loopback port.

    Args:
        script: one answer for each turn, in order (``DEFAULT_ANSWER`` when they are used up), or a function
            of the request. Requests that offer no tools are Codex's own (a title, a summary): a list answers
            them with ``DEFAULT_ANSWER`` and loses nothing by it.
        requests_file: where each request is appended as one JSON line, for a reader in another process.

    Attributes:
        requests: the bodies received so far, oldest first.
    """

    def __init__(self, script: Script = (), requests_file: str | None = None) -> None:
        self.requests: list[Request] = []
        self._requests_file = requests_file
        self._lock = threading.Lock()
        self._script = script if callable(script) else _in_order(script)
        self._http = _Server(self._answer)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        """The TCP port."""
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        """What ``config.toml`` names as the provider's ``base_url``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def model_input_texts(self, index: int = -1) -> list[str]:
        """Every text that request number ``index`` showed the model, in order.

        Raises:
            IndexError: there was no such request.
        """
        return input_texts(self.requests[index])

    def _answer(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            if self._requests_file:
                with open(self._requests_file, "a", encoding="utf-8") as file:
                    file.write(json.dumps(request, ensure_ascii=False) + "\n")
            return self._script(request)


def input_texts(request: Request) -> list[str]:
    """The texts of a request's ``input``: messages' parts and calls' outputs, in order."""
    texts: list[str] = []
    for item in request.get("input", ()):
        body = item.get("content", item.get("output", ()))
        if isinstance(body, str):
            texts.append(body)
        elif isinstance(body, list):
            texts += [part["text"] for part in body if isinstance(part.get("text"), str)]
    return texts


def codex_config(base_url: str, *, top: str = "", tables: str = "") -> str:
    """A ``config.toml`` that makes the server Codex's only model; ``KEY_VARIABLE`` must be set beside it.

    Args:
        base_url: the server's.
        top: TOML lines for the top level.
        tables: TOML tables.
    """
    return f"""\
model = "gpt-5.1-codex"
model_provider = "loop"
{top}

[model_providers.loop]
name = "loop"
base_url = "{base_url}"
wire_api = "responses"
env_key = "{KEY_VARIABLE}"
request_max_retries = 0
stream_max_retries = 0

{tables}
"""


def write_codex_config(codex_home: str, base_url: str, *, top: str = "", tables: str = "") -> str:
    """Write ``codex_config`` to ``codex_home`` (made if missing) and return the file's path."""
    os.makedirs(codex_home, exist_ok=True)
    path = os.path.join(codex_home, "config.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(codex_config(base_url, top=top, tables=tables))
    return path


def read_script(entries: Iterable[Any]) -> list[Answer]:
    """Answers from their JSON form (see the module's docstring).

    Raises:
        ValueError: an entry has none of the known keys.
    """
    script: list[Answer] = []
    for entry in entries:
        if isinstance(entry, str):
            script.append(entry)
            continue
        known = len(script)
        if "fail" in entry:
            script.append(Fail(int(entry["fail"])))
        if "run" in entry:
            script.append(Run(entry["run"]))
        if "call" in entry:
            script.append(Call(entry["call"], entry.get("arguments", {})))
        if "say" in entry:
            script.append(Say(entry["say"]))
        if len(script) == known:
            raise ValueError(f"an answer is a text or has say, run, call or fail: {entry!r}")
    return script


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until the process is told to stop (SIGINT, SIGTERM)."""
    parser = argparse.ArgumentParser(prog="python -m cam.testing.responses_server")
    parser.add_argument("--port-file", required=True, help="gets the port once the server listens")
    parser.add_argument("--answers", help="a JSON list of answers")
    parser.add_argument("--requests-file", help="gets each request as one JSON line")
    options = parser.parse_args(argv)
    script: list[Answer] = []
    if options.answers:
        with open(options.answers, encoding="utf-8") as file:
            script = read_script(json.load(file))
    with ResponsesServer(script, options.requests_file) as server:
        _write_whole(options.port_file, f"{server.port}\n")
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Codex keeps connections open; waiting for their threads would hang the exit.
    block_on_close = False

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.answer = answer
        self.numbers = itertools.count(1)
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hangs up (Ctrl-C in Codex) is no fault; anything else is worth its trace.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._send(200, b'{"data":[],"models":[]}')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.path.partition("?")[0].endswith("/responses"):
            self._send(404, b"{}")
            return
        request: Request = json.loads(body)
        answer = self.server.answer(request)
        if isinstance(answer, Fail):
            error = {"error": {"message": "scripted failure", "type": "server_error"}}
            self._send(answer.status, json.dumps(error).encode())
            return
        events = _events(answer, request, next(self.server.numbers))
        stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(200, stream.encode(), "text/event-stream")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        pass

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _in_order(answers: Sequence[Answer]) -> Callable[[Request], Answer]:
    left = iter(answers)
    return lambda request: DEFAULT_ANSWER if request.get("tools") == [] else next(left, DEFAULT_ANSWER)


def _events(answer: str | Say | Call | Run, request: Request, number: int) -> Iterator[dict[str, Any]]:
    """The stream of one response."""
    response = f"resp_{number}"
    if isinstance(answer, Run):
        answer = _shell_call(answer, request)
    if isinstance(answer, str):
        answer = Say(answer)
    yield {"type": "response.created", "response": {"id": response}}
    if isinstance(answer, Say):
        item = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "content": [{"type": "output_text", "text": answer.text}],
        }
        yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
        yield {
            "type": "response.output_text.delta",
            "item_id": item["id"],
            "output_index": 0,
            "content_index": 0,
            "delta": answer.text,
        }
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": answer.name,
            "arguments": json.dumps(answer.arguments),
            **({"namespace": answer.namespace} if answer.namespace else {}),
        }
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    total = answer.total_tokens
    usage = {
        "input_tokens": total - 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": total,
    }
    yield {"type": "response.completed", "response": {"id": response, "usage": usage}}


def _shell_call(run: Run, request: Request) -> Call:
    """The call that runs the command with the tools of this release."""
    tools = {tool.get("name") for tool in request.get("tools", ())}
    if "exec_command" in tools:
        return Call("exec_command", {"cmd": run.command}, run.total_tokens)
    if "shell_command" in tools:
        return Call("shell_command", {"command": run.command}, run.total_tokens)
    return Call("shell", {"command": ["sh", "-c", run.command]}, run.total_tokens)


def _write_whole(path: str, text: str) -> None:
    """Write so that a reader sees nothing or all of it."""
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


if __name__ == "__main__":
    raise SystemExit(main())
