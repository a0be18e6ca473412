"""SessionStart without the wrapper: compile what is known here and print it, once per session."""

import time
from typing import Any

from cam.context import open_context
from cam.continuity.start import AUTO, start_lines
from cam.hosts.hook_event import context_answer, start_text
from cam.startup.flow import run_data, startup_payload
from cam.startup.ledger import note_session, write_ledger
from cam.store.hook_notes import is_first, log_line, note_fired
from cam.system.files import make_folder


def answer_start(event: dict[str, Any]) -> bytes:
    """The answer as bytes; empty where cam is off here or there is nothing to tell.

    Args:
        event: with ``session_id``, ``cwd`` and ``transcript_path`` as texts.

    Raises:
        CamError: memory cannot be read.
    """
    context = open_context(event["cwd"])
    if context.off_reason:
        return b""
    session, source = event["session_id"], str(event.get("source") or "startup")
    note_fired(context.layout, "session-start", session)
    if not is_first(context.layout, session, source):
        return b""
    settings = context.settings
    lines = start_lines(context, context.project, settings)
    payload, problems = startup_payload(context.layout, settings, lines)
    if problems:
        log_line(context.layout, f"session-start: {problems[0]} ({len(problems)} in all)")
    limits = (settings["max_startup_lines"], settings["max_startup_tokens"])
    run = run_data(payload) | {"budget": limits if settings["session_continuity"] == AUTO else None}
    text, ledger = start_text(
        run, event, context.layout.cache_file(), lambda: payload.active,
        lambda error: log_line(context.layout, f"after the compaction: {type(error).__name__}: {error}"),
    )  # fmt: skip
    if text:
        told = context.layout.cache_file("hooks", "told")
        make_folder(told)
        said = {e.key: e.said for e in payload.entries if e.line in text}
        note = {"session": session, "source": source, "text": text, "lines": said, "at": time.time()}
        note_session(told, note)
    write_ledger(context.layout.cache_file(), session, ledger)
    return context_answer("SessionStart", text)
