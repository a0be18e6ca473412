"""Processes that work in the home of a test, found by what they were started with (Linux)."""

import os
import select
from pathlib import Path


def processes_with(variable: str, value: str) -> dict[int, bytes]:
    """The command line of each process whose environment has the variable, by pid; NUL between words.

    One that has only just been started shows neither words nor variables for a moment, although whoever
    started it has gone on: that moment is waited for, or it would be missed.
    """
    mark, found = f"\0{variable}={value}\0".encode(), {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            while not (words := (entry / "cmdline").read_bytes()):
                os.readlink(entry / "exe")  # neither the kernel's nor one that has ended
            if mark in b"\0" + (entry / "environ").read_bytes():
                found[int(entry.name)] = words
        except OSError:
            continue
    return found


def has_ended(pid: int, seconds: float = 30.0) -> bool:
    """Whether a process has ended; so long it is waited for."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)
