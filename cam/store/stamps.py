"""What says that a file has changed: size, times and inode."""

import os

from cam.core.problems import Problem
from cam.core.records import is_topic

Stamp = tuple[int, int, int, int]

RACY = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before it was looked at may change again unnoticed."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Size, mtime, ctime (nanoseconds) and inode."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def stat_topics(folder: str) -> tuple[dict[str, Stamp], list[Problem]]:
    """Topic files of a folder by name, and what in it is none; no folder has none."""
    stamps: dict[str, Stamp] = {}
    problems: list[Problem] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if not name.endswith(".md") or name.startswith(".") or name in {"MEMORY.md", "ARCHIVE.md"}:
                    continue
                if not is_topic(name[:-3]):
                    advice = "use lower-case words joined by '-'"
                    problems.append(Problem(entry.path, 0, "the file's name is no topic", advice))
                    continue
                stamps[name] = stamp_of(entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        pass
    except OSError as error:
        problems.append(Problem(folder, 0, str(error.strerror)))
    return stamps, problems
