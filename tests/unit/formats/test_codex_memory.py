"""What Codex says of its own memory is found where it says it, and nowhere else."""

import json
from typing import Any

import pytest

from cam.formats.codex_memory import MARK, told_sentences

SUMMARY = """\
v1

## User Profile
The user paints boats blue.

## User preferences
- Always answer in German.

## General Tips
- Deploy with `make ship`
- Never push on Fridays
  but for a fix

## What's in Memory
- boats
"""
TOLD = f"""\
## Memory

- /c/memories/memory_summary.md (already provided below; do NOT open again)

========= MEMORY_SUMMARY BEGINS =========
{SUMMARY}
========= MEMORY_SUMMARY ENDS =========

When memory is likely relevant, start with the quick memory pass above.
"""


def message(text: str = TOLD, role: str = "developer") -> dict[str, Any]:
    parts = [{"type": "input_text", "text": text}, {"type": "input_text", "text": "<permissions>"}]
    return {"type": "message", "role": role, "content": parts}


def line(payload: dict[str, Any], kind: str = "response_item") -> bytes:
    return json.dumps({"timestamp": "2026-12-01T04:00:00.000Z", "type": kind, "payload": payload}).encode()


def test_the_items_of_its_lists() -> None:
    assert MARK in line(message())
    found = ["Always answer in German.", "Deploy with `make ship`", "Never push on Fridays but for a fix"]
    assert told_sentences(line(message())) == found
    compacted = {"message": "", "replacement_history": [message("Hello", "user"), message()]}
    assert told_sentences(line(compacted, "compacted")) == found


def test_where_the_middle_is_cut_out_both_ends_count() -> None:
    cut = TOLD.replace("German.\n\n## General Tips\n- Deploy", "Ger…9 tokens truncated…loy")
    assert told_sentences(line(message(cut))) == [
        "Always answer in Ger…9 tokens truncated…loy with `make ship`",
        "Never push on Fridays but for a fix",
    ]


@pytest.mark.parametrize(
    "other",
    [
        line(message(role="user")),
        line(message(role="assistant")),
        line({"type": "function_call_output", "output": TOLD}),
        line({"type": "user_message", "message": TOLD}, "event_msg"),
        line(message(TOLD.partition("======== MEMORY_SUMMARY ENDS")[0])),
        line(message("v1")),
        line(message())[:-9],
        line({"replacement_history": None}, "compacted"),
        b'{"type":"response_item","payload":[]}',
        b'{"type":"response_item"}',
        b"",
    ],
)
def test_others_words_are_no_memory(other: bytes) -> None:
    assert told_sentences(other) == []
