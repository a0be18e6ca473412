"""Carry a plan of file changes out, whole or not at all, and remember the way back to what was before.

``<store>/integrations/``: ``installed.json`` holds, for each file that something was put into, which lines of
it came and what those replaced, and a hash of what it was left as, so that the way back is exact (and no
secret that stands in the file is kept a second time); ``pending.json`` has the same while a plan
is being carried out, so that what a crash left half-done is taken back at the next one. Without them all can
still be removed, only a file's exact layout is not known any more.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from cam.core.errors import CamError, StalePlanError, StoreUnavailableError
from cam.setup.integrations.result import FileChange
from cam.setup.integrations.way_back import WayBack, way_back, way_from_data, way_to_data
from cam.system.files import (
    explain,
    make_folder,
    put_in_place,
    read_bytes,
    remove_file,
    stage_file,
    unlink_quietly,
    write_atomic,
)
from cam.system.locking import HeldElsewhereError, hold

LOCK_SECONDS = 10.0
"""How long another installation is waited for."""

_TAG = "cam"  # in the names of files on their way


@dataclass(frozen=True, slots=True)
class Installed:
    """One file that something was put into.

    Attributes:
        back: the way to its bytes before.
        left: hash of what it was left as, "" where it went.
        pieces: what was put in.
        folders: folders that were made for it, the outermost first.
        mode: its permission bits, for the time in which it is written.
    """

    back: WayBack
    left: str
    pieces: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    mode: int = 0o600

    def is_as_left(self, data: bytes | None) -> bool:
        """Whether the file is still as it was left."""
        return data is not None and _digest(data) == self.left

    def before(self, data: bytes | None) -> bytes | None:
        """The file's bytes before, None where there was none.

        Args:
            data: the file as it was left.
        """
        return self.back.before(data)


def read_manifest(store: str) -> dict[str, Installed]:
    """What was put in, by real path; empty where that is not known."""
    return _load(_file(store, "installed.json"))


def recover(store: str) -> None:
    """Take back what a crash left half-done, before anything is planned.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    if os.path.exists(_file(store, "pending.json")):
        with _locked(store):
            _recover(store)


def commit_changes(changes: Sequence[FileChange], store: str) -> None:
    """Carry out all changes, or none.

    Args:
        changes: in the order in which they are written.
        store: the store's folder.

    Raises:
        StalePlanError: a file changed since the plan was made.
        StoreUnavailableError: the machine refuses; everything is as it was.
    """
    if not changes:
        return
    with _locked(store):
        _recover(store)
        for change in changes:
            if read_bytes(change.target) != change.before:
                raise StalePlanError(f"{change.path} was changed meanwhile; nothing was written; try again")
        manifest = read_manifest(store)
        pending = {
            c.target: Installed(
                way_back(c.before, c.after), _digest(c.after), (), _missing(os.path.dirname(c.target)), c.mode
            )
            for c in changes
        }
        _save(_file(store, "pending.json"), pending)
        try:
            _write(changes, pending)
            _save(_file(store, "installed.json"), _after(manifest, changes, pending))
            remove_file(_file(store, "pending.json"))
        except BaseException:
            _take_back(changes, pending)
            with contextlib.suppress(CamError):
                if manifest:
                    _save(_file(store, "installed.json"), manifest)
                else:
                    remove_file(_file(store, "installed.json"))
                remove_file(_file(store, "pending.json"))
            raise
        for change in changes:
            if change.after is None and change.target in manifest:
                _drop_folders(manifest[change.target].folders)


