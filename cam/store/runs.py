"""Folders of wrapped sessions, ``cache/runs/<start>-<random>``: which of them may go."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from cam.core.errors import CamError, StoreUnavailableError
from cam.system.files import explain, list_folder, read_bytes, remove_folder
from cam.system.processes import is_running

OWNER_FILE = "owner.json"
"""In a run's folder: whose run it is."""

RUN_SECONDS = 24 * 3600
"""A run is kept for a day where its wrapper is gone: its session may go on in the background until then."""

_PASSING = "cam-run-"

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


def passing_store(now: float) -> str:
    """A private folder for a run of a store that cannot be written; earlier ones go after a day.

    Args:
        now: seconds since the epoch.

    Raises:
        StoreUnavailableError: nothing can be written there either.
    """
    from tempfile import gettempdir, mkdtemp  # noqa: PLC0415 - a store can be written, as a rule

    try:
        place = gettempdir()
        for name in os.listdir(place):
            folder = os.path.join(place, name)
            if name.startswith(_PASSING) and _is_old_and_own(folder, now):
                with suppress(CamError):
                    remove_folder(folder)
        return mkdtemp(prefix=_PASSING)
    except OSError as error:
        raise StoreUnavailableError(explain(error)) from None


def _is_old_and_own(folder: str, now: float) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_own and status.st_mtime < now - RUN_SECONDS


def _runs(folder: str) -> bool:
    try:
        process = json.loads(read_bytes(os.path.join(folder, OWNER_FILE)) or b"{}").get("process")
    except (CamError, OSError, ValueError, AttributeError):
        return False
    return isinstance(process, int) and process > 0 and is_running(process)
