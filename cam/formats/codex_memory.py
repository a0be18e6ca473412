"""How Codex tells a session its own memory: a developer message, which stands in the session's file.

From 0.145 to 0.171 the message holds the summary as it is told, between two lines of its own. It is written
before the hook of the start is called, and again behind a compaction. The middle of a long summary is cut
out, and the line that was cut says so. Light but where there is such a message.
"""

import json
from collections.abc import Iterator
from typing import Any

MARK = b"= MEMORY_SUMMARY BEGINS ="
"""Stands in every line of a session's file that holds such a message."""

_BEGINS = "\n========= MEMORY_SUMMARY BEGINS =========\n"
_ENDS = "\n========= MEMORY_SUMMARY ENDS =========\n"


def told_sentences(line: bytes) -> list[str]:
    """What a line of a session's file tells the model of Codex's own memory, an item of its lists each.

    Args:
        line: a message or what a compaction left; of any other line the answer is empty.
    """
    try:
        record = json.loads(line)
        texts = list(_developer_texts(record["type"], record["payload"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    summaries = [text.partition(_BEGINS)[2].rpartition(_ENDS)[0] for text in texts]
    if not any(summaries):
        return []
    from cam.formats.others_memory import summary_notes  # noqa: PLC0415 - for those alone who have one

    return [" ".join((n.text, *n.details)) for summary in summaries for n in summary_notes(summary)]


def _developer_texts(kind: str, payload: dict[str, Any]) -> Iterator[str]:
    items = {"response_item": [payload], "compacted": payload.get("replacement_history") or []}.get(kind, [])
    for item in items:
        if item.get("type") == "message" and item.get("role") == "developer":
            yield from (part["text"] for part in item["content"] if isinstance(part.get("text"), str))
