"""cam forget."""

import sys
from typing import Annotated

import typer

from cam.cli.answer import Answer, respond
from cam.cli.app import global_cwd
from cam.cli.options import Cwd, Json, Scope, Yes
from cam.context import open_context
from cam.core.errors import NotFoundError, WriteRefusedError
from cam.core.records import MemoryRecord, MemoryRef, parse_scope
from cam.memory.flow import forget, matches
from cam.memory.lookup import find
from cam.render.records import list_text


def forget_command(
    what: Annotated[str, typer.Argument(metavar="REF|QUERY", help="A ref, or words that the record holds.")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete instead of archiving.")] = False,
    scope: Scope = None,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, write nothing.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Archive what is remembered, or delete it; a query shows what it would touch and asks."""
    respond("forget", as_json, lambda: _forget(what, delete, scope, yes, dry_run, as_json, cwd))


def _forget(
    what: str, delete: bool, scope: str | None, yes: bool, dry_run: bool, as_json: bool, cwd: str | None
) -> Answer:
    context = open_context(global_cwd(cwd))
    records = context.store.snapshot().records
    if MemoryRef.looks_like(what):
        found: tuple[MemoryRecord, ...] = (find(records, MemoryRef.parse(what)),)
    else:
        found = matches(records, what, parse_scope(scope) if scope else None)
        if not found:
            raise NotFoundError(
                f"nothing that is remembered holds all of {what!r}; 'cam memory list' shows what is"
            )
        if not (yes or dry_run) and not _agreed(found, delete, as_json):
            raise WriteRefusedError(
                "nothing was forgotten; --yes forgets without asking, a ref names one record"
            )
    refs = [r.ref for r in found]
    data = {"refs": [str(r) for r in refs], "deleted": delete, "dry_run": dry_run}
    if dry_run:
        return Answer(data, "Would be forgotten:\n" + list_text(found))
    forget(context.store, refs, delete=delete)
    verb = "Deleted" if delete else "Archived"
    return Answer(data, f"{verb}:\n{list_text(found)}\nundo: cam undo")


def _agreed(found: tuple[MemoryRecord, ...], delete: bool, as_json: bool) -> bool:
    """Show what would go and ask; without a terminal, show it and take it for no."""
    verb = "delete" if delete else "archive"
    sys.stderr.write(f"{list_text(found)}\n")
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    count = "this record" if len(found) == 1 else f"these {len(found)} records"
    sys.stderr.write(f"{verb} {count}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
