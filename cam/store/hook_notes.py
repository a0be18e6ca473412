"""What the installed hooks leave behind: when each event fired, what is still to be learned, a short log.

``cache/hooks/``: ``fired.json`` and ``fired.lock``, ``wanted/<project>~<worktree>~<session>.json``,
``hooks.log``, ``work.lock``, ``ready.lock``. All of it is disposable and none of it grows: one entry per
project and event, one file per session that waits, a log that is cut. Light: hooks use it.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from cam.core.errors import CamError
from cam.system.files import list_folder, make_folder, read_bytes, safe_name, unlink_quietly, write_quick
from cam.system.locking import HeldElsewhereError, hold

LOG_BYTES = 64_000
"""The log is cut to its younger half where it is longer."""

_SAME_START = 5.0
_GOES_ON = ("-resume", "-fork")  # may come again soon, and what the ledger holds is not told twice
_PROJECTS = 200
_TAKEN = ".taken"
_AGAIN_SECONDS = 24 * 3600
_HELD_SECONDS = 0.5  # a hook waits no longer for another one's note


def note_fired(cache: str, project: str, event: str, session: str) -> None:
    """Keep that ``event`` fired in the project now.

    Args:
        cache: the store's cache folder.
        project: its id, "" outside any.
        event: as on the command line, such as ``session-start``.
        session: its id.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    folder = os.path.join(cache, "hooks")
    path = os.path.join(folder, "fired.json")
    make_folder(folder)
    with suppress(HeldElsewhereError), hold(os.path.join(folder, "fired.lock"), _HELD_SECONDS):
        known = _read(path)
        events = dict(known.pop(project, {}))
        events[event] = {"at": int(time.time()), "session": session}
        known[project] = events  # last: the one that was left alone the longest goes first
        _write(path, dict(list(known.items())[-_PROJECTS:]))


def is_first(cache: str, session: str, source: str) -> bool:
    """Whether this process is the first that answers this start of the session.

    Hooks that are installed for the user and in the project are called at the same moment; one speaks.

    Args:
        cache: the store's cache folder.
        session: its id.
        source: why it starts.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    folder = os.path.join(cache, "hooks", "starts")
    make_folder(folder)
    now = time.time()
    for name in list_folder(folder):
        path = os.path.join(folder, name)
        try:
            is_old = now - os.stat(path).st_mtime > (1.0 if name.endswith(_GOES_ON) else _SAME_START)
        except OSError:
            continue
        if is_old:
            unlink_quietly(path)
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        os.close(os.open(os.path.join(folder, f"{safe_name(session)}-{safe_name(source)}"), flags, 0o600))
    except FileExistsError:
        return False
    return True


def fired(cache: str, project: str) -> dict[str, int]:
    """When each event fired last in the project, seconds since the epoch."""
    found = _read(os.path.join(cache, "hooks", "fired.json")).get(project, {})
    return {
        event: note["at"]
        for event, note in (found.items() if isinstance(found, dict) else ())
        if isinstance(note, dict) and isinstance(note.get("at"), int)
    }


def want(cache: str, project: str, worktree: str, cwd: str, event: str, session: str, at: float) -> None:
    """Keep that something happened from which is to be learned.

    Args:
        cache: the store's cache folder.
        project: its id.
        worktree: the id of the worktree, whose notes are its own.
        cwd: the folder it happened in.
        event: what happened.
        session: its id.
        at: when, seconds since the epoch.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    path = os.path.join(cache, "hooks", "wanted", f"{project}~{worktree}~{safe_name(session)}.json")
    make_folder(os.path.dirname(path))
    _write(path, {"place": f"{project}~{worktree}", "cwd": cwd, "session": session, "event": event, "at": at})


class Wanted(NamedTuple):
    """What is to be learned in one worktree.

    Attributes:
        cwd: a folder of it.
        sessions: the last event of each session, and when it happened, seconds since the epoch.
        files: where that is kept until it is forgotten.
    """

    cwd: str
    sessions: dict[str, tuple[str, float]]
    files: tuple[str, ...]


def take_wanted(cache: str, *, again: bool = True) -> list[Wanted]:
    """What is to be learned, by worktree; it is kept aside until ``forget_wanted``.

    Only who is ``one_at_a_time`` may take. A wish that comes meanwhile stands beside what was taken.

    Args:
        cache: the store's cache folder.
        again: with what was taken within a day and never forgotten: its learning failed or was ended.
    """
    folder = os.path.join(cache, "hooks", "wanted")
    names = [name for name in list_folder(folder) if name.endswith(_TAKEN)] if again else []
    for name in wanted(cache):
        try:
            os.replace(os.path.join(folder, name), os.path.join(folder, name + _TAKEN))
        except OSError:
            continue
        names.append(name + _TAKEN)
    found: dict[str, Wanted] = {}
    oldest = time.time() - _AGAIN_SECONDS
    for name in dict.fromkeys(names):
        path = os.path.join(folder, name)
        wish = _read(path)
        cwd, session, event, at = (wish.get(key) for key in ("cwd", "session", "event", "at"))
        if not (isinstance(cwd, str) and isinstance(at, int | float) and at > oldest):
            unlink_quietly(path)  # of an older cam, or given up
            continue
        place = str(wish.get("place"))
        known = found.get(place, Wanted(cwd, {}, ()))
        sessions = {**known.sessions, str(session): (str(event), float(at))}
        found[place] = Wanted(cwd, sessions, (*known.files, path))
    return list(found.values())


def forget_wanted(one: Wanted) -> None:
    """It was learned."""
    for path in one.files:
        unlink_quietly(path)


def wanted(cache: str) -> list[str]:
    """Names of what waits to be learned."""
    folder = os.path.join(cache, "hooks", "wanted")
    return [name for name in list_folder(folder) if name.endswith(".json")]


@contextmanager
def one_at_a_time(cache: str, work: str = "work") -> Iterator[bool]:
    """Whether this process is the one that does the work now; the lock ends with the process at the latest.

    Args:
        cache: the store's cache folder.
        work: what is done: learning, unless it says otherwise.
    """
    from cam.system.locking import HeldElsewhereError, hold  # noqa: PLC0415 - only in the background

    make_folder(os.path.join(cache, "hooks"))
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(os.path.join(cache, "hooks", f"{work}.lock"), 0))
            is_ours = True
        except HeldElsewhereError:
            is_ours = False
        yield is_ours


def log_line(cache: str, line: str) -> None:
    """Add a line to the log; what is old goes where it would grow too long. Never an error."""
    path = os.path.join(cache, "hooks", "hooks.log")
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        make_folder(os.path.dirname(path))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{stamp} {' '.join(line.split())[:1000]}\n".encode("utf-8", "replace"))
            is_long = os.fstat(descriptor).st_size > LOG_BYTES
        finally:
            os.close(descriptor)
        if is_long:
            kept = (read_bytes(path) or b"")[-LOG_BYTES // 2 :]
            write_quick(path, kept[kept.find(b"\n") + 1 :])
    except (OSError, CamError):
        return


def _read(path: str) -> dict[str, Any]:
    try:
        found = json.loads(read_bytes(path) or b"{}")
    except (CamError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: str, content: dict[str, Any]) -> None:
    write_quick(path, json.dumps(content, separators=(",", ":")).encode())
