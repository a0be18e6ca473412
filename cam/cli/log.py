"""cam log."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.records import MemoryScope, parse_scope
from cam.memory.dates import moment
from cam.memory.flow import headlines
from cam.memory.log import LogEntry, LogStep, steps
from cam.render.log import SHOWN, log_data, log_text
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
    found = [step for step in steps(headlines(enter_context(cwd).store)) if step.headlines[0].at > after]
    if session is not None or wanted is not None:
        found = [step for step in found if _is_meant(step, session, wanted)]
    shown = found[:limit]
    is_part = (since, scope, session) != (None, None, None)

    def entries(most: int | None = None) -> list[LogEntry]:
        return [entry for step in shown if (entry := step.entry(most)) is not None]

    return Answer(
        lambda: log_data(entries(), len(found)),
        lambda: log_text(entries(SHOWN), len(found), is_part=is_part),
    )


def _is_meant(step: LogStep, session: str | None, scope: MemoryScope | None) -> bool:
    """Whether a change rests on that session's words and concerns that scope; it is read only if it may."""
    if scope is not None and not any(h.ref.startswith(f"{scope}:") for h in step.headlines):
        return False
    entry = step.entry()
    return (
        entry is not None
        and (session is None or (bool(entry.session) and entry.session.startswith(session)))
        and (scope is None or any(lesson.ref.startswith(f"{scope}:") for lesson in entry.lessons))
    )
