"""The SessionStart hook of a wrapped session: prints what this session is to be told.

Reads the event's JSON from stdin and answers exactly one JSON object of the event's schema, or nothing.
It never fails the session: whatever goes wrong, it prints nothing and the receipt says so afterwards.
Hot path: ``json`` and ``os`` alone beside cam's own light modules.
"""

import contextlib
import json
import os
import sys
import time
from typing import Any

from cam.core.errors import CamError
from cam.hosts.hook_event import (
    context_answer,
    is_codex_own,
    is_first_call,
    read_event,
    start_text,
    write_answer,
)
from cam.startup.handoff import ACTIVE_FILE
from cam.startup.ledger import note_session, write_ledger
from cam.system.files import write_quick


def main(folder: str) -> int:
    """Answer one event.

    Args:
        folder: the run's folder, ``<store>/cache/runs/<run>``.
    """
    try:
        event = read_event(sys.stdin.buffer)
        if event is None:
            raise ValueError("what Codex handed over is no event")
        answer = answer_event(folder, event)
    except Exception as error:  # a hook must never cost the session; the note is for the receipt
        _note(folder, error)
        return 0
    write_answer(answer)
    return 0


def answer_event(folder: str, event: dict[str, Any]) -> bytes:
    """The hook's answer as bytes; empty when there is nothing to tell."""
    session = str(event.get("session_id") or "")
    if not session or is_codex_own(event):
        return b""
    with open(os.path.join(folder, "run.json"), "rb") as file:
        run = json.load(file)
    cache = os.path.dirname(os.path.dirname(folder))
    source = str(event.get("source") or "startup")
    if source == "compact" and not is_first_call(event, cache):
        return b""
    text, ledger = start_text(run, event, cache, lambda: _active(folder), lambda error: _note(folder, error))
    note = {"session": session, "source": source, "transcript": event.get("transcript_path"), "text": text}
    with contextlib.suppress(CamError, OSError):  # what cannot be noted is told all the same
        note_session(folder, note | {"at": time.time()})
        write_ledger(cache, session, ledger)
    return context_answer("SessionStart", text)


def _active(folder: str) -> list[str]:
    with open(os.path.join(folder, ACTIVE_FILE), encoding="utf-8") as file:
        return file.read().split("\n")


def _note(folder: str, error: Exception) -> None:
    with contextlib.suppress(Exception):
        write_quick(os.path.join(folder, "hook-error.txt"), f"{type(error).__name__}: {error}".encode())
