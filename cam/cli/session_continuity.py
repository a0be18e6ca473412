"""cam session: status, save, load, refresh, clear, open."""

import os
import shlex
import subprocess
from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.context import Context
from cam.continuity.flow import AFTER_SESSION, clear, save, status, undo_clear
from cam.continuity.start import open_continuity
from cam.continuity.summarizer import choose_summarizer
from cam.core.display import counted
from cam.core.errors import InvalidInputError, NotFoundError
from cam.render.continuity import (
    cleared_data,
    cleared_text,
    load_data,
    load_text,
    saved_data,
    saved_text,
    status_data,
    status_text,
)
from cam.store.continuity import LOCAL, ContinuityStore, LayerFile, check_scope

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

LayerScope = Annotated[
    str | None, typer.Option("--scope", metavar="SCOPE", help="project, project-local or both (the default).")
]
Rollout = Annotated[
    str | None, typer.Option("--rollout", metavar="PATH", help="This session instead of the latest.")
]


@app.command("status")
def status_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """What is kept of where the last session stopped, and what waits to be done."""

    def work() -> Answer:
        context, store = _open(cwd)
        found = status(store, context.settings)
        return Answer(status_data(found), status_text(found))

    respond("session.status", as_json, Access.READS, work)


@app.command("load")
def load_command(
    startup: Annotated[
        bool, typer.Option("--startup", help="Print the lines that a session is told at start.")
    ] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Show where the last session stopped; nothing is written."""

    def work() -> Answer:
        context, store = _open(cwd)
        layers = store.read()
        data = load_data(layers, context.settings["max_session_continuity_lines"])
        lines = data["startup"]["lines"]
        omitted = data["startup"]["omitted"]
        notes = _problems(layers)
        if startup:
            notes += (f"cam: {counted(omitted, 'line')} left out",) if omitted else ()
            return Answer(data, "\n".join(lines), notes, verbatim=True)
        return Answer(data, load_text(layers), notes)

    respond("session.load", as_json, Access.READS, work)


@app.command("save")
def save_command(
    scope: LayerScope = None,
    rollout: Rollout = None,
    after_session: Annotated[bool, typer.Option("--after-session", hidden=True)] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Save where the latest session stopped, beside what earlier ones left."""
    trigger = AFTER_SESSION if after_session else ""
    respond("session.save", as_json, Access.WRITES, lambda: _save(cwd, scope, rollout, trigger=trigger))


@app.command("refresh")
def refresh_command(
    scope: LayerScope = None, rollout: Rollout = None, as_json: Json = False, cwd: Cwd = None
) -> None:
    """Save it in place of what earlier sessions left; what you added yourself stays."""
    respond("session.refresh", as_json, Access.WRITES, lambda: _save(cwd, scope, rollout, refresh=True))


@app.command("clear")
def clear_command(
    scope: LayerScope = None,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back what was cleared last.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take it away; --undo brings it back."""

    def work() -> Answer:
        store = _open(cwd)[1]
        done = undo_clear(store) if undo else clear(store, check_scope(scope or "both"))
        return Answer(cleared_data(done), cleared_text(done))

    respond("session.clear", as_json, Access.WRITES, work)


@app.command("open")
def open_command(scope: LayerScope = None, cwd: Cwd = None) -> None:
    """Open the file in $VISUAL or $EDITOR: this worktree's if there is one, else the project's."""

    def work() -> Answer:
        context, store = _open(cwd)
        wanted = check_scope(scope or "both")
        there = [la for la in reversed(store.read()) if la.data is not None and wanted in (la.layer, "both")]
        if not there:
            raise NotFoundError("nothing is kept of earlier sessions here; 'cam session save' does it")
        _edit(context, there[0].path)
        return Answer({"path": there[0].path}, there[0].path)

    respond("session.open", as_json=False, access=Access.WRITES, work=work)


def _open(cwd: str | None) -> tuple[Context, ContinuityStore]:
    context = enter_context(cwd)
    return context, open_continuity(context.store, context.project, context.settings)


def _save(
    cwd: str | None, scope: str | None, rollout: str | None, *, refresh: bool = False, trigger: str = ""
) -> Answer:
    context, store = _open(cwd)
    scope = check_scope(scope) if scope else ""
    sessions = context.sessions()
    path = None if rollout is None else os.path.join(context.environment.cwd, os.path.expanduser(rollout))
    saved = save(
        store, sessions, context.settings, context.environment.home,
        scope=scope, rollout=path, refresh=refresh, trigger=trigger,
        summarizer=choose_summarizer(context.settings, context.environment),
    )  # fmt: skip
    notes = [f"cam: {saved.note}"] if saved.note else []
    notes += [f"cam: {warning}" for warning in saved.summary.warnings]
    if (
        not store.project.is_git
        and not scope
        and not any(la.layer == LOCAL and la.data for la in store.read())
    ):
        notes.append("cam: outside git all of it is kept in the store; --scope both writes into this folder")
    return Answer(saved_data(saved), saved_text(saved), tuple(notes))


def _problems(layers: tuple[LayerFile, LayerFile]) -> tuple[str, ...]:
    return tuple(f"cam: {layer.problem}" for layer in layers if layer.problem)


def _edit(context: Context, path: str) -> None:
    variables = context.environment.variables
    editor = variables.get("VISUAL") or variables.get("EDITOR") or "vi"
    try:
        code = subprocess.run([*shlex.split(editor), path], check=False).returncode
    except (FileNotFoundError, PermissionError, ValueError):
        raise InvalidInputError(
            f"the editor {editor!r} cannot be started; set EDITOR, or edit {path}"
        ) from None
    if code:
        raise InvalidInputError(f"the editor {os.path.basename(editor)!r} ended with {code}")
