"""cam log."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.records import parse_scope
from cam.memory.dates import moment
from cam.memory.flow import happened
from cam.memory.log import log
from cam.render.log import log_data, log_text
from cam.system.clock import now_stamp


def log_command(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, metavar="N", help="How many changes, newest first.")
    ] = 10,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Only since then: a date, a time, or 7d.")
    ] = None,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="SCOPE", help="global, project or project-local.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Only that session, or its beginning.")
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """What each session taught, corrected and forgot, newest first, with its words and the way back."""
    respond("log", as_json, Access.READS, lambda: _log(limit, since, scope, session, cwd))


def _log(limit: int, since: str | None, scope: str | None, session: str | None, cwd: str | None) -> Answer:
    wanted = parse_scope(scope) if scope is not None else None
    after = moment(since, now=now_stamp()) if since is not None else ""
    events = happened(enter_context(cwd).store)
    entries = [
        entry
        for entry in log(events)
        if entry.at > after
        and (session is None or (entry.session and entry.session.startswith(session)))
        and (wanted is None or any(lesson.ref.startswith(f"{wanted}:") for lesson in entry.lessons))
    ]
    shown = entries[:limit]
    is_part = (since, scope, session) != (None, None, None)
    return Answer(log_data(shown, len(entries)), log_text(shown, len(entries), is_part=is_part))
