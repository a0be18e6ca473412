"""What each session has been told: one small file per session, in the cache. Light: hooks use it."""

import json
import os
from typing import Any

from cam.core.errors import CamError
from cam.startup.handoff import Ledger
from cam.system.files import make_folder, read_bytes, safe_name, write_quick


def read_ledger(cache: str, session: str | None) -> Ledger | None:
    """What ``session`` was told, None if that is not known.

    Args:
        cache: the store's cache folder.
        session: its id.
    """
    if not session:
        return None
    try:
        data = read_bytes(_ledger_file(cache, session))
        return None if data is None else dict(json.loads(data))
    except (CamError, ValueError):
        return None  # disposable: the session is told everything once more


def write_ledger(cache: str, session: str, ledger: Ledger) -> None:
    """Keep what ``session`` was told.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    path = _ledger_file(cache, session)
    make_folder(os.path.dirname(path))
    write_quick(path, json.dumps(ledger, separators=(",", ":")).encode())


def note_session(run: str, note: dict[str, Any]) -> None:
    """Keep in the run's folder that ``note["session"]`` was started under it.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    name = f"session-{safe_name(str(note['session']))}.json"
    write_quick(os.path.join(run, name), json.dumps(note).encode())


def _ledger_file(cache: str, session: str) -> str:
    return os.path.join(cache, "sessions", f"{safe_name(session)}.json")
