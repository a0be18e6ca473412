"""SessionStart without the wrapper: print what is known here, once per session.

Hot path: what to tell stands ready as a rule (``startup.ready``); only where something changed since is it
compiled now.
"""

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cam.core.errors import CamError
from cam.hosts.hook_event import context_answer, is_first_call, start_text
from cam.startup.ledger import note_session, write_ledger
from cam.startup.ready import read_active, read_ready
from cam.store.hook_notes import log_line, note_fired
from cam.system.files import make_folder

if TYPE_CHECKING:
    from cam.startup.result import StartupPayload


def answer_start(event: dict[str, Any]) -> bytes:
    """The answer as bytes; empty where cam is off here or there is nothing to tell.

    Args:
        event: with ``session_id``, ``cwd`` and ``transcript_path`` as texts.

    Raises:
        CamError: memory cannot be read.
    """
    cwd, session, source = event["cwd"], event["session_id"], str(event.get("source") or "startup")
    start, recipe = read_ready(cwd)
    payload: StartupPayload | None = None
    if start is None and recipe is not None:
        from cam.hosts.hook_recipe import compile_recipe  # noqa: PLC0415 - after an edit by hand alone

        start, payload = compile_recipe(recipe)
    elif start is None:
        from cam.hosts.hook_compile import compile_start  # noqa: PLC0415 - costs more than all else here

        compiled = compile_start(cwd)
        if compiled is None:
            return b""
        start, payload = compiled
    cache: str = start["cache"]
    with suppress(CamError, OSError):  # what cannot be noted is told all the same, rather twice than never
        note_fired(cache, start["project"], "session-start", session)
    if not is_first_call(event, cache):
        return b""
    text, ledger = start_text(
        start["run"], event, cache, lambda: read_active(cwd) if payload is None else payload.active,
        lambda error: log_line(cache, f"after the compaction: {type(error).__name__}: {error}"),
    )  # fmt: skip
    with suppress(CamError, OSError):
        _note_told(cache, event | {"source": source}, start["said"], text)
        write_ledger(cache, session, ledger)
    return context_answer("SessionStart", text)


def _note_told(cache: str, event: dict[str, Any], said: dict[str, Any], text: str) -> None:
    if not text:
        return
    told = os.path.join(cache, "hooks", "told")
    make_folder(told)
    lines = {key: line for key, line in said.items() if line in text}
    note = {"session": event["session_id"], "source": event["source"], "text": text, "lines": lines}
    note_session(told, note | {"at": time.time()})
