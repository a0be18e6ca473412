"""What the commands that put cam into hosts share: options, one plan, one commit, what to do next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cam.cli.answer import Answer, emit
from cam.cli.app import enter_context
from cam.context import Context
from cam.core.errors import InvalidInputError, NotFoundError
from cam.render.integrations import plan_data, plan_text
from cam.setup.integrations.flow import carry_out, plan_install, plan_remove
from cam.setup.integrations.places import find_places
from cam.setup.integrations.result import IntegrationPlan, Piece, Places

if TYPE_CHECKING:
    from cam.setup.integrations.doctor import Machine

Where = Annotated[
    str, typer.Option("--scope", metavar="SCOPE", help="project (its .codex folder) or user (yours).")
]
Surface = Annotated[
    str,
    typer.Option("--skill-surface", metavar="SURFACE", help="runtime, official-user or official-project."),
]
Host = Annotated[str, typer.Option("--host", metavar="HOST", help="codex; others get a snippet to paste.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, write nothing.")]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Yes, Codex may run cam's hooks: keep their trust, as Codex computes it."),
]

_UNTRUSTED = (
    "cam: Codex runs hooks only when you trust them: look at them with /hooks in Codex, "
    "or run this again with --trust"
)


def put_in(
    cwd: str | None, scope: str, surface: str, pieces: Sequence[Piece], *, trust: bool, dry_run: bool
) -> Answer:
    """Put pieces in.

    Raises:
        CamError: nothing was written.
    """
    context = enter_context(cwd)
    places = _places(context, scope, surface)
    version = None
    if trust:
        pieces = (*pieces, Piece.TRUST)
        program, version = find_program(context)
        if not program:
            raise NotFoundError(
                "there is no Codex that could trust the hooks; install it, or leave --trust out"
            )
    plan = plan_install(places, context.layout.root, pieces, version)
    notes: tuple[str, ...] = ()
    code = 0
    if not dry_run:
        carry_out(plan, context.layout.root)
        if trust:
            notes, code = _checked(context, plan)
        elif Piece.HOOKS in pieces and Piece.TRUST not in pieces and _changes_hooks(plan):
            notes = (_UNTRUSTED,)
    return Answer(plan_data(plan, dry_run=dry_run), plan_text(plan, dry_run=dry_run), notes, code)


def take_out(cwd: str | None, scope: str, surface: str, pieces: Sequence[Piece], *, dry_run: bool) -> Answer:
    """Take pieces out.

    Raises:
        CamError: nothing was written.
    """
    context = enter_context(cwd)
    places = _places(context, scope, surface)
    plan = plan_remove(places, context.layout.root, pieces)
    if not dry_run:
        carry_out(plan, context.layout.root)
    return Answer(plan_data(plan, dry_run=dry_run), plan_text(plan, dry_run=dry_run))


def find_program(context: Context, *, asks: bool = True) -> tuple[str, tuple[int, int, int] | None]:
    """The installed Codex and its release, which it is asked for with ``asks``; "" where there is none."""
    from cam.system.codex import chosen_codex, codex_version

    program = chosen_codex(context.settings, context.environment)
    if program is None or not program.executable:
        return "", None
    cache = context.layout.cache_file("codex-version.json")
    return program.path, codex_version(program.path, cache, asks=asks)


def machine(context: Context, *, asks: bool = True) -> "Machine":
    """What a doctor asks about; with ``asks`` it may start Codex and the MCP server."""
    from cam.setup.integrations.doctor import Machine

    program, version = find_program(context, asks=asks)
    prompts = bool(context.settings["prompt_recall"])
    return Machine(context.environment, context.project, context.layout, program, version, prompts, asks)


def require_codex(host: str, *, as_json: bool) -> None:
    """Refuse to install for a host that cam does not write for; its snippet is printed.

    Raises:
        InvalidInputError: another host than codex.
    """
    if host == "codex":
        return
    from cam.setup.integrations.snippets import snippet

    made = snippet(host)
    if not as_json:
        emit(made.text.rstrip())
    what = f": {made.text}" if as_json else " what stands above"
    raise InvalidInputError(f"cam writes no files of {host}; paste into {made.path} yourself{what}")


def _places(context: Context, scope: str, surface: str) -> Places:
    prompts = bool(context.settings["prompt_recall"])
    return find_places(
        context.environment, context.project, context.layout.root, scope, surface, prompts=prompts
    )


def _changes_hooks(plan: IntegrationPlan) -> bool:
    return any(note.piece is Piece.HOOKS and note.action in ("created", "updated") for note in plan.notes)


def _checked(context: Context, plan: IntegrationPlan) -> tuple[tuple[str, ...], int]:
    """What Codex itself says of the trust, as notes and an exit code."""
    from cam.setup.integrations.trust import doubts

    found = doubts(find_program(context)[0], context.environment.cwd, plan.places)
    if found is None:
        return ("cam: this Codex does not say what it trusts; it was not checked",), 0
    if not found:
        return (), 0
    advice = (
        "trust the folder in Codex first, and look at /hooks" if plan.places.scope == "project" else "/hooks"
    )
    return (f"cam: written, but Codex does not run {', '.join(found)} yet ({advice})",), 1
