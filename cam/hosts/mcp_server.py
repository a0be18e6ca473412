"""``cam mcp serve``: memory for agents over stdio, with the official SDK.

Read-only unless it was started to write. Each call finds its project anew: the folder that the person fixed,
else the client's roots, else the workspaces that Codex names with the call, else the folder the server was
started in. The work is done by the same flows as the commands'; nothing is kept between calls, so a sync
or an edit that happens meanwhile is seen by the next call.
"""

import contextlib
import gc
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from cam.startup.ready import stands_ready

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    from cam.hosts.mcp_tools import Answer, Tool

NAME = "cam"

_AFTER_SECONDS = 0.5  # after a write, in which its answer goes out and others may come
_ROOTS_SECONDS = 2.0  # that a client may take to say its roots
_CODEX_TURN, _CODEX_THREAD = "x-codex-turn-metadata", "threadId"

Describe = Callable[[Exception], tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How the server was started.

    Attributes:
        cwd: the folder of every call; None where each call finds its own.
        allow_write: whether the tools that write are there at all.
    """

    cwd: str | None = None
    allow_write: bool = False


def serve(options: ServeOptions, describe: Describe) -> int:
    """Serve one client until it goes.

    Args:
        options: how.
        describe: code, one line and exit code of an exception (``cam.cli.answer.describe``).

    Returns:
        The exit code; the process should end at once, threads that wait for the client included.
    """
    gc.disable()  # the SDK makes objects that live as long as the process: looking through them costs a tenth
    from cam.hosts.mcp_wire import Input, Output, Unanswered, claim_wire  # noqa: PLC0415 - the SDK costs a second

    try:
        wire_in, wire_out = claim_wire()
    except OSError:
        sys.stderr.write("cam: mcp serve speaks over stdin and stdout, and one of them is closed\n")
        return 4
    import anyio  # noqa: PLC0415
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    server = build_server(options, describe)
    gc.freeze()
    gc.enable()

    async def run() -> None:
        unanswered = Unanswered()
        output = Output(wire_out, unanswered)
        streams: Any = Input(wire_in, output, unanswered), output
        async with stdio_server(*streams) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        return 130
    except BaseExceptionGroup as group:
        if group.split(OSError)[1] is not None:  # anything but a client that no longer reads
            raise
    return 0


def build_server(options: ServeOptions, describe: Describe) -> "Server[Any]":
    """The server with its tools, not yet connected."""
    from importlib.metadata import version  # noqa: PLC0415

    import anyio  # noqa: PLC0415
    import mcp_types as types  # noqa: PLC0415
    from mcp.server.lowlevel import Server  # noqa: PLC0415

    from cam.hosts.mcp_tools import INSTRUCTIONS, TOOLS  # noqa: PLC0415

    tools = {tool.name: tool for tool in TOOLS if options.allow_write or not tool.writes}
    # One call at a time of either kind: a write may wait for the store's lock, and reads go on meanwhile.
    turns = {False: anyio.CapacityLimiter(1), True: anyio.CapacityLimiter(1)}
    renewal = _Renewal()

    def listed(tool: "Tool") -> types.Tool:
        hints = types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        )
        return types.Tool(
            name=tool.name, description=tool.text, input_schema=tool.schema(), annotations=hints
        )

    async def list_tools(
        _: "ServerRequestContext[Any]", __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[listed(tool) for tool in tools.values()])

    async def call_tool(
        context: "ServerRequestContext[Any]", call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = tools.get(call.name)
        if tool is None:
            return _said(f"there is no tool {call.name[:80]!r}; there are {', '.join(tools)}", is_error=True)
        roots = [] if options.cwd is not None else await _roots(context)
        folder = choose_folder(options.cwd, roots, context.meta, os.getcwd)

        def work() -> types.CallToolResult:
            try:
                answer = answer_in(folder, tool, call.arguments or {}, session_of(context.meta))
            except Exception as error:
                code, message, _ = describe(error)
                return _said(f"{code}: {message}", is_error=True)
            if tool.writes:
                renewal.soon()
            content = types.TextContent(text=answer.text)
            return types.CallToolResult(content=[content], structured_content=answer.data)

        return await anyio.to_thread.run_sync(work, limiter=turns[tool.writes])

    def _said(text: str, *, is_error: bool) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)

    return Server(
        NAME,
        title="Codex Auto Memory",
        version=version("codex-auto-memory"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def answer_in(folder: str, tool: "Tool", arguments: Mapping[str, Any], session: str | None) -> "Answer":
    """A tool's answer in the project of ``folder``; what is written names the session that the host names.

    Raises:
        CamError: the arguments are off, cam is switched off there, or what the tool raises.
    """
    from cam.hosts.writing import enter  # noqa: PLC0415

    given = dict(tool.checked(arguments))
    if tool.writes and session:
        given["session"] = session
    return tool.run(enter(folder), given)


def session_of(meta: Mapping[str, Any] | None) -> str | None:
    """The session that a call came from, where the host says so: Codex does."""
    name = (meta or {}).get(_CODEX_THREAD)
    return name if isinstance(name, str) else None


def choose_folder(
    fixed: str | None, roots: list[str], meta: Mapping[str, Any] | None, here: Callable[[], str]
) -> str:
    """The folder whose project a call means.

    Args:
        fixed: from the command line.
        roots: folders that the client names as its own.
        meta: what came with the call; Codex names its workspaces there.
        here: the folder the server was started in.
    """
    if fixed is not None:
        return fixed
    turn = (meta or {}).get(_CODEX_TURN)
    named = turn.get("workspaces") if isinstance(turn, dict) else None
    folders = roots or [f for f in named or () if isinstance(f, str) and os.path.isdir(f)]
    try:
        mine = here()
    except FileNotFoundError:  # the folder is gone since
        mine = ""
    if not folders:
        return mine or "."
    within = (mine == f or mine.startswith(f.rstrip("/") + "/") for f in map(os.path.realpath, folders))
    return mine if any(within) else folders[0]


class _Renewal:
    """Starts that stood ready are made anew once an agent wrote; by a thread, as a server has no children."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def soon(self) -> None:
        """Renew them when the answer is out, once for several writes in a row."""
        if stands_ready() and (self._timer is None or not self._timer.is_alive()):
            self._timer = threading.Timer(_AFTER_SECONDS, self._renew)
            self._timer.daemon = True
            self._timer.start()

    @staticmethod
    def _renew() -> None:
        from cam.hosts.hook_ready import renew  # noqa: PLC0415

        with contextlib.suppress(OSError):
            renew()


async def _roots(context: "ServerRequestContext[Any]") -> list[str]:
    """The client's roots that are folders here; none where it does not offer any."""
    import anyio  # noqa: PLC0415
    import mcp_types as types  # noqa: PLC0415
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415

    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None or not context.session.can_send_request:
        return []
    with contextlib.suppress(MCPError, ValueError), anyio.move_on_after(_ROOTS_SECONDS):
        found = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        return [path for path in (_path(str(root.uri)) for root in found.roots) if path]
    return []


def _path(uri: str) -> str:
    """The folder that a ``file:`` URI names, "" if it is none."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    return path if parts.scheme == "file" and os.path.isdir(path) else ""
