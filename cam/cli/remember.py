"""cam remember."""

from typing import Annotated

import typer

from cam.cli.answer import Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json, Scope
from cam.core.display import one_line
from cam.core.records import check_topic, parse_scope
from cam.formats.topic_file import record_to_data
from cam.memory.flow import remember


def remember_command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The fact, in your own words.")],
    scope: Scope = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="Found from the words if not given.")
    ] = None,
    detail: Annotated[
        list[str] | None, typer.Option("--detail", metavar="LINE", help="A further line; may be repeated.")
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Remember a fact, verbatim."""
    respond("remember", as_json, lambda: _remember(text, scope, topic, detail or [], cwd))


def _remember(text: str, scope: str | None, topic: str | None, details: list[str], cwd: str | None) -> Answer:
    context = enter_context(cwd)
    where = parse_scope(scope or context.settings["default_scope"])
    done = remember(context.store, text, details, where, check_topic(topic) if topic else None)
    changes = [
        {"kind": str(c.operation.kind), "ref": str(c.ref), "reason": c.operation.reason}
        for c in done.plan.changes
    ]
    data = record_to_data(done.record) | {
        "is_new": done.is_new,
        "changes": changes,
        "warnings": list(done.warnings),
    }
    verb = "Remembered" if done.is_new else "Known already"
    text_out = f"{verb}: {one_line(done.record.summary)}\n  {done.record.ref}"
    return Answer(data, text_out, tuple(f"cam: {w}" for w in done.warnings))
