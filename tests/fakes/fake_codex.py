#!/usr/bin/env python3
"""A small honest Codex: says its release, writes down how it was called, and ends as it is told.

Environment: FAKE_CODEX_LOG (file that gets one JSON line per call), FAKE_CODEX_END (``exit:N`` or
``signal:N``), FAKE_CODEX_RELEASE, FAKE_CODEX_SESSION (leave a rollout with one message, as a session does;
no hook is called).
"""

import json
import os
import sys

if sys.argv[1:] == ["--version"]:
    print(f"codex-cli {os.environ.get('FAKE_CODEX_RELEASE', '0.171.0')}")
    sys.exit(0)

with open(os.environ["FAKE_CODEX_LOG"], "a", encoding="utf-8") as log:
    piped = "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    log.write(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "stdin": piped}) + "\n")

if os.environ.get("FAKE_CODEX_SESSION"):
    home = os.environ.get("CODEX_HOME") or os.path.join(os.environ["HOME"], ".codex")
    folder = os.path.join(home, "sessions", "2026", "11", "30")
    os.makedirs(folder, exist_ok=True)
    session = "01a22ce8-0000-7000-8000-000000000001"
    stamp = "2026-11-30T10:00:00.000Z"
    meta = {"id": session, "timestamp": stamp, "cwd": os.getcwd(), "cli_version": "0.171.0", "source": "exec"}
    said = {"type": "user_message", "message": "hello", "kind": "plain"}
    with open(
        os.path.join(folder, f"rollout-2026-11-30T10-00-00-{session}.jsonl"), "w", encoding="utf-8"
    ) as file:
        file.writelines(
            json.dumps({"timestamp": stamp, "type": line_kind, "payload": payload}) + "\n"
            for line_kind, payload in (("session_meta", meta), ("event_msg", said))
        )

kind, _, number = os.environ.get("FAKE_CODEX_END", "exit:0").partition(":")
if kind == "signal":
    os.kill(os.getpid(), int(number))
sys.exit(int(number))
