"""cam hook EVENT: what Codex calls where the hooks are installed, without the wrapper.

========================  =====================================================================
event                     what it does
========================  =====================================================================
session-start             prints what the session is to be told
session-end, stop         has the session learned from, in the background
pre-compact               the same, so that where the session stands is there when it was compacted
user-prompt-submit        prints what is surely about the prompt, where ``prompt_recall`` is set
========================  =====================================================================

A hook never fails a session: it exits with 0 and says nothing where it cannot help, with a line in the log.
Sessions without a file (ephemeral ones, those of Codex's own memory) and wrapped ones, which the wrapper
serves, are left alone. Hot path: nothing heavy is imported before it is known that there is something to do.
"""

import json
import os
import sys
import time
from contextlib import suppress
from typing import Any

from cam.core.off import is_off
from cam.hosts.hook_event import read_event, write_answer
from cam.system.background import start_apart

LEARNING = ("session-end", "stop", "pre-compact")
EVENTS = ("session-start", *LEARNING, "user-prompt-submit")


def main(arguments: list[str]) -> int:
    """Answer one event of Codex's.

    Args:
        arguments: behind ``cam hook``.

    Returns:
        0, or 4 where a person called it with words it does not know.
    """
    if arguments[:1] == ["learn"] and len(arguments) == 2:
        from cam.hosts.hook_learn import main as learn  # noqa: PLC0415

        return learn(arguments[1])
    if arguments == ["ready"]:
        from cam.hosts.hook_ready import main as make_ready_again  # noqa: PLC0415

        return make_ready_again()
    if len(arguments) != 1 or arguments[0] not in EVENTS:
        sys.stderr.write(f"cam: 'cam hook' is for Codex to call: cam hook {'|'.join(EVENTS)}\n")
        return 4
    try:
        event = read_event(sys.stdin.buffer)
        if event is None or not _is_ours(event):
            return 0
        answer = _answer(arguments[0], event)
    except Exception as error:
        _log(f"{arguments[0]} failed: {type(error).__name__}: {error}")
        return 0
    write_answer(answer)
    return 0


def _is_ours(event: dict[str, Any]) -> bool:
    """Whether the session is a person's own, is kept, and has no wrapper that serves it."""
    if is_off(os.environ) or os.environ.get("CAM_RUN"):
        return False
    return all(isinstance(event.get(k), str) and event[k] for k in ("session_id", "cwd", "transcript_path"))


def _answer(name: str, event: dict[str, Any]) -> bytes:
    if name == "session-start":
        from cam.hosts.hook_start import answer_start  # noqa: PLC0415

        answer = answer_start(event)
        if event.get("source") not in ("clear", "compact"):
            with suppress(OSError):  # the answer must not hang on another process
                _learn_later(name, event)  # what a killed session left is learned at the next start
        return answer
    if name == "user-prompt-submit":
        from cam.hosts.hook_prompt import answer_prompted  # noqa: PLC0415

        return answer_prompted(event)
    _learn_later(name, event)
    return b""


def _learn_later(name: str, event: dict[str, Any]) -> None:
    wish = {"event": name, "session": event["session_id"], "cwd": event["cwd"], "at": time.time()}
    start_apart([sys.executable, "-I", "-m", "cam", "hook", "learn", json.dumps(wish)])


def _log(line: str) -> None:
    """Into the log of the store that the present folder has; where even that fails, nowhere."""
    try:
        from cam.store.hook_notes import log_line  # noqa: PLC0415
        from cam.store.locate import enter, locate  # noqa: PLC0415

        log_line(locate(enter(None))[2].cache_file(), line)
    except Exception:
        return
