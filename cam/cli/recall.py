"""cam recall: finding memory again."""

import os
from typing import Annotated

import typer

from cam.cli.answer import Answer, respond
from cam.cli.app import global_cwd
from cam.cli.options import Cwd, Json, Scope, Topic
from cam.context import open_context
from cam.core.records import MemoryRecord, check_topic, parse_scope
from cam.recall.indexed import search_store
from cam.recall.source import Filters
from cam.render.recall import search_data, search_text
from cam.system.clock import now_stamp

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def recall() -> None:
    """Find memory again."""


@app.command("search")
def search_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words in any language; quote several.")],
    scope: Scope = None,
    state: Annotated[
        str,
        typer.Option("--state", metavar="STATE", help="auto (active, then archived), active, archived, all."),
    ] = "auto",
    topic: Topic = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Cards at most, 1 to 100.")] = 8,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Search what is remembered: one card per record, best first, with why it matched."""
    respond("recall.search", as_json, lambda: _search(query, scope, state, topic, limit, cwd))


def _search(
    query: str, scope: str | None, state: str, topic: str | None, limit: int, cwd: str | None
) -> Answer:
    context = open_context(global_cwd(cwd))
    layout = context.layout

    def path_of(record: MemoryRecord) -> str:
        return os.path.relpath(layout.topic_file(record.scope, record.state, record.topic), layout.root)

    result = search_store(
        layout,
        query,
        Filters(
            scope=parse_scope(scope) if scope else None,
            topic=check_topic(topic) if topic else None,
            now=now_stamp(),
        ),
        state=state,
        limit=limit,
        path_of=path_of,
    )
    notes = tuple(f"cam: {p}" for p in result.problems)
    return Answer(search_data(result), search_text(result), notes)
