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

from cam.startup.handoff import ACTIVE_FILE, goes_on, text_after_compaction, text_for_session
from cam.startup.ledger import note_session, read_ledger, write_ledger
from cam.system.files import write_quick

MAX_EVENT = 1 << 20
"""Bytes of an event that are read."""


def main(folder: str) -> int:
    """Answer one event.

    Args:
        folder: the run's folder, ``<store>/cache/runs/<run>``.
    """
    try:
        event = json.loads(sys.stdin.buffer.read(MAX_EVENT))
        answer = answer_event(folder, event)
    except Exception as error:  # a hook must never cost the session; the note is for the receipt
        with contextlib.suppress(Exception):
            write_quick(os.path.join(folder, "hook-error.txt"), f"{type(error).__name__}: {error}".encode())
        return 0
    if answer:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    return 0


def answer_event(folder: str, event: dict[str, Any]) -> bytes:
    """The hook's answer as bytes; empty when there is nothing to tell."""
    session = str(event.get("session_id") or "")
    source = str(event.get("source") or "startup")
    transcript = event.get("transcript_path")
    if not session or _is_codex_own(event):
        return b""
    with open(os.path.join(folder, "run.json"), "rb") as file:
        run = json.load(file)
    cache = os.path.dirname(os.path.dirname(folder))
    known = read_ledger(cache, session)
    if known is None and source in ("resume", "fork"):
        known = read_ledger(cache, run.get("parent") or _parent_of(transcript))
    if goes_on(source, known):
        with open(os.path.join(folder, ACTIVE_FILE), encoding="utf-8") as file:
            run["active"] = file.read().split("\n")
    text, ledger = text_for_session(run, source, known)
    if source == "compact" and run.get("budget"):
        text, ledger = text_after_compaction(run, _lost(folder, transcript, str(event.get("cwd") or "")))
    note_session(
        folder,
        {"session": session, "source": source, "transcript": transcript, "text": text, "at": time.time()},
    )
    write_ledger(cache, session, ledger)
    if not text:
        return b""
    output = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
    return json.dumps(output, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def _lost(folder: str, transcript: object, cwd: str) -> tuple[str, ...]:
    """What the compaction's summary left out; nothing where that cannot be told."""
    try:
        # A model was just asked for a summary: what this needs more to import is not felt.
        from cam.continuity.compaction import lost_lines  # noqa: PLC0415
        from cam.store.sessions import CodexSessions  # noqa: PLC0415

        sessions = CodexSessions(_codex_home())
        meta = sessions.header(transcript) if isinstance(transcript, str) else None
        return () if meta is None else lost_lines(sessions.read(meta), cwd or meta.cwd)
    except Exception as error:  # the payload must not go with it
        with contextlib.suppress(Exception):
            write_quick(os.path.join(folder, "hook-error.txt"), f"{type(error).__name__}: {error}".encode())
        return ()


def _codex_home() -> str:
    return os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")


def _is_codex_own(event: dict[str, Any]) -> bool:
    """Codex's own memory consolidation runs in ``$CODEX_HOME/memories`` without a transcript."""
    memories = os.path.join(os.path.realpath(_codex_home()), "memories")
    return event.get("transcript_path") is None and os.path.realpath(str(event.get("cwd"))) == memories


def _parent_of(transcript: object) -> str | None:
    """The session that the transcript's session was forked from, where its header says so."""
    if not isinstance(transcript, str):
        return None
    try:
        with open(transcript, "rb") as file:
            payload = json.loads(file.readline(MAX_EVENT))["payload"]
        return str(payload.get("forked_from_id") or payload["history_base"]["thread_id"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
