"""Compile the payload from the store, and keep what a session needs of it in a private file."""

import json
import os
import time
from collections.abc import Sequence
from typing import Any

from cam.core.errors import CamError
from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.core.settings import Settings
from cam.startup.compile import TopicRef, compile_payload
from cam.startup.result import StartupPayload
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.system.clock import now_stamp
from cam.system.files import list_folder, make_folder, read_bytes, remove_file, write_quick

RUN_SECONDS = 24 * 3600
"""A run file is cleared when its session is a day old: it may go on in the background until then."""


def startup_payload(
    store: MarkdownStore, settings: Settings, continuity: Sequence[str] = ()
) -> tuple[StartupPayload, tuple[Problem, ...]]:
    """What Codex would be told now, and what could not be read.

    Args:
        store: of the project.
        settings: the budgets.
        continuity: where the last session stopped, the most useful line first.

    Raises:
        CamError: the store cannot be read at all.
    """
    snapshot = store.snapshot()
    problems = list(snapshot.problems)
    notes: dict[MemoryScope, str] = {}
    for scope in store.layout.scopes:
        try:
            notes[scope] = store.person_notes(scope)
        except CamError as error:
            problems.append(Problem(store.layout.index_file(scope), 0, str(error)))
    payload = compile_payload(
        snapshot.records,
        notes,
        _topic_refs(store.layout, snapshot.records),
        folder=store.layout.root,
        now=now_stamp(),
        max_lines=settings["max_startup_lines"],
        max_tokens=settings["max_startup_tokens"],
        continuity=continuity,
        max_continuity_lines=settings["max_session_continuity_lines"],
    )
    return payload, tuple(problems)


def write_run(
    layout: StoreLayout,
    payload: StartupPayload,
    parent: str | None = None,
    budget: tuple[int, int] | None = None,
) -> str:
    """Write the run file and clear old ones; return the run's folder.

    Args:
        layout: whose cache holds the folder.
        payload: what may be told.
        parent: the session that a fork on the command line starts from, where it is named.
        budget: lines and tokens of the payload, where what a compaction loses is to come back; else None.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    _clear_old_runs(layout)
    folder = layout.cache_file("runs", f"{int(time.time())}-{os.urandom(4).hex()}")
    make_folder(folder)
    run = run_data(payload) | {"parent": parent, "budget": budget}
    write_quick(os.path.join(folder, "run.json"), json.dumps(run, separators=(",", ":")).encode())
    return folder


def run_data(payload: StartupPayload) -> dict[str, Any]:
    """The run file's content, for ``handoff.text_for_session``."""
    return {
        "text": payload.text,
        "entries": {e.key: [e.digest, e.line] for e in payload.entries},
        "active": list(payload.active),
        "continuity": [line for b in payload.blocks if b.name == "continuity" for line in b.lines],
    }


def sessions_of_run(folder: str) -> list[dict[str, Any]]:
    """What the hook noted: the sessions that were started under this run, in order of their first start.

    Each: ``session``, ``source``, ``transcript`` (path or None), ``text`` (what it was told).
    """
    found = []
    for name in list_folder(folder):
        if name.startswith("session-") and name.endswith(".json"):
            try:
                found.append(dict(json.loads(read_bytes(os.path.join(folder, name)) or b"")))
            except ValueError:
                continue  # a hook that was killed while writing
    return sorted(found, key=lambda s: str(s.get("at", "")))


def _topic_refs(layout: StoreLayout, records: Sequence[MemoryRecord]) -> list[TopicRef]:
    counts: dict[tuple[MemoryScope, str], int] = {}
    for record in records:
        if record.state is MemoryState.ACTIVE:
            counts[record.scope, record.topic] = counts.get((record.scope, record.topic), 0) + 1
    order = (MemoryScope.PROJECT_LOCAL, MemoryScope.PROJECT, MemoryScope.GLOBAL)
    return [
        TopicRef(
            scope,
            topic,
            os.path.relpath(layout.topic_file(scope, MemoryState.ACTIVE, topic), layout.root),
            counts[scope, topic],
        )
        for scope, topic in sorted(counts, key=lambda key: (order.index(key[0]), key[1]))
    ]


def _clear_old_runs(layout: StoreLayout) -> None:
    root = layout.cache_file("runs")
    for name in list_folder(root):
        started = name.partition("-")[0]
        if started.isdigit() and int(started) < time.time() - RUN_SECONDS:
            folder = os.path.join(root, name)
            for file in list_folder(folder):
                remove_file(os.path.join(folder, file))
            os.rmdir(folder)
