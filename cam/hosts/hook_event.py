"""The event that Codex hands to a hook on its standard input, and the answer it takes.

An answer is one JSON object of the event's schema in ASCII with one line feed behind it, or nothing at all.
"""

import json
import os
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any, BinaryIO

from cam.core.errors import CamError
from cam.hosts.transcript import compacted_at, parent_of, told_by_codex
from cam.startup.handoff import Ledger, goes_on, text_after_compaction, text_for_session
from cam.startup.ledger import read_ledger
from cam.store.hook_notes import is_first
from cam.system.codex_memories import is_in_memories

MAX_EVENT = 16 << 20
"""Bytes of an event that are heeded: a prompt may be long."""


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


def is_first_call(event: dict[str, Any], cache: str) -> bool:
    """Whether this process is the first that answers this start of the session, where that can be noted.

    Hooks may be installed twice. Codex starts a session that is resumed and compacted at once two times.
    """
    source = str(event.get("source") or "startup")
    if source == "compact":
        return _is_first_since(max(0, compacted_at(event.get("transcript_path"))), event, cache)
    try:
        return is_first(cache, str(event["session_id"]), source)
    except (CamError, OSError):
        return True


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
        known = read_ledger(cache, run.get("parent") or parent_of(transcript))
        if known is not None and source == "startup":
            source = "fork"  # some releases say of a fork that it starts
    if goes_on(source, known) and _is_first_since(compacted_at(transcript, untold=True), event, cache):
        known, source = None, "compact"  # up to 0.140 no hook is called for one in mid-turn
    if goes_on(source, known):
        run["active"] = active()
    elsewhere = _told_elsewhere(run, transcript)
    if source == "compact" and run.get("budget"):
        lost = _lost(transcript, str(event.get("cwd") or ""), trouble)
        return text_after_compaction(run, lost, elsewhere)
    return text_for_session(run, source, known, elsewhere)


def _is_first_since(compacted: int, event: dict[str, Any], cache: str) -> bool:
    """Whether this process is the first that is called since a compaction; False where there was none."""
    if compacted < 0:
        return False
    try:
        return is_first(cache, str(event["session_id"]), f"compact-{compacted}")
    except (CamError, OSError):
        return True  # rather twice than never


def _told_elsewhere(run: dict[str, Any], transcript: object) -> Collection[str]:
    """Lines of records that this session was told by Codex's own memory, as its file says; in doubt none."""
    sentences = told_by_codex(transcript)
    if not sentences:
        return ()
    from cam.startup.meaning import lines_said  # noqa: PLC0415 - for those alone who have such a memory

    return lines_said(run["entries"], sentences)


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


def _codex_home() -> str:
    return os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
