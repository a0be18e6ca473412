"""What attaching left, so that it can be taken back: ``attached.json`` beside the copies from before."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from cam.core.errors import CamError
from cam.formats.file_step import digest
from cam.system.files import read_bytes, write_atomic

_NAME = "attached.json"


@dataclass(frozen=True, slots=True)
class AttachedCopy:
    """One attachment, and what stood before it.

    Attributes:
        transaction: as the history names it.
        old: id of the project, or of the worktree, whose memory was taken.
        new: id of the project that got it.
        is_whole: whether ``old`` is a project.
        left: size and digest of each file of ``new`` afterwards, by path relative to its folder.
        notes: a person's own text that an index of ``new`` got, likewise.
    """

    transaction: str
    old: str
    new: str
    is_whole: bool
    left: Mapping[str, tuple[int, str]]
    notes: Mapping[str, str] = field(default_factory=dict)

    def folder(self, root: str) -> str:
        """Where both stand as they were before."""
        return copy_folder(root, self.transaction)

    def is_as_left(self, path: str, data: bytes | None) -> bool:
        """Whether a file of ``new`` is as the attachment left it; the same for one that it did not leave."""
        known = self.left.get(path)
        return (known is None) == (data is None) and (known is None or known[1] == digest(data))

    def since(self, path: str, data: bytes) -> bytes | None:
        """What was appended to a log since; None where that cannot be told."""
        size, known = self.left.get(path, (0, digest(b"")))
        return data[size:] if digest(data[:size]) == known else None


TAKEN_ALONG = "taken along from "
"""How the reason of an event begins that attaching wrote."""


def copy_folder(root: str, transaction: str) -> str:
    """The folder for what stood before a transaction that attaches."""
    return os.path.join(root, "backup", transaction)


def note_attached(
    root: str,
    transaction: str,
    old: str,
    new: str,
    files: Mapping[str, bytes],
    notes: Mapping[str, str],
    *,
    is_whole: bool,
) -> None:
    """Keep what an attachment leaves.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    left = {path: (len(data), str(digest(data))) for path, data in files.items()}
    data = asdict(AttachedCopy(transaction, old, new, is_whole, left, notes))
    write_atomic(os.path.join(copy_folder(root, transaction), _NAME), json.dumps(data).encode())


def attached_by(root: str, transaction: str) -> AttachedCopy | None:
    """The attachment that a transaction made; None where it made none, or its copies were cleared away."""
    try:
        data = read_bytes(os.path.join(copy_folder(root, transaction), _NAME))
        raw = json.loads(data) if data else None
        return None if raw is None else AttachedCopy(**raw)
    except (CamError, ValueError, TypeError):
        return None
