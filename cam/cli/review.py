"""cam review: list, accept, reject."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json, Scope
from cam.core.display import listed
from cam.core.errors import InvalidInputError
from cam.core.records import MemoryRef, check_topic, parse_scope
from cam.memory.proposals import apply, find_proposal, preview
from cam.memory.review import accept, read_queue, reject
from cam.render.review import (
    decided_data,
    decided_text,
    preview_data,
    preview_notes,
    queue_data,
    queue_text,
)

app = typer.Typer(invoke_without_command=True, pretty_exceptions_enable=False)

Item = Annotated[str, typer.Argument(metavar="ID", help="As 'cam review' prints it, or its beginning.")]


@app.callback(invoke_without_command=True)
def review(context: typer.Context, as_json: Json = False, cwd: Cwd = None) -> None:
    """What sync left to you: suppressed, proposed and rejected, each with its reason."""
    if context.invoked_subcommand is None:
        respond("review", as_json, Access.READS, lambda: _list(False, cwd))


@app.command("list")
def list_command(
    every: Annotated[bool, typer.Option("--all", help="Everything, what is settled included.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """List what waits: id, text, why it was not kept, what it conflicts with."""
    respond("review.list", as_json, Access.READS, lambda: _list(every, cwd))


@app.command("accept")
def accept_command(
    item: Item,
    replaces: Annotated[
        list[str] | None,
        typer.Option(
            "--replaces", metavar="REF", help="Archive this record, instead of what it contradicts."
        ),
    ] = None,
    scope: Scope = None,
    topic: Annotated[str | None, typer.Option("--topic", metavar="TOPIC", help="Where to keep it.")] = None,
    write: Annotated[
        bool, typer.Option("--apply", help="Write the change to the instruction file, as the diff shows it.")
    ] = False,
    seen: Annotated[
        str, typer.Option("--seen", metavar="DIGEST", help="The version of the file that the diff was for.")
    ] = "",
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Make a record of it, as your word; what it contradicts is archived.

    A change to an instruction file is shown as a diff first, and written with --apply alone.
    """
    if write or seen:
        respond("review.accept", as_json, Access.WRITES, lambda: _apply(item, seen, write, cwd))
    respond("review.accept", as_json, Access.WRITES, lambda: _accept(item, replaces, scope, topic, cwd))


@app.command("reject")
def reject_command(item: Item, as_json: Json = False, cwd: Cwd = None) -> None:
    """Do not show it again."""
    respond("review.reject", as_json, Access.WRITES, lambda: _reject(item, cwd))


def _list(every: bool, cwd: str | None) -> Answer:
    queue = read_queue(enter_context(cwd).store)
    return Answer(queue_data(queue, every=every), queue_text(queue, every=every))


def _accept(
    item: str, replaces: list[str] | None, scope: str | None, topic: str | None, cwd: str | None
) -> Answer:
    context = enter_context(cwd)
    proposal = find_proposal(context.store, item)
    if proposal is not None:
        seen = preview(context.project, proposal)
        return Answer(preview_data(seen), seen.diff.rstrip("\n"), preview_notes(seen))
    decided = accept(
        context.store,
        item,
        scope=parse_scope(scope) if scope else None,
        topic=check_topic(topic) if topic else None,
        replaces=[MemoryRef.parse(ref) for ref in replaces] if replaces else None,
    )
    notes = [f"cam: {warning}" for warning in decided.warnings]
    notes += [f"cam: stays beside it: {listed(r.summary)}  {r.ref}" for r in decided.kept]
    return Answer(decided_data(decided), decided_text(decided), tuple(notes))


def _apply(item: str, seen: str, write: bool, cwd: str | None) -> Answer:
    context = enter_context(cwd)
    proposal = find_proposal(context.store, item)
    if proposal is None or not write:
        raise InvalidInputError("--apply is for a change to an instruction file, and --seen goes with it")
    done = apply(context.store, context.project, proposal, seen)
    return Answer(preview_data(done), done.diff.rstrip("\n"), preview_notes(done))


def _reject(item: str, cwd: str | None) -> Answer:
    decided = reject(enter_context(cwd).store, item)
    return Answer(decided_data(decided), decided_text(decided))
