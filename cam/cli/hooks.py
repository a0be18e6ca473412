"""cam hooks: Codex's own hooks, and the bridge for hosts that have none."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.integrate import DryRun, Trust, Where, machine, put_in, take_out
from cam.cli.options import Cwd, Json
from cam.setup.integrations.result import Piece

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Bridge = Annotated[
    bool, typer.Option("--bridge", help="The shell bridge, for hosts without hooks and without MCP.")
]


@app.command("install")
def install_command(
    scope: Where = "project",
    bridge: Bridge = False,
    trust: Trust = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Let Codex call cam: told at start, learned from at the end."""
    piece = Piece.BRIDGE if bridge else Piece.HOOKS
    respond(
        "hooks.install",
        as_json,
        writes_unless(dry_run),
        lambda: put_in(cwd, scope, "runtime", (piece,), trust=trust and not bridge, dry_run=dry_run),
    )


@app.command("remove")
def remove_command(
    scope: Where = "project",
    bridge: Bridge = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take cam's hooks out again, and their trust."""
    piece = Piece.BRIDGE if bridge else Piece.HOOKS
    respond(
        "hooks.remove",
        as_json,
        writes_unless(dry_run),
        lambda: take_out(cwd, scope, "runtime", (piece,), dry_run=dry_run),
    )


@app.command("status")
def status_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Whether Codex runs them, and when they fired last; exit 0 fine, 1 warnings, 2 broken."""

    def work() -> Answer:
        from cam.render.doctor import doctor_data, doctor_text
        from cam.setup.integrations.doctor import check_hooks

        findings = check_hooks(machine(enter_context(cwd)))
        code = max(finding.severity for finding in findings)
        return Answer(doctor_data(findings), doctor_text(findings), exit_code=int(code))

    respond("hooks.status", as_json, Access.READS, work)
