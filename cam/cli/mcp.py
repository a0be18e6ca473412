"""cam mcp: memory for agents over MCP: the server, and its place in hosts."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond, writes_unless
from cam.cli.app import enter_context, global_cwd
from cam.cli.integrate import DryRun, Host, Where, machine, put_in, require_codex, take_out
from cam.cli.mcp_serve import run_serve
from cam.cli.options import Cwd, Json
from cam.setup.integrations.result import Piece

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


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


@app.command("install")
def install_command(
    host: Host = "codex",
    scope: Where = "project",
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Name the server in Codex's config.toml; comments and order stay."""

    def work() -> Answer:
        require_codex(host, as_json=as_json)
        return put_in(cwd, scope, "runtime", (Piece.MCP,), trust=False, dry_run=dry_run)

    respond("mcp.install", as_json, writes_unless(dry_run), work)


@app.command("remove")
def remove_command(
    host: Host = "codex",
    scope: Where = "project",
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take the server out of Codex's config.toml again."""

    def work() -> Answer:
        require_codex(host, as_json=as_json)
        return take_out(cwd, scope, "runtime", (Piece.MCP,), dry_run=dry_run)

    respond("mcp.remove", as_json, writes_unless(dry_run), work)


@app.command("apply-guidance")
def apply_guidance_command(
    host: Host = "codex",
    scope: Where = "project",
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Put a block into AGENTS.md that tells agents when to search."""

    def work() -> Answer:
        require_codex(host, as_json=as_json)
        return put_in(cwd, scope, "runtime", (Piece.GUIDANCE,), trust=False, dry_run=dry_run)

    respond("mcp.apply-guidance", as_json, writes_unless(dry_run), work)


@app.command("doctor")
def doctor_command(host: Host = "codex", as_json: Json = False, cwd: Cwd = None) -> None:
    """Whether the server answers, and for which project; exit 0 fine, 1 warnings, 2 broken."""

    def work() -> Answer:
        from cam.render.doctor import doctor_data, doctor_text
        from cam.setup.integrations.doctor import check_server

        require_codex(host, as_json=as_json)
        findings = check_server(machine(enter_context(cwd)))
        code = max(finding.severity for finding in findings)
        return Answer(doctor_data(findings), doctor_text(findings), exit_code=int(code))

    respond("mcp.doctor", as_json, Access.READS, work)


@app.command("print-config")
def print_config_command(
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="codex, claude, gemini or generic.")
    ] = "codex",
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Print what to paste into a host's configuration; nothing is written."""

    def work() -> Answer:
        from cam.setup.integrations.snippets import snippet

        enter_context(cwd)
        made = snippet(host)
        data = {"host": made.host, "path": made.path, "config": made.text, "guidance": made.guidance or None}
        parts = [f"{made.text.rstrip()}"]
        if made.guidance:
            parts.append(f"and into AGENTS.md:\n\n{made.guidance.rstrip()}")
        return Answer(data, "\n\n".join(parts), (f"cam: for {made.path}",))

    respond("mcp.print-config", as_json, Access.READS, work)
