"""Compile the payload from the store, and keep what a session needs of it in a private file."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from cam.core.candidates import Candidate
from cam.core.problems import Problem
from cam.core.records import MemoryState
from cam.core.settings import Settings
from cam.startup.compile import HIGHLIGHT_SHARE, TopicRef, compile_payload
from cam.startup.handoff import ACTIVE_FILE
from cam.startup.result import StartupPayload
from cam.startup.selection import SCOPE_ORDER
from cam.startup.started import OWNER_FILE, owner_data
from cam.startup.use import read_hints
from cam.store.layout import StoreLayout
from cam.store.start_index import StartIndex
from cam.system.clock import now_stamp
from cam.system.files import list_folder, make_folder, remove_file, write_quick

RUN_SECONDS = 24 * 3600
"""A run file is cleared when its session is a day old: it may go on in the background until then."""


def startup_payload(
    layout: StoreLayout,
    settings: Settings,
    continuity: Sequence[str] = (),
    relevant: Callable[[], Sequence[str]] | None = None,
) -> tuple[StartupPayload, tuple[Problem, ...]]:
    """What Codex would be told now, and what could not be read.

    Args:
        layout: of the project's store.
        settings: the budgets.
        continuity: where the last session stopped, the most useful line first.
        relevant: keys of records that fit the prompt, best first; asked for only where not all can be told.

    Raises:
        CamError: the store cannot be read at all.
    """
    index = StartIndex(layout)
    lines, tokens = settings["max_startup_lines"], settings["max_startup_tokens"]
    fits = relevant is None or _fits(index.candidates, lines, tokens)
    payload = compile_payload(
        index.candidates,
        index.notes,
        _topic_refs(layout, index.candidates),
        folder=layout.root,
        now=now_stamp(),
        max_lines=lines,
        max_tokens=tokens,
        continuity=continuity,
        max_continuity_lines=settings["max_session_continuity_lines"],
        hints=read_hints(layout, () if fits or relevant is None else relevant()),
        line_of=index.line,
    )
    index.save()
    return payload, tuple(index.problems)


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
    active = run.pop("active")  # a long list that a resumed session alone needs
    write_quick(os.path.join(folder, ACTIVE_FILE), "\n".join(active).encode())
    write_quick(os.path.join(folder, "run.json"), json.dumps(run, separators=(",", ":")).encode())
    write_quick(os.path.join(folder, OWNER_FILE), owner_data(layout))
    return folder


def run_data(payload: StartupPayload) -> dict[str, Any]:
    """The run file's content, for ``handoff.text_for_session``."""
    return {
        "text": payload.text,
        "entries": {e.key: [e.digest, e.line] for e in payload.entries},
        "active": list(payload.active),
        "continuity": [line for b in payload.blocks if b.name == "continuity" for line in b.lines],
    }


def _fits(candidates: Sequence[Candidate], lines: int, tokens: int) -> bool:
    """Whether all of them can be told whatever their order: they take no more than is kept for them."""
    if len(candidates) > lines * HIGHLIGHT_SHARE - 1:
        return False
    size = sum(len(c.summary.encode("utf-8", "surrogatepass")) + len(c.topic) + 24 for c in candidates)
    return size < tokens * 4 * HIGHLIGHT_SHARE - 64


def _topic_refs(layout: StoreLayout, candidates: Sequence[Candidate]) -> list[TopicRef]:
    counts = Counter((c.scope, c.topic) for c in candidates)
    return [
        TopicRef(
            scope,
            topic,
            os.path.relpath(layout.topic_file(scope, MemoryState.ACTIVE, topic), layout.root),
            counts[scope, topic],
        )
        for scope, topic in sorted(counts, key=lambda key: (SCOPE_ORDER.index(key[0]), key[1]))
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
