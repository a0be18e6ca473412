"""cam mcp: memory for agents over MCP."""

from typing import Annotated

import typer

from cam.cli.app import global_cwd
from cam.cli.mcp_serve import run_serve

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _group() -> None:
    """A group: the server, and what belongs to it."""


@app.command("serve")
def serve_command(
    allow_write: Annotated[
        bool, typer.Option("--allow-write", help="The agent may propose and remember too.")
    ] = False,
    cwd: Annotated[
        str | None, typer.Option("--cwd", metavar="DIR", help="Every call is about the project of DIR.")
    ] = None,
) -> None:
    """Serve memory to an agent over stdio; the agent's host starts it, and it ends with its client."""
    raise SystemExit(run_serve(["--allow-write"] if allow_write else [], global_cwd(cwd)))
