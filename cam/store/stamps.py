"""What says that a file has changed: size, times and inode."""

import os
from collections.abc import Container, Iterator
from contextlib import contextmanager

from cam.core.problems import Problem
from cam.core.records import is_topic

Stamp = tuple[int, int, int, int]

RACY = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before it was looked at may change again unnoticed."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Size, mtime, ctime (nanoseconds) and inode; one that does not fit into 63 bits is negative."""
    inode = status.st_ino
    inode -= (inode >> 63) << 64
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, inode)


def stat_topics(
    folder: str, known: Container[str] = frozenset(), notes: str = ""
) -> tuple[dict[str, Stamp], list[Problem]]:
    """Topic files of a folder by name, and what in it is none; no folder has none.

    Args:
        folder: which.
        known: names that were looked at before and found good.
        notes: name of a further file that counts, "" for none.
    """
    stamps: dict[str, Stamp] = {}
    problems: list[Problem] = []
    try:
        # Through an open folder: thousands of files are looked at sooner without walking the path to each.
        with _opened(folder) as place, os.scandir(place) as entries:
            for entry in entries:
                name = entry.name
                if name not in known and name != notes:
                    if not name.endswith(".md") or name.startswith(".") or name in _INDEXES:
                        continue
                    if not is_topic(name[:-3]):
                        path, advice = os.path.join(folder, name), "use lower-case words joined by '-'"
                        problems.append(Problem(path, 0, "the file's name is no topic", advice))
                        continue
                stamps[name] = stamp_of(entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        pass
    except OSError as error:
        from cam.system.files import reason_of  # noqa: PLC0415 - searching needs none of it

        problems.append(Problem(folder, 0, reason_of(error)))
    return stamps, problems


_INDEXES = frozenset({"MEMORY.md", "ARCHIVE.md"})


@contextmanager
def _opened(folder: str) -> Iterator[int]:
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield place
    finally:
        os.close(place)
