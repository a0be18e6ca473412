"""The MCP server against the SDK's own bare server in the same run, and a warm search in it.

Usage: python bench/mcp.py [--records N] [--runs N]

A throwaway home and a project with N records (20 to a topic file). ``initialize`` is timed from the start of
the process to its answer, a search from its request to its answer. The smallest of the runs counts.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.startup import fill, in_a_folder, room

BARE = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
import mcp_types as types

async def tools(context, params):
    return types.ListToolsResult(tools=[])

async def main():
    server = Server("bare", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
QUERIES = ("cache of parser", "release notes", "zebra", "the login of order 17", "service table port server")


def main() -> None:
    """Measure and print."""
    in_a_folder(measure, __doc__, 10_000)


def measure(root: Path, records: int, runs: int) -> None:
    """Print the smallest times."""
    repo, env, cam = room(root)
    fill(repo, env, cam, records)
    bare, ours = [sys.executable, "-c", BARE], [cam, "mcp", "serve"]
    best = {"bare": 9.0, "cam": 9.0}
    for _ in range(runs):
        for name, line in (("bare", bare), ("cam", ours)):
            begun = time.perf_counter()
            server = Server(line, repo, env)
            best[name] = min(best[name], time.perf_counter() - begun)
            server.close()
    print(f"{'initialize, bare server of the SDK':40} {best['bare'] * 1000:7.0f} ms")
    print(f"{'initialize, cam mcp serve':40} {best['cam'] * 1000:7.0f} ms {best['cam'] / best['bare']:6.2f}x")
    server = Server(ours, repo, env)
    for query in QUERIES:
        call = {"name": "search_memories", "arguments": {"query": query}}
        times = []
        for _ in range(runs * 3):
            begun = time.perf_counter()
            server.ask("tools/call", call)
            times.append(time.perf_counter() - begun)
        print(f"{'search, warm: ' + query:40} {min(times) * 1000:7.1f} ms")
    server.close()


class Server:
    """A server over its pipes, greeted."""

    def __init__(self, line: list[str], repo: Path, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            line, cwd=repo, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        self.ask("initialize", INITIALIZE)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """A request's answer."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        answer: dict[str, Any] = json.loads(_pipe(self._process.stdout).readline())
        return answer

    def close(self) -> None:
        """Hang up."""
        _pipe(self._process.stdin).close()
        self._process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        pipe = _pipe(self._process.stdin)
        pipe.write(json.dumps(message).encode() + b"\n")
        pipe.flush()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


if __name__ == "__main__":
    main()
