"""Folders of wrapped sessions, ``cache/runs/<start>-<random>``: which of them may go."""

import json
import os
from collections.abc import Iterator

from cam.core.errors import CamError
from cam.system.files import list_folder, read_bytes
from cam.system.processes import is_running

OWNER_FILE = "owner.json"
"""In a run's folder: whose run it is."""

RUN_SECONDS = 24 * 3600
"""A run is kept for a day where its wrapper is gone: its session may go on in the background until then."""

_LONGEST = 30 * RUN_SECONDS
"""No run is kept longer: the number of its process was given anew long ago."""


def old_runs(cache: str, now: float) -> Iterator[str]:
    """Folders of runs that are a day old and whose wrapper runs no more.

    Args:
        cache: the store's cache folder.
        now: seconds since the epoch.
    """
    root = os.path.join(cache, "runs")
    for name in list_folder(root):
        started, folder = name.partition("-")[0], os.path.join(root, name)
        if not started.isdigit() or int(started) >= now - RUN_SECONDS:
            continue
        if int(started) < now - _LONGEST or not _runs(folder):
            yield folder


def _runs(folder: str) -> bool:
    try:
        process = json.loads(read_bytes(os.path.join(folder, OWNER_FILE)) or b"{}").get("process")
    except (CamError, OSError, ValueError, AttributeError):
        return False
    return isinstance(process, int) and process > 0 and is_running(process)
