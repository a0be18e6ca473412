#!/usr/bin/env python3
"""A small honest Codex: says its release, writes down how it was called, and ends as it is told.

Environment: FAKE_CODEX_LOG (file that gets one JSON line per call), FAKE_CODEX_END (``exit:N`` or
``signal:N``), FAKE_CODEX_RELEASE.
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

kind, _, number = os.environ.get("FAKE_CODEX_END", "exit:0").partition(":")
if kind == "signal":
    os.kill(os.getpid(), int(number))
sys.exit(int(number))
