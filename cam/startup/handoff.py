"""From the compiler to the session: the run file, and what of it a session is told.

The wrapper writes one run file before Codex starts; the session's hook reads it at every start, resume,
fork, clear and compaction. What a session has been told stands in its ledger, so a resumed session gets
what changed and nothing twice. Plain dictionaries and ``json`` alone: this runs on the hot path.

Run file: ``{"text", "entries": {key: [digest, line]}, "active": [key], "parent"}``.
Ledger: ``{key: [digest, line]}``, by session id.
"""

from typing import Any

from cam.startup.frame import CHANGED, CLOSE, NO_LONGER, OPEN

Ledger = dict[str, list[str]]


def text_for_session(run: dict[str, Any], source: str, known: Ledger | None) -> tuple[str, Ledger]:
    """What the session is to be told now, and its ledger afterwards.

    Args:
        run: the run file.
        source: why the session starts: ``startup``, ``resume``, ``fork``, ``clear`` or ``compact``.
        known: the session's ledger (a fork's: its parent's), None if there is none.

    Returns:
        The text, "" for nothing.
    """
    entries: Ledger = run["entries"]
    if source not in ("resume", "fork") or known is None:
        return run["text"], dict(entries)
    news = {key: entry for key, entry in entries.items() if known.get(key, [""])[0] != entry[0]}
    active = set(run["active"])
    gone = {key: entry for key, entry in known.items() if key not in active}
    after = {key: entry for key, entry in known.items() if key not in gone} | news
    lines = [CHANGED, *(line for _, line in news.values())] if news else []
    lines += [NO_LONGER, *(line for _, line in gone.values())] if gone else []
    return "\n".join([OPEN, *lines, CLOSE]) if lines else "", after
