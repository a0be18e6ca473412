"""Where the session stopped, noted when Codex has ended: the wrapper's part of continuity."""

import os
import subprocess
import sys

from cam.context import Context
from cam.continuity.flow import latest_since, save_after_session
from cam.continuity.result import Saved
from cam.continuity.start import AUTO, open_continuity
from cam.core.errors import CamError
from cam.store.read_once import ReadOnce

_MOST_BYTES = 200_000_000
"""A session above this that was not read while it ran is read after the prompt is back."""


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
        if (
            latest is not None
            and not sessions.is_ready(latest)
            and os.path.getsize(latest.path) > _MOST_BYTES
        ):
            subprocess.Popen(
                [sys.executable, "-I", "-m", "cam", "--cwd", context.project.root,
                 "session", "save", "--rollout", latest.path, "--json"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            return (), ""
        saved = save_after_session(context.store, sessions, context.project, settings, home, since=started)
    except (CamError, OSError) as error:
        return (), f"where the session stopped was not saved: {error}; the next run tries again"
    return saved, ""
