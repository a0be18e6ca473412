"""Which machine wrote what, in a store that several machines share through git.

Each machine has a name of its own, in the marker inside its ``.git``; its history events carry it. What a
machine wrote before its store was shared carries none: those transactions are listed beside the marker.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from cam.formats.history import Headline, HistoryEvent
from cam.system.files import read_bytes, walk_files, write_atomic

MARKER = ".git/cam-store"
ELSEWHERE = "another machine"
"""What a machine is called whose events carry no name."""

_OWN = ".git/cam-own"
_NAME = re.compile(r"[a-z0-9-]{1,40}")


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that a store stands on.

    Attributes:
        name: "" for a store that is not kept in git: all in it was written here.
        own: transactions of its own that carry no name; None where nobody listed them: all of them are.
    """

    name: str = ""
    own: frozenset[str] | None = None

    def origin(self, event: HistoryEvent | Headline) -> str:
        """Where an event was written: "" for here, else the machine's name."""
        if not self.name or event.machine == self.name:
            return ""
        if event.machine:
            return event.machine
        return "" if self.own is None or not event.transaction or event.transaction in self.own else ELSEWHERE


def machine_name(root: str) -> str:
    """The machine's name in a store that is kept in git, "" in any other.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    text = (read_bytes(os.path.join(root, MARKER)) or b"").decode("ascii", "replace").strip()
    return text if _NAME.fullmatch(text) and text != "1" else ""  # what an earlier cam wrote


def read_machine(root: str) -> Machine:
    """The machine that the store stands on.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    name = machine_name(root)
    if not name:
        return Machine()
    data = read_bytes(os.path.join(root, _OWN))
    return Machine(name, None if data is None else frozenset(data.decode("ascii", "replace").split()))


def with_origins(root: str, events: list[HistoryEvent]) -> list[HistoryEvent]:
    """Events as a person here is told of them: those of other machines carry a name, those of this one none.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    machine = read_machine(root)
    return [replace(event, machine=machine.origin(event)) for event in events] if machine.name else events


def written_here(root: str) -> Callable[[HistoryEvent], bool]:
    """Whether an event was written on this machine: others say nothing of the files that stand here.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    machine = read_machine(root)
    return lambda event: not machine.origin(event)


def name_machine(root: str) -> None:
    """Give the machine a name, and list what it wrote so far, unless it has one. The lock is held.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    if machine_name(root):
        return
    own = sorted(set(_unnamed(root)))
    write_atomic(os.path.join(root, _OWN), "".join(f"{name}\n" for name in own).encode("ascii", "replace"))
    host = re.sub("[^a-z0-9]+", "-", os.uname().nodename.partition(".")[0].lower()).strip("-")[:24]
    name = f"{host or 'machine'}-{os.urandom(2).hex()}"
    write_atomic(os.path.join(root, MARKER), f"{name}\n".encode())


def _unnamed(root: str) -> Iterator[str]:
    """Transactions in every history of the store that carry no machine's name."""
    for path in walk_files(root):
        if os.path.basename(path) != "memory-history.jsonl" or not path.startswith(("global/", "projects/")):
            continue
        for line in (read_bytes(os.path.join(root, path)) or b"").split(b"\n"):
            with suppress(ValueError, KeyError, AttributeError):
                data = json.loads(line)
                if not data.get("machine"):
                    yield str(data["tx"])
