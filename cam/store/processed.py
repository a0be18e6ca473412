"""processed.jsonl: which sessions were read, and how far; one line per reading, the last one counts.

Append-only, so that two syncs at once cannot lose each other's marks. Losing the file loses no record and
adds none twice: records carry their sources. The predecessor's ``state.json`` counts too.
"""

import json
import os
from dataclasses import dataclass

from cam.core.errors import CamError
from cam.formats.json_line import dump_line
from cam.store.layout import StoreLayout
from cam.system.files import read_bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a session was read.

    Attributes:
        session: its id.
        size: bytes of the rollout that were read.
        messages: user messages in them.
    """

    session: str
    size: int
    messages: int = 0


def read_marks(layout: StoreLayout) -> dict[str, Mark]:
    """The newest mark of each session.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    marks = _predecessor_marks(layout)
    data = read_bytes(layout.processed_file) or b""
    for line in data.split(b"\n"):
        try:
            raw = json.loads(line)
            marks[raw["session"]] = Mark(raw["session"], int(raw["size"]), int(raw["messages"]))
        except (ValueError, KeyError, TypeError):
            continue  # a torn line: that session is read once more, which adds nothing twice
    return marks


def mark_line(mark: Mark, at: str) -> str:
    """The line that notes ``mark``."""
    return dump_line({"session": mark.session, "size": mark.size, "messages": mark.messages, "at": at})


def _predecessor_marks(layout: StoreLayout) -> dict[str, Mark]:
    try:
        data = read_bytes(os.path.join(layout.root, "state.json"))
        entries = json.loads(data)["processedRolloutEntries"] if data else []
        return {
            e["sessionId"]: Mark(e["sessionId"], int(e["sizeBytes"]))
            for e in entries
            if e.get("projectId") == layout.project and isinstance(e.get("sessionId"), str)
        }
    except (CamError, ValueError, KeyError, TypeError, AttributeError):
        return {}
