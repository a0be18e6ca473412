"""Where the session stopped, noted when Codex has ended: the wrapper's part of continuity."""

import contextlib
import os
from collections.abc import Sequence

from cam.context import Context
from cam.continuity.flow import latest_since, save_after_session, save_cut_off
from cam.continuity.result import Saved
from cam.continuity.start import AUTO, open_continuity
from cam.continuity.summarizer import asks_codex
from cam.core.errors import CamError
from cam.core.evidence import RolloutMeta
from cam.core.seams import SessionSource
from cam.startup.started import started_here
from cam.store.read_once import ReadOnce
from cam.system.background import start_cam
from cam.system.files import written_at

_MOST_BYTES = 200_000_000
"""A session above this that was not read while it ran is read after the prompt is back, as is one that a
model is asked about."""


def note_stop(context: Context, sessions: ReadOnce, started: float) -> tuple[tuple[Saved, ...], str]:
    """Save where the session stopped.

    Args:
        context: of the folder the session worked in.
        sessions: where rollouts are; shared with the sync.
        started: when Codex was started, seconds since the epoch.

    Returns:
        What was saved, and one line for the person where it could not be.
    """
    settings, home = context.settings, context.environment.home
    if context.project is None or settings["session_continuity"] != AUTO:
        return (), ""
    try:
        store = open_continuity(context.store, context.project, settings)
        latest = latest_since(store, sessions, home, started)
        is_long = latest is not None and not sessions.is_ready(latest) and _size(latest) > _MOST_BYTES
        if latest is not None and (is_long or asks_codex(settings)):
            words = ["session", "save", "--after-session", "--rollout", latest.path, "--json"]
            start_cam(context.project.root, words)
            store.note_seen(written_at(latest.path))  # the process that saves it is under way
            return (), ""
        saved = _save(context, sessions, started)
    except (CamError, OSError) as error:
        return (), f"where the session stopped was not saved: {error}; the next run tries again"
    return saved, ""


def _size(meta: RolloutMeta) -> int:
    return os.path.getsize(meta.path)


def note_left(context: Context, sessions: SessionSource) -> tuple[tuple[Saved, ...], str]:
    """Save where the newest session stopped that no wrapper saved; as ``note_stop``, with none of its own."""
    if context.project is None or context.off_reason or context.settings["session_continuity"] != AUTO:
        return (), ""
    try:
        return _save(context, sessions, None), ""
    except (CamError, OSError) as error:
        return (), f"where the last session stopped was not saved: {error}; the next run tries again"


def note_cut_off(context: Context, rollouts: Sequence[str]) -> None:
    """Before a session starts: save where one stopped whose wrapper was killed, so that this one is told."""
    store = open_continuity(context.store, context.project, context.settings)
    sessions = context.sessions()
    with contextlib.suppress(CamError, OSError):  # a marker stays, and what comes after this session says so
        save_cut_off(store, sessions, context.environment.home, rollouts)


def _save(context: Context, sessions: SessionSource, started: float | None) -> tuple[Saved, ...]:
    # Somebody waits for this: no model is asked, whatever the extractor.
    running = {s.session for s in started_here(context.layout) if s.runs}
    return save_after_session(
        context.store, sessions, context.project, context.settings, context.environment.home,
        since=started, running=running,
    )  # fmt: skip
