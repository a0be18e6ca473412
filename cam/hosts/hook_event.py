"""The event that Codex hands to a hook on its standard input, and the answer it takes.

An answer is one JSON object of the event's schema in ASCII with one line feed behind it, or nothing at all.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from mmap import ACCESS_READ, mmap
from typing import Any, BinaryIO

from cam.startup.frame import OPEN
from cam.startup.handoff import Ledger, goes_on, text_after_compaction, text_for_session
from cam.startup.ledger import read_ledger
from cam.system.codex_memories import is_in_memories

MAX_EVENT = 16 << 20
"""Bytes of an event that are heeded: a prompt may be long."""

MAX_HEADER = 1 << 20
"""Bytes of a rollout's first line that are heeded."""


def read_event(stream: BinaryIO) -> dict[str, Any] | None:
    """The event; None where it is none. The stream is read to its end, or some releases drop the answer."""
    data = stream.read(MAX_EVENT)
    while stream.read(1 << 20):
        data = b""
    try:
        event = json.loads(data)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def write_answer(answer: bytes) -> None:
    """Hand an answer to Codex; nothing at all where there is none."""
    if answer:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


def context_answer(name: str, text: str) -> bytes:
    """``text`` as further context of the event ``name``; nothing for no text."""
    if not text:
        return b""
    output = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    return json.dumps(output, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def is_codex_own(event: dict[str, Any]) -> bool:
    """Codex's own memory consolidation runs in one of its memory folders without a transcript."""
    return event.get("transcript_path") is None and is_in_memories(_codex_home(), str(event.get("cwd")))


def start_text(
    run: dict[str, Any],
    event: dict[str, Any],
    cache: str,
    active: Callable[[], Sequence[str]],
    trouble: Callable[[Exception], None],
) -> tuple[str, Ledger]:
    """What a session that starts is to be told, and its ledger afterwards.

    Args:
        run: what may be told (``startup.handoff``).
        event: of SessionStart.
        cache: the store's cache folder.
        active: keys of all records that hold; asked for only where a session goes on.
        trouble: told what went wrong while looking for what a compaction lost; the rest is told all the same.
    """
    source, transcript = str(event.get("source") or "startup"), event.get("transcript_path")
    known = read_ledger(cache, str(event["session_id"]))
    if known is None and source in ("startup", "resume", "fork"):
        known = read_ledger(cache, run.get("parent") or _parent_of(transcript))
        if known is not None and source == "startup":
            source = "fork"  # some releases say of a fork that it starts
    if goes_on(source, known) and _has_lost_it(transcript):
        known = None
    if goes_on(source, known):
        run["active"] = active()
    if source == "compact" and run.get("budget"):
        return text_after_compaction(run, _lost(transcript, str(event.get("cwd") or ""), trouble))
    return text_for_session(run, source, known)


def _lost(transcript: object, cwd: str, trouble: Callable[[Exception], None]) -> tuple[str, ...]:
    """What the compaction's summary left out; nothing where that cannot be told."""
    try:
        # A model was just asked for a summary: what this needs more to import is not felt.
        from cam.continuity.compaction import lost_lines  # noqa: PLC0415
        from cam.store.sessions import CodexSessions  # noqa: PLC0415

        sessions = CodexSessions(_codex_home())
        meta = sessions.header(transcript) if isinstance(transcript, str) else None
        return () if meta is None else lost_lines(sessions.read(meta), cwd or meta.cwd)
    except Exception as error:  # the payload must not go with it
        trouble(error)
        return ()


def _has_lost_it(transcript: object) -> bool:
    """Whether the session was compacted since it was told: releases up to 0.140 call no hook in mid-turn."""
    if not isinstance(transcript, str):
        return False
    try:
        with open(transcript, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            compacted = data.rfind(b'"type":"compacted"')
            return compacted >= 0 and data.rfind(OPEN.encode()) < compacted
    except (OSError, ValueError):  # gone, or empty
        return False


def _codex_home() -> str:
    return os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")


def _parent_of(transcript: object) -> str | None:
    """The session that the transcript's session was forked from, where its header says so."""
    if not isinstance(transcript, str):
        return None
    try:
        with open(transcript, "rb") as file:
            payload = json.loads(file.readline(MAX_HEADER))["payload"]
        return str(payload.get("forked_from_id") or payload["history_base"]["thread_id"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
