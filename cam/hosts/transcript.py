"""What a session's own file says when the session starts or goes on. Light: hooks ask.

Codex names the file in its event. Where it cannot be read, or says nothing, the session is told everything.
"""

import json
from mmap import ACCESS_READ, mmap

from cam.formats.codex_memory import MARK, told_sentences
from cam.startup.frame import OPEN

MAX_HEADER = 1 << 20
"""Bytes that are heeded of a first line, and of what Codex tells a session before anybody spoke."""

_COMPACTED = b'"type":"compacted"'


def compacted_at(transcript: object, *, untold: bool = False) -> int:
    """Where in the file the last compaction stands, in bytes; -1 where there is none.

    Args:
        transcript: path of the file.
        untold: only one since which the session was not told what is remembered.
    """
    if not isinstance(transcript, str):
        return -1
    try:
        with open(transcript, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            found = data.rfind(_COMPACTED)
            return -1 if untold and data.rfind(OPEN.encode()) > found else found
    except (OSError, ValueError):  # gone, or empty
        return -1


def parent_of(transcript: object) -> str | None:
    """The session that the transcript's session was forked from, where its header says so."""
    if not isinstance(transcript, str):
        return None
    try:
        with open(transcript, "rb") as file:
            payload = json.loads(file.readline(MAX_HEADER))["payload"]
        return str(payload.get("forked_from_id") or payload["history_base"]["thread_id"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def told_by_codex(transcript: object) -> list[str]:
    """The sentences of Codex's own memory that it told the session, and that no compaction took away since.

    Whatever switched that memory on or off, by file, profile or command line: what was told stands there.
    """
    if not isinstance(transcript, str):
        return []
    try:
        with open(transcript, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            if MARK not in data[:MAX_HEADER]:
                return []
            since = data.rfind(b"\n", 0, max(0, data.rfind(_COMPACTED))) + 1
            told = data[since : since + MAX_HEADER]
    except (OSError, ValueError):
        return []
    return [text for line in told.split(b"\n") if MARK in line for text in told_sentences(line)]
