"""Wait for files to change, and for the changes to pause."""

import os
import threading
import time
from collections.abc import Iterator, Sequence


def pauses(folders: Sequence[str], quiet: float, stop: threading.Event) -> Iterator[None]:
    """Yield each time something below the folders changed and then rested, and once at the start.

    Ends when ``stop`` is set. Folders may appear later. Without ``watchfiles`` the folders are looked through
    every ``quiet`` seconds.

    Args:
        folders: to watch, with all below them.
        quiet: seconds without a change that count as rest.
        stop: set from a signal handler or another thread.
    """
    try:
        from watchfiles import watch  # noqa: PLC0415 - a compiled library that one option needs
    except ImportError:
        yield from _pauses_by_looking(folders, quiet, stop)
        return
    while not stop.is_set():
        there = [folder for folder in folders if os.path.isdir(folder)]
        if not there:
            stop.wait(quiet)
            continue
        changed = time.monotonic()  # something may have come before the watch began
        for changes in watch(
            *there, stop_event=stop, rust_timeout=max(50, int(quiet * 500)), yield_on_timeout=True,
            raise_interrupt=False, debounce=400, step=50,
        ):  # fmt: skip
            now = time.monotonic()
            if changes:
                changed = now
            elif changed and now - changed >= quiet:
                changed = 0.0
                yield
            if len(there) < sum(map(os.path.isdir, folders)):
                break


def _pauses_by_looking(folders: Sequence[str], quiet: float, stop: threading.Event) -> Iterator[None]:
    before, dirty = _state(folders), True  # something may have come before the watch began
    while not stop.wait(quiet):
        now = _state(folders)
        if now != before:
            before, dirty = now, True
        elif dirty:
            dirty = False
            yield


def _state(folders: Sequence[str]) -> frozenset[tuple[str, int, int]]:
    found = set()
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                try:
                    state = os.stat(path)
                except OSError:
                    continue
                found.add((path, state.st_size, state.st_mtime_ns))
    return frozenset(found)
