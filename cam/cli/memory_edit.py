"""cam memory edit, move, link, unlink, pin, unpin, archive, restore, merge."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json, Scope
from cam.context import Context
from cam.core.errors import InvalidInputError
from cam.core.records import MemoryRef, RecordType, check_topic, parse_scope

if TYPE_CHECKING:  # declared for every command of the group, needed by those that change something
    from cam.memory.result import Changed, Edit
    from cam.memory.wish import Wish

Ref = Annotated[str, typer.Argument(metavar="REF", help="As 'cam memory list' prints it.")]
Other = Annotated[str, typer.Argument(metavar="REF", help="Another record.")]


def edit_command(
    ref: Ref,
    summary: Annotated[str | None, typer.Option("--summary", metavar="TEXT", help="The fact.")] = None,
    detail: Annotated[
        list[str] | None,
        typer.Option("--detail", metavar="LINE", help="A further line; may be repeated; '' clears them."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="memory, idea or knowledge.")
    ] = None,
    valid_from: Annotated[
        str | None, typer.Option("--valid-from", metavar="DATE", help="Holds from then on; '' clears it.")
    ] = None,
    valid_until: Annotated[
        str | None, typer.Option("--valid-until", metavar="DATE", help="Holds until then; '' clears it.")
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Change a record; without an option its text opens in $VISUAL or $EDITOR."""

    def work() -> Answer:
        from cam.memory.wish import Wish

        wish = Wish(summary, None if detail is None else tuple(detail), _type(kind), valid_from, valid_until)
        return _edit(MemoryRef.parse(ref), None if wish == Wish() else wish, cwd)

    respond("memory.edit", as_json, Access.WRITES, work)


def move_command(
    ref: Ref,
    scope: Scope = None,
    topic: Annotated[str | None, typer.Option("--topic", metavar="TOPIC", help="The new topic.")] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Move a record to another scope or topic; links to it follow."""

    def work() -> Answer:
        from cam.memory.edits import move

        if scope is None and topic is None:
            raise InvalidInputError("say where to: --scope SCOPE, --topic TOPIC or both")
        where = parse_scope(scope) if scope else None
        edit = partial(move, scope=where, topic=check_topic(topic) if topic else None)
        named = MemoryRef.parse(ref)
        context = enter_context(cwd)
        if where:
            context.layout.scope_folder(where)  # refuses a project's scope where there is no project
        return _change(context, "move", "Moved", edit, named)

    respond("memory.move", as_json, Access.WRITES, work)


def link_command(ref: Ref, other: Other, as_json: Json = False, cwd: Cwd = None) -> None:
    """Link two records with each other."""
    _on_two("link", "Linked", ref, other, as_json, cwd)


def unlink_command(ref: Ref, other: Other, as_json: Json = False, cwd: Cwd = None) -> None:
    """Take the link between two records away."""
    _on_two("unlink", "Unlinked", ref, other, as_json, cwd)


def merge_command(ref: Ref, other: Other, as_json: Json = False, cwd: Cwd = None) -> None:
    """Give the first record the second's details, sources and links; the second is archived."""
    _on_two("merge", "Merged", ref, other, as_json, cwd)


def pin_command(ref: Ref, as_json: Json = False, cwd: Cwd = None) -> None:
    """Let a record come first in what Codex is told."""
    _on_one("pin", "Pinned", ref, as_json, cwd)


def unpin_command(ref: Ref, as_json: Json = False, cwd: Cwd = None) -> None:
    """Let a record come first no longer."""
    _on_one("unpin", "Unpinned", ref, as_json, cwd)


def archive_command(ref: Ref, as_json: Json = False, cwd: Cwd = None) -> None:
    """Keep a record, but no longer as something that holds."""
    _on_one("archive", "Archived", ref, as_json, cwd)


def restore_command(ref: Ref, as_json: Json = False, cwd: Cwd = None) -> None:
    """Let an archived record hold again."""
    _on_one("restore", "Restored", ref, as_json, cwd)


def register(app: typer.Typer) -> None:
    """Put the commands into the group."""
    commands: dict[str, Callable[..., None]] = {
        "edit": edit_command,
        "move": move_command,
        "link": link_command,
        "unlink": unlink_command,
        "pin": pin_command,
        "unpin": unpin_command,
        "archive": archive_command,
        "restore": restore_command,
        "merge": merge_command,
    }
    for name, command in commands.items():
        app.command(name)(command)


def _edit(ref: MemoryRef, wish: "Wish | None", cwd: str | None) -> Answer:
    from cam.cli.editor import edited
    from cam.memory.edits import edit, editable, read_edited
    from cam.memory.lookup import find

    context = enter_context(cwd)
    if wish is not None:
        return _change(context, "edit", "Edited", partial(edit, wish=wish), ref)
    record = find(context.store.near([ref]).records, ref)
    with edited(context.environment, editable(record), f"{record.id}.md") as text:
        return _change(context, "edit", "Edited", partial(edit, wish=read_edited(text, record)), ref)


def _on_one(verb: str, done: str, ref: str, as_json: bool, cwd: str | None) -> None:
    def work() -> Answer:
        from cam.memory import edits

        steps: dict[str, Callable[..., Changed]] = {
            "pin": partial(edits.pin, pinned=True),
            "unpin": partial(edits.pin, pinned=False),
            "archive": edits.archive,
            "restore": edits.restore,
        }
        named = MemoryRef.parse(ref)
        return _change(enter_context(cwd), verb, done, steps[verb], named)

    respond(f"memory.{verb}", as_json, Access.WRITES, work)


def _on_two(verb: str, done: str, ref: str, other: str, as_json: bool, cwd: str | None) -> None:
    def work() -> Answer:
        from cam.memory import edits

        edit = {"link": edits.link, "unlink": edits.unlink, "merge": edits.merge}[verb]
        both = MemoryRef.parse(ref), MemoryRef.parse(other)
        return _change(enter_context(cwd), verb, done, edit, *both)

    respond(f"memory.{verb}", as_json, Access.WRITES, work)


def _change(context: Context, verb: str, done: str, edit: "Edit", *refs: MemoryRef) -> Answer:
    from cam.memory.flow import change
    from cam.render.history import changed_data, changed_text

    changed = change(context.store, verb, edit, *refs)
    notes = tuple(f"cam: {warning}" for warning in changed.warnings)
    return Answer(changed_data(changed), changed_text(changed, done), notes)


def _type(text: str | None) -> RecordType | None:
    if text is None:
        return None
    try:
        return RecordType(text)
    except ValueError:
        raise InvalidInputError(f"no type {text!r}; types are {', '.join(RecordType)}") from None