def forget_installation(store: str) -> None:
    """Take the notes of past installations away, where nothing is installed any more.

    Raises:
        StoreUnavailableError: the machine refuses, or another installation does not end.
    """
    folder = os.path.dirname(_file(store, "lock"))
    if not os.path.isdir(folder):
        return
    with _locked(store):
        if read_manifest(store):
            return
        for name in ("installed.json", "lock"):  # who waits for this lock sees that it is gone
            unlink_quietly(os.path.join(folder, name))
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _write(changes: Sequence[FileChange], pending: Mapping[str, Installed]) -> None:
    """Stage every file beside its place, then put all in place."""
    staged: dict[str, str] = {}
    try:
        for change in changes:
            for folder in pending[change.target].folders:
                _make(folder)
            if change.after is not None:
                staged[change.target] = stage_file(change.target, change.after, _TAG)
                with _machine(change.path):
                    os.chmod(staged[change.target], change.mode)
        for change in changes:
            if change.after is None:
                remove_file(change.target)
            else:
                put_in_place(staged.pop(change.target), change.target)
    finally:
        for temporary in staged.values():
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _take_back(changes: Sequence[FileChange], pending: Mapping[str, Installed]) -> None:
    """Every file as it was before; what is not as we would have left it was never written, or is not ours."""
    for change in reversed(changes):
        _restore(change.target, pending[change.target], change.mode)


def _recover(store: str) -> None:
    """Take back what a crash left half-done."""
    path = _file(store, "pending.json")
    for target, was in reversed(_load(path).items()):
        unlink_quietly(os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{_TAG}.tmp"))
        _restore(target, was, was.mode)
    remove_file(path)


def _restore(target: str, was: Installed, mode: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(target).st_mode & 0o777
    now = read_bytes(target)
    if _digest(now) == was.left:
        before = was.before(now)
        if before is None:
            remove_file(target)
        else:
            temporary = stage_file(target, before, _TAG)
            os.chmod(temporary, mode)
            put_in_place(temporary, target)
    _drop_folders(was.folders)


def _after(
    manifest: Mapping[str, Installed], changes: Sequence[FileChange], pending: Mapping[str, Installed]
) -> dict[str, Installed]:
    after = dict(manifest)
    made: set[str] = set()
    for change in changes:
        known = after.pop(change.target, None)
        folders = known.folders if known is not None else pending[change.target].folders
        if change.after is None or not change.pieces:
            made |= set(folders)
            continue
        after[change.target] = Installed(
            way_back(change.base, change.after), _digest(change.after), change.pieces, folders
        )
    for target, entry in after.items():  # who is left in a folder that was made inherits it
        mine = {folder for folder in made if target.startswith(f"{folder}{os.sep}")} | set(entry.folders)
        after[target] = replace(entry, folders=tuple(sorted(mine)))
    return after


def _missing(folder: str) -> tuple[str, ...]:
    """Folders that are to be made so that ``folder`` is there, the outermost first."""
    missing: list[str] = []
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return tuple(missing)


def _make(folder: str) -> None:
    with _machine(folder), contextlib.suppress(FileExistsError):
        os.mkdir(folder)


def _drop_folders(folders: Sequence[str]) -> None:
    """Folders that were made and hold nothing go again."""
    for folder in reversed(folders):
        try:
            os.rmdir(folder)
        except OSError:
            return


@contextlib.contextmanager
def _locked(store: str) -> Iterator[None]:
    """One installation at a time."""
    make_folder(os.path.dirname(_file(store, "lock")))
    try:
        with hold(_file(store, "lock"), LOCK_SECONDS):
            yield
    except HeldElsewhereError:
        raise StoreUnavailableError(
            f"another cam installs or removes; it did not finish in {LOCK_SECONDS:g} s, try again"
        ) from None


@contextlib.contextmanager
def _machine(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailableError(explain(error, path)) from error


def _file(store: str, name: str) -> str:
    return os.path.join(store, "integrations", name)


def _load(path: str) -> dict[str, Installed]:
    try:
        raw: Any = json.loads(read_bytes(path) or b"{}")
        return {
            target: Installed(
                way_from_data(e["back"]), str(e["left"]),
                tuple(map(str, e["pieces"])), tuple(map(str, e["folders"])), int(e.get("mode", 0o600)),
            )
            for target, e in raw.items()
        }  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _save(path: str, entries: Mapping[str, Installed]) -> None:
    raw = {
        target: {
            "back": way_to_data(e.back), "left": e.left, "pieces": list(e.pieces),
            "folders": list(e.folders), "mode": e.mode,
        }
        for target, e in entries.items()
    }  # fmt: skip
    write_atomic(path, json.dumps(raw, indent=1).encode())


def _digest(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hexdigest()
