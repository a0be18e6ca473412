"""The store of the TypeScript cam 0.1.1: known by its files, kept before the first write, given back.

``backup-ts-<date>/`` in the store's root holds a copy of every file that stood there before this cam wrote
for the first time.
"""

import os
import re
from dataclasses import dataclass

from cam.core.errors import NotFoundError
from cam.system.clock import compact, now_stamp
from cam.system.files import list_folder, move_folder, read_bytes, remove_folder, walk_files, write_atomic

_PREFIX = "backup-ts-"
_NOT_COPIED = re.compile(r"\.lock.*|cache|journal|backup.*|replaced-.*|\..*\.tmp")
_MARKER = b"<!-- cam:entry "


@dataclass(frozen=True, slots=True)
class Restored:
    """What ``restore-ts`` did.

    Attributes:
        backup: the copy that was put back.
        aside: where the state that stood there before is now, "" if there was none.
        files: how many files came back.
    """

    backup: str
    aside: str
    files: int


def is_predecessors(root: str) -> bool:
    """Whether the predecessor wrote the store, whatever this cam added since."""
    if read_bytes(os.path.join(root, "state.json")) is not None:
        return True
    for folder in ("global", "projects"):
        for path in walk_files(os.path.join(root, folder)):
            full = os.path.join(root, folder, path)
            if path.endswith(".md") and _is_file(full) and _MARKER in (read_bytes(full) or b""):
                return True
    return False


def keep_predecessor(root: str) -> str:
    """Keep a copy of the predecessor's files before the first write; the lock is held.

    Costs one look for a folder once this cam has written.

    Returns:
        The copy's folder, "" where none was made.

    Raises:
        StoreUnavailableError: the machine refuses; then nothing may be written either.
    """
    if os.path.isdir(os.path.join(root, "journal")) or backups(root) or not is_predecessors(root):
        return ""
    stamp = compact(now_stamp())
    staged = os.path.join(root, f".{_PREFIX}{stamp}.tmp")
    for path in _own_files(root):
        write_atomic(os.path.join(staged, path), read_bytes(os.path.join(root, path)) or b"")
    place = os.path.join(root, f"{_PREFIX}{stamp}")
    move_folder(staged, place)
    os.chmod(root, 0o700)
    return place


def backups(root: str) -> list[str]:
    """Folders with a copy of the predecessor's files, oldest first."""
    return [os.path.join(root, name) for name in list_folder(root) if name.startswith(_PREFIX)]


def restore_predecessor(root: str) -> Restored:
    """Put the oldest copy back, after what stands there now was moved aside; the lock is held.

    Raises:
        NotFoundError: there is no copy.
        StoreUnavailableError: the machine refuses; nothing is lost, a repeat goes on.
    """
    found = backups(root)
    if not found:
        raise NotFoundError(
            f"there is no {_PREFIX}… in {root}: this cam never wrote into a store of the predecessor here"
        )
    staged = os.path.join(root, ".restore.tmp")
    remove_folder(staged)
    paths = list(walk_files(found[0]))
    for path in paths:
        write_atomic(os.path.join(staged, path), read_bytes(os.path.join(found[0], path)) or b"")
    aside = _free(os.path.join(root, f"replaced-{compact(now_stamp())}"))
    present = [n for n in list_folder(root) if not _NOT_COPIED.fullmatch(n)]
    for name in present:
        move_folder(os.path.join(root, name), os.path.join(aside, name))
    remove_folder(os.path.join(root, "cache", "shadow"))  # says what this cam wrote last, which is aside now
    for name in list_folder(staged):
        move_folder(os.path.join(staged, name), os.path.join(root, name))
    os.rmdir(staged)
    return Restored(found[0], aside if present else "", len(paths))


def _own_files(root: str) -> list[str]:
    paths = (path for path in walk_files(root) if not _NOT_COPIED.fullmatch(path.split("/", 1)[0]))
    return [path for path in paths if _is_file(os.path.join(root, path))]


def _is_file(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _free(path: str) -> str:
    name, n = path, 1
    while os.path.lexists(name):
        n += 1
        name = f"{path}-{n}"
    return name
