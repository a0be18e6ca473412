"""cam integrations: memory in plain Codex, all pieces at once, and the way back."""

import typer

from cam.cli.answer import Answer, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.integrate import (
    DryRun,
    Host,
    Surface,
    Trust,
    Where,
    machine,
    put_in,
    require_codex,
    take_out,
)
from cam.cli.options import Cwd, Json
from cam.setup.integrations.result import STACK, Piece

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.command("install")
def install_command(
    host: Host = "codex",
    scope: Where = "project",
    skill_surface: Surface = "runtime",
    trust: Trust = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Put in hooks, MCP server and skill; all of it or nothing."""

    def work() -> Answer:
        require_codex(host, as_json=as_json)
        return put_in(cwd, scope, skill_surface, STACK, trust=trust, dry_run=dry_run)

    respond("integrations.install", as_json, writes_unless(dry_run), work)


@app.command("apply")
def apply_command(
    host: Host = "codex",
    scope: Where = "project",
    skill_surface: Surface = "runtime",
    trust: Trust = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """The same, and a block of guidance in AGENTS.md."""

    def work() -> Answer:
        require_codex(host, as_json=as_json)
        return put_in(cwd, scope, skill_surface, (*STACK, Piece.GUIDANCE), trust=trust, dry_run=dry_run)

    respond("integrations.apply", as_json, writes_unless(dry_run), work)


@app.command("remove")
def remove_command(
    host: Host = "codex",
    scope: Where = "project",
    skill_surface: Surface = "runtime",
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take out exactly what was put in: hooks and their trust, MCP server, skill, guidance."""

    def work() -> Answer:
        require_codex(host, as_json=as_json)
        return take_out(cwd, scope, skill_surface, (*STACK, Piece.GUIDANCE), dry_run=dry_run)

    respond("integrations.remove", as_json, writes_unless(dry_run), work)


@app.command("doctor")
def doctor_command(
    host: Host = "codex",
    fix: bool = typer.Option(False, "--fix", help="Renew what an older cam put in."),
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Prove each piece on the installed Codex; exit 0 fine, 1 warnings, 2 broken."""

    def work() -> Answer:
        from cam.render.doctor import doctor_text
        from cam.render.integrations import health_data
        from cam.setup.integrations.doctor import check_integrations

        require_codex(host, as_json=as_json)
        context = enter_context(cwd)
        asked = machine(context)
        health = check_integrations(asked)
        if fix and health.stale:
            for piece, scope, surface in health.stale:
                put_in(cwd, scope, surface, (piece,), trust=False, dry_run=False)
            health = check_integrations(asked)
        code = max(finding.severity for finding in health.findings)
        return Answer(health_data(health), doctor_text(health.findings), exit_code=int(code))

    respond("integrations.doctor", as_json, writes_unless(not fix), work)
