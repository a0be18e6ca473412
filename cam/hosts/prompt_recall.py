"""The UserPromptSubmit hook (``prompt_recall: true``): the few records that are about this prompt.

It adds at most ``MOST`` summaries with their refs, never details, nothing that this session was told before,
and nothing at all where no record is surely about the same thing. Whatever goes wrong, it says nothing. Hot
path: what a warm search imports, and no more.
"""

import json
import os
import sys
from contextlib import suppress
from typing import Any

from cam.core.errors import CamError
from cam.hosts.hook_event import context_answer, is_codex_own, read_event, write_answer
from cam.recall.prompt import fitting_records
from cam.startup.frame import CLOSE, FITTING, OPEN, line_digest, record_line
from cam.startup.ledger import read_ledger, write_ledger
from cam.store.layout import StoreLayout
from cam.system.clock import now_stamp

MOST = 3
"""Records that one prompt adds."""

_LOOKED_AT = 12
"""Records that are looked at for those which were not told yet."""


def main(folder: str) -> int:
    """Answer one event of a wrapped session.

    Args:
        folder: the run's folder, ``<store>/cache/runs/<run>``.
    """
    try:
        event = read_event(sys.stdin.buffer)
        with open(os.path.join(folder, "run.json"), "rb") as file:
            run = json.load(file)
        project, worktree = run["place"]
        root = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
        layout = StoreLayout(root, project, worktree)
        answer = answer_prompt(layout, event or {}, use_index=run.get("index") is not False)
    except Exception:  # a hook must never cost the session; what was not added is not missed
        return 0
    write_answer(answer)
    return 0


def answer_prompt(layout: StoreLayout, event: dict[str, Any], *, use_index: bool) -> bytes:
    """The hook's answer as bytes; empty where nothing is surely about the prompt that was not told yet.

    Args:
        layout: of the project's store.
        event: of UserPromptSubmit.
        use_index: whether the sidecar is used and kept (``recall_index``).

    Raises:
        CamError: memory cannot be read.
    """
    session, prompt = event.get("session_id"), event.get("prompt")
    if not (isinstance(session, str) and session and isinstance(prompt, str)) or is_codex_own(event):
        return b""
    found = fitting_records(layout, prompt, _LOOKED_AT, now=now_stamp(), surely=True, use_index=use_index)
    if not found:
        return b""
    from cam.core.quoting import shown_summary  # noqa: PLC0415 - most prompts add nothing

    cache = layout.cache_file()
    known = read_ledger(cache, session) or {}
    lines: list[str] = []
    for record, is_clean in found:
        key = f"{record.scope}:{record.topic}:{record.id}"
        text = "" if key in known else shown_summary(record.summary, is_clean=is_clean)
        if text and len(lines) < MOST:
            line = record_line(record.scope, record.topic, text)
            known[key] = [line_digest(line), line]
            lines.append(f"{line} ({record.ref})")
    if not lines:
        return b""
    with suppress(CamError, OSError):  # it is told all the same, and perhaps once more
        write_ledger(cache, session, known)
    return context_answer("UserPromptSubmit", "\n".join((OPEN, FITTING, *lines, CLOSE)))
