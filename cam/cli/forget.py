"""cam forget."""

import sys
from typing import Annotated

import typer

from cam.cli.answer import Answer, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json, Scope, Yes
from cam.context import Context
from cam.core.errors import NotFoundError, WriteRefusedError
from cam.core.records import MemoryRecord, MemoryRef, parse_scope
from cam.memory.flow import forget, matches, named_terms
from cam.memory.lookup import find
from cam.render.records import list_text


def forget_command(
    what: Annotated[str, typer.Argument(metavar="REF|QUERY", help="A ref, or words that the record holds.")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete instead of archiving.")] = False,
    erase: Annotated[
        bool, typer.Option("--erase", help="Take the text out of history and copies too, for good.")
    ] = False,
    scope: Scope = None,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, write nothing.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Archive what is remembered, delete it, or erase it; a query shows what it would touch and asks."""
    verb = "erase" if erase else "delete" if delete else "archive"
    respond(
        "forget",
        as_json,
        writes_unless(dry_run),
        lambda: _forget(what, verb, scope, yes, dry_run, as_json, cwd),
    )


def _forget(
    what: str, verb: str, scope: str | None, yes: bool, dry_run: bool, as_json: bool, cwd: str | None
) -> Answer:
    context = enter_context(cwd)
    if verb == "erase" and MemoryRef.looks_like(what) and not dry_run:
        return _erase(context, [MemoryRef.parse(what)])
    if MemoryRef.looks_like(what):
        found: tuple[MemoryRecord, ...] = (_named(context, MemoryRef.parse(what)),)
    else:
        snapshot = context.store.view(named_terms(what))
        found = matches(snapshot.records, what, parse_scope(scope) if scope else None)
        if not found:
            unread = f"; {snapshot.problems[0]} (cam doctor)" if snapshot.problems else ""
            raise NotFoundError(
                f"nothing that is remembered holds all of {what!r}; 'cam memory list' shows what is{unread}"
            )
        if not (yes or dry_run) and not _agreed(found, verb, as_json):
            raise WriteRefusedError(
                "nothing was forgotten; --yes forgets without asking, a ref names one record"
            )
    refs = [r.ref for r in found]
    data = {"refs": [str(r) for r in refs], "deleted": verb != "archive", "dry_run": dry_run}
    if dry_run:
        return Answer(data, "Would be forgotten:\n" + list_text(found))
    if verb == "erase":
        return _erase(context, refs)
    forget(context.store, refs, delete=verb == "delete")
    return Answer(data, f"{verb.title()}d:\n{list_text(found)}\nundo: cam undo")


def _named(context: Context, ref: MemoryRef) -> MemoryRecord:
    return find(context.store.near([ref]).records, ref)


def _erase(context: Context, refs: list[MemoryRef]) -> Answer:
    from cam.memory.erase import erase
    from cam.render.erase import erased_data, erased_notes, erased_text

    root = context.project.root if context.project else None
    done = erase(context.store, refs, context.codex_home, root)
    return Answer(erased_data(done), erased_text(done), erased_notes(done))


def _agreed(found: tuple[MemoryRecord, ...], verb: str, as_json: bool) -> bool:
    """Show what would go and ask; without a terminal, show it and take it for no."""
    sys.stderr.write(f"{list_text(found)}\n")
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    count = "this record" if len(found) == 1 else f"these {len(found)} records"
    sys.stderr.write(f"{verb} {count}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
