"""A start that was compiled beforehand: what a session in a folder is to be told, as long as nothing changed.

Whoever learns in the background compiles the next start too, and so does what a command that changed memory
leaves behind, so that the hook that Codex waits for reads one file. It is never trusted: it counts only while
every file that it was made from has the stamp it had, the variables are the same, no write is half-done, and
its time is not up. After an edit by hand its recipe still holds: all that it was made of but records. Light:
``json`` and ``os`` alone.
"""

import json
import os
import stat
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from cam.core.errors import CamError
from cam.system.files import list_folder, make_folder, read_bytes, unlink_quietly, write_quick

SECONDS = 6 * 3600
"""So long a start counts at most: what is recent changes with time."""

Stamps = list[tuple[str, list[int]]]
"""Paths, each with what ``_stamp`` says."""

_MOST = 60  # folders
_RACY = 50_000_000  # nanoseconds: a file as young as that may change without another stamp


def read_ready(cwd: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """What was compiled for ``cwd``, and of what.

    Returns:
        The start, None where there is none or something changed; and its recipe, None where something else
        than records changed: who has the recipe alone compiles anew, but need not look for project, settings
        and where the last session stopped.
    """
    try:
        known = json.loads(read_bytes(_file(cwd)) or b"{}")
        if known.get("variables") != _variables() or known["cwd"] != cwd or time.time() > known["until"]:
            return None, None
        if not _are_as(known["stamps"]) or list_folder(known["journal"]):
            return None, None
        return dict(known["start"]) if _are_as(known["records"]) else None, dict(known["recipe"])
    except (CamError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, None


def stale_folders(most: int) -> list[str]:
    """Folders whose start stood ready for this environment until something changed, the latest used first.

    Args:
        most: how many at most.
    """
    folder, found = _folder(), []
    with suppress(CamError):
        for name in list_folder(folder):
            if not name.endswith(".json"):
                continue
            path = os.path.join(folder, name)
            try:
                known = json.loads(read_bytes(path) or b"{}")
                is_stale = known["variables"] == _variables() and read_ready(known["cwd"])[0] is None
                if is_stale:
                    found.append((os.stat(path).st_mtime_ns, str(known["cwd"])))
            except (CamError, OSError, ValueError, KeyError, TypeError):
                continue
    return [cwd for _, cwd in sorted(found, reverse=True)[:most]]


def stands_ready() -> bool:
    """Whether any start stands ready or did: hooks without the wrapper are in use."""
    return os.path.isdir(_folder())


def forget_ready(cwd: str) -> None:
    """Keep nothing ready for ``cwd`` any more."""
    unlink_quietly(_file(cwd))
    unlink_quietly(f"{_file(cwd)}.active")


def read_active(cwd: str) -> list[str]:
    """Keys of all records that hold, as they were when the start for ``cwd`` was compiled."""
    return (read_bytes(f"{_file(cwd)}.active") or b"").decode("utf-8", "surrogateescape").split("\n")


def stamps_of(paths: Iterable[str]) -> Stamps:
    """Paths with their stamps; to be taken before anything is read.

    A file that was written a moment ago may change again without another stamp: that moment is waited for.
    """
    stamps = [(path, _stamp(path)) for path in dict.fromkeys(paths)]
    age = time.time_ns() - _youngest(stamps)
    if 0 <= age < _RACY:
        time.sleep((_RACY - age) / 1e9)
        stamps = [(path, _stamp(path)) for path, _ in stamps]
    return stamps


def write_ready(
    cwd: str,
    start: dict[str, Any],
    recipe: dict[str, Any],
    active: Iterable[str],
    stamps: Stamps,
    records: Stamps,
    journal: str,
    until: float,
) -> None:
    """Keep a start for ``cwd``.

    Args:
        cwd: the folder, as Codex names it.
        start: plain data.
        recipe: plain data: what else than records it was made of.
        active: keys of all records that hold.
        stamps: of every file the recipe was made from, those included that were not there.
        records: of every file and folder that holds records and notes.
        journal: the folder of writes on their way.
        until: when it stops to count, seconds since the epoch.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    if _youngest([*stamps, *records]) > time.time_ns() - _RACY:
        return
    path = _file(cwd)
    make_folder(os.path.dirname(path))
    write_quick(f"{path}.active", "\n".join(active).encode("utf-8", "surrogateescape"))
    content = {"cwd": cwd, "variables": _variables(), "until": until, "stamps": stamps, "records": records,
               "journal": journal, "start": start, "recipe": recipe}  # fmt: skip
    write_quick(path, json.dumps(content, separators=(",", ":")).encode())
    names = [n for n in list_folder(os.path.dirname(path)) if n.endswith(".json")]
    for name in names[:-_MOST] if len(names) > _MOST else ():
        unlink_quietly(os.path.join(os.path.dirname(path), name))
        unlink_quietly(os.path.join(os.path.dirname(path), f"{name}.active"))


def ready_root() -> str:
    """The store whose starts are looked for: the one that needs no settings file to be found."""
    given = os.environ.get("CAM_HOME") or "~/.codex-auto-memory"
    return os.path.normpath(os.path.expanduser(given))


def _are_as(stamps: Stamps) -> bool:
    return all(_stamp(path) == stamp for path, stamp in stamps)


def _file(cwd: str) -> str:
    name = f"{zlib.crc32(os.fsencode(cwd)):08x}.json"
    return os.path.join(_folder(), name)


def _folder() -> str:
    return os.path.join(ready_root(), "cache", "hooks", "ready")


def _youngest(stamps: Stamps) -> int:
    return max((stamp[1] for _, stamp in stamps if stamp), default=0)


def _variables() -> dict[str, str]:
    names = ("HOME", "XDG_CONFIG_HOME", "CODEX_HOME")
    return {k: v for k, v in sorted(os.environ.items()) if k in names or k.startswith("CAM_")}


def _stamp(path: str) -> list[int]:
    """Size, change times in nanoseconds and inode; empty where there is nothing.

    Of a ``.git`` folder, in which git writes all the time, only which folder it is.
    """
    try:
        found = os.stat(path)
    except OSError:
        return []
    if path.endswith("/.git") and stat.S_ISDIR(found.st_mode):
        return [0, 0, 0, found.st_ino]
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
