"""cam mcp serve, read without Typer: what comes behind it is heavy enough."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

HELP = """\
Usage: cam mcp serve [--cwd DIR] [--allow-write]

Serve memory to an agent over stdio (MCP). The agent's host starts it; it ends with its client.

  --cwd DIR      Every call is about the project of DIR. Without it each call finds its own: the client's
                 roots, the workspace that Codex names, the folder the server was started in.
  --allow-write  The agent may propose and remember too, each call with a grant of its own.
  --help         Show this page.
"""


def run_serve(arguments: Sequence[str], cwd: str | None) -> int:
    """Serve until the client goes.

    Args:
        arguments: behind ``mcp serve``.
        cwd: given before the verb.

    Returns:
        The exit code.
    """
    allow_write = False
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in ("--help", "-h"):
            sys.stdout.write(HELP)
            return 0
        if word == "--allow-write":
            allow_write = True
        elif name == "--cwd" and (value if equals else rest):
            cwd = value if equals else rest.pop(0)
        else:
            why = "--cwd needs a folder" if name == "--cwd" else f"there is no {word!r}"
            sys.stderr.write(f"cam: {why} (see 'cam mcp serve --help')\n")
            return 4
    if find_spec("mcp") is None:
        sys.stderr.write("cam: mcp serve needs an extra: pip install 'codex-auto-memory[mcp]'\n")
        return 1
    from cam.cli.answer import describe
    from cam.hosts.mcp_server import ServeOptions, serve
    from cam.store.locate import enter

    try:
        enter(cwd)
    except Exception as error:
        _, message, code = describe(error)
        sys.stderr.write(f"cam: {message}\n")
        return code
    code = serve(ServeOptions(cwd, allow_write), describe)
    os._exit(code)  # a thread may still wait for a client that has gone
