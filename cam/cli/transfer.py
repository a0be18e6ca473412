"""cam memory export and cam memory import."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from cam.cli.answer import Answer, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.display import counted
from cam.core.errors import InvalidInputError, WriteRefusedError

if TYPE_CHECKING:
    from cam.context import Context


def export_command(
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="json or markdown.")] = "json",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write FILE instead of printing.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over FILE if it is there.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Every record of every scope seen from here, archived ones too, as one file that import takes back."""

    def work() -> Answer:
        from cam.memory.carry import export_memory
        from cam.system.files import write_atomic

        context = enter_context(cwd)
        path = _named(context, output) if output is not None else ""
        if not force and os.path.lexists(path):
            raise WriteRefusedError(f"{path} is there already; --force writes over it")
        text, count, problems = export_memory(context.store, form)
        # Of some of them all was read: an id that stands twice, a file that was suddenly empty.
        notes = tuple(f"cam: {problem}" for problem in problems)
        notes += ("cam: what cannot be read is not in the export",) if problems else ()
        if output is None:
            data = {"format": form, "records": count, "text": text}
            return Answer(data, text.removesuffix("\n"), notes, verbatim=True)
        write_atomic(path, text.encode("utf-8", "surrogateescape"))
        data = {"format": form, "records": count, "file": path}
        return Answer(data, f"Exported {counted(count, 'record')} to {path}", notes)

    respond("memory.export", as_json, writes_unless(output is None), work)


def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An export, or a JSON list of entries.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would come, write nothing.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take in an export, or a list of {scope, topic, summary, details}; what is known changes nothing."""

    def work() -> Answer:
        from cam.core.records import parse_scope
        from cam.memory.carry import import_memory
        from cam.render.transfer import import_data, import_text

        context = enter_context(cwd)
        scope = parse_scope(context.settings["default_scope"])
        done = import_memory(context.store, _named(context, file), scope, dry_run=dry_run)
        data = import_data(done, dry_run=dry_run)
        return Answer(data, import_text(data))

    respond("memory.import", as_json, writes_unless(dry_run), work)


def _named(context: "Context", path: str) -> str:
    """The file that a person named; theirs may be a link.

    Raises:
        InvalidInputError: it is a folder.
    """
    real = os.path.realpath(context.environment.expand(path))
    if os.path.isdir(real):
        raise InvalidInputError(f"{real} is a folder; name a file")
    return real
