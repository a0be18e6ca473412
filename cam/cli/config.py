"""cam config: list, get, set, edit."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import global_cwd
from cam.cli.editor import start_editor
from cam.cli.options import Cwd, Json
from cam.context import open_context
from cam.core.errors import NotFoundError
from cam.core.settings import BY_NAME, Settings
from cam.render.settings import settings_data, settings_text, show_value
from cam.setup.settings import change_setting, ensure_settings, settings_path

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Where = Annotated[
    str, typer.Option("--in", metavar="FILE", help="user, project (shared by the repository) or local.")
]


@app.command("list")
def list_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Every setting with its value and where that comes from."""

    def work() -> Answer:
        settings = open_context(global_cwd(cwd)).settings
        return Answer(settings_data(settings), settings_text(settings), _warnings(settings))

    respond("config.list", as_json, Access.READS, work)


@app.command("get")
def get_command(name: str, as_json: Json = False, cwd: Cwd = None) -> None:
    """One setting's value."""

    def work() -> Answer:
        _known(name)
        settings = open_context(global_cwd(cwd)).settings
        row = next(r for r in settings_data(settings)["settings"] if r["name"] == name)
        return Answer(row, show_value(settings[name]), _warnings(settings))

    respond("config.get", as_json, Access.READS, work)


@app.command("set")
def set_command(name: str, value: str, where: Where = "user", as_json: Json = False, cwd: Cwd = None) -> None:
    """Change one setting in a settings file; comments and order stay."""

    def work() -> Answer:
        _known(name)
        context = open_context(global_cwd(cwd))
        path = settings_path(context.environment, context.project, where)
        change_setting(path, where, name, value)
        now = open_context(global_cwd(cwd)).settings
        text = f"{name} = {show_value(now[name])}  ({now.sources[name]})"
        data = {"name": name, "value": now[name], "source": now.sources[name], "path": path}
        notes = (*_link_notes(context.environment.settings_file, path, where), *_warnings(now))
        return Answer(data, text, notes)

    respond("config.set", as_json, Access.WRITES, work)


@app.command("edit")
def edit_command(where: Where = "user", cwd: Cwd = None) -> None:
    """Open a settings file in $VISUAL or $EDITOR."""

    def work() -> Answer:
        context = open_context(global_cwd(cwd))
        path = settings_path(context.environment, context.project, where)
        ensure_settings(path, where)
        start_editor(context.environment, path)
        return Answer({"path": path}, path, _warnings(open_context(global_cwd(cwd)).settings))

    respond("config.edit", as_json=False, access=Access.WRITES, work=work)


def _warnings(settings: Settings) -> tuple[str, ...]:
    return tuple(f"cam: {warning}" for warning in settings.warnings)


def _link_notes(named: str, written: str, where: str) -> tuple[str, ...]:
    """That something else was written than the file of that name: it is a link."""
    return (f"cam: {named} is a link; {written} was changed",) if where == "user" and written != named else ()


def _known(name: str) -> None:
    if name not in BY_NAME:
        raise NotFoundError(f"there is no setting {name!r}; 'cam config list' names them all")
