#!/usr/bin/env python3
"""Leave the rollout of a session behind: ``write_session.py ID WORDS …``, one message of the user's each.

The session ran in the current folder, just now; it lies where Codex keeps them.
"""

import datetime as dt
import json
import os
import sys
from pathlib import Path

now = dt.datetime.now(dt.UTC)
at = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
session, *messages = sys.argv[1:]
lines = [
    {"type": "session_meta", "payload": {"id": session, "timestamp": at, "cwd": os.getcwd(), "source": "cli"}}
]
for text in messages:
    part = {"type": "input_text", "text": text}
    lines.append({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [part]}})
    lines.append({"type": "event_msg", "payload": {"type": "user_message", "message": text}})
folder = Path(os.environ["CODEX_HOME"], "sessions", f"{now:%Y/%m/%d}")
folder.mkdir(parents=True, exist_ok=True)
with (folder / f"rollout-{now:%Y-%m-%dT%H-%M-%S}-{session}.jsonl").open("w", encoding="utf-8") as file:
    for line in lines:
        file.write(json.dumps({"timestamp": at, **line}) + "\n")
