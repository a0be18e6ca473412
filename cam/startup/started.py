"""Which sessions were started under which run: hooks note them in the run's folder."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cam.store.layout import StoreLayout
from cam.store.runs import OWNER_FILE
from cam.system.files import list_folder, read_bytes
from cam.system.processes import is_running

_MOST_RUNS = 50
"""Runs that are looked through for a session whose wrapper was killed."""


@dataclass(frozen=True, slots=True)
class StartedSession:
    """A session that a hook noted.

    Attributes:
        session: its id.
        transcript: its rollout; None where Codex names none.
        runs: whether its wrapper, another than this process, is still there.
    """

    session: str
    transcript: str | None
    runs: bool


def owner_data(layout: StoreLayout) -> bytes:
    """Says that this process started a run in this worktree."""
    return json.dumps({"process": os.getpid(), "place": _place(layout)}).encode()


def started_here(layout: StoreLayout) -> Iterator[StartedSession]:
    """Sessions that a wrapper started in this worktree within the last day, the newest run first.

    Args:
        layout: whose worktree.
    """
    root = layout.cache_file("runs")
    for name in sorted(list_folder(root), reverse=True)[:_MOST_RUNS]:
        folder = os.path.join(root, name)
        owner = _read(os.path.join(folder, OWNER_FILE))
        process = owner.get("process")
        if owner.get("place") == _place(layout) and isinstance(process, int):
            runs = process != os.getpid() and is_running(process)
            for note in sessions_of_run(folder):
                yield StartedSession(str(note["session"]), note.get("transcript"), runs)


def sessions_of_run(folder: str) -> list[dict[str, Any]]:
    """What the hook noted: the sessions that were started under this run, in order of their first start.

    Each: ``session``, ``source``, ``transcript`` (path or None), ``text`` (what it was told).
    """
    found = []
    for name in list_folder(folder):
        if name.startswith("session-") and name.endswith(".json"):
            note = _read(os.path.join(folder, name))
            found += [note] if note else []
    return sorted(found, key=lambda s: str(s.get("at", "")))


def _place(layout: StoreLayout) -> list[str | None]:
    return [layout.project, layout.worktree]


def _read(path: str) -> dict[str, Any]:
    """A note; {} where there is none, or where its writer was killed while writing."""
    try:
        return dict(json.loads(read_bytes(path) or b"{}"))
    except ValueError:
        return {}
