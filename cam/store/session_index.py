"""What is known of the session files: header and folders of each, so that an unchanged file costs a stat.

Derived and disposable: ``cache/sessions.json``. A file counts as unchanged while path, size, mtime and inode
are the same. The folders in which a session's turns ran are known once it was read, and stay known when it
grows; they find the session for a project that it moved into.
"""

import json
import os
from dataclasses import fields
from typing import Any

from cam.core.errors import CamError
from cam.core.evidence import Generation, Message, RolloutEvidence, RolloutMeta
from cam.formats.rollout import Checkpoint
from cam.system.files import make_folder, read_bytes, write_quick
from cam.system.rollout_files import RolloutFile

_VERSION = 1
_NAMES = tuple(field.name for field in fields(RolloutMeta) if field.name not in ("path", "folders"))
_PLACE = tuple(field.name for field in fields(Checkpoint))
_MOST_FOLDERS = 64


class SessionIndex:
    """The index of one Codex home, read when it is first asked and written when it is told to.

    Args:
        path: its file; None to keep nothing beyond this process.
        home: the Codex home; another one makes what the file holds worthless.
    """

    def __init__(self, path: str | None, home: str) -> None:
        self._path = path
        self._home = os.path.realpath(home)
        self._entries: dict[str, list[Any]] = {}
        self._folders: dict[str, list[str]] = {}
        self._read: dict[str, list[int]] = {}
        self._places: dict[str, list[Any]] = {}
        self._changed = False
        if path is not None:
            self._load(path)

    def get(self, file: RolloutFile) -> RolloutMeta | None:
        """The header of a file that is as it was; None where it must be read."""
        entry = self._entries.get(file.path)
        if entry is None or entry[:3] != [file.size, file.changed, file.inode]:
            return None
        values = dict(zip(_NAMES, entry[3], strict=True))
        values["generation"] = Generation(values["generation"])
        folders = tuple(self._folders.get(values["session"], ()))
        return RolloutMeta(path=file.path, folders=folders, **values)

    def size_before(self, file: RolloutFile) -> int | None:
        """Bytes that a file had when it was listed last, if it is the same file and has grown since."""
        entry = self._entries.get(file.path)
        if entry is None or entry[2] != file.inode or not entry[0] < file.size:
            return None
        return int(entry[0])

    def put(self, file: RolloutFile, meta: RolloutMeta) -> RolloutMeta:
        """Note a header; returns it with what is known of the session's folders."""
        self._entries[file.path] = [
            file.size, file.changed, file.inode, [getattr(meta, name) for name in _NAMES],
        ]  # fmt: skip
        self._changed = True
        return self.with_folders(meta)

    def with_folders(self, meta: RolloutMeta) -> RolloutMeta:
        """The header with the folders that are known of its session."""
        folders = self._folders.get(meta.session)
        if not folders:
            return meta
        values = {field.name: getattr(meta, field.name) for field in fields(meta)}
        return RolloutMeta(**(values | {"folders": tuple(folders)}))

    def note_evidence(self, evidence: RolloutEvidence) -> None:
        """Note what a reading showed, and keep it."""
        said = (item for item in evidence.items if isinstance(item, Message))
        self.note_folders(evidence.meta, {item.cwd for item in said if item.cwd is not None})
        self.save()

    def note_folders(self, meta: RolloutMeta, folders: set[str]) -> None:
        """Note in which folders a session's turns ran, besides the one it began in."""
        known = self._folders.get(meta.session, [])
        new = sorted(folders - {meta.cwd} - set(known))
        if new:
            self._folders[meta.session] = [*known, *new][:_MOST_FOLDERS]
            self._changed = True

    def note_place(self, meta: RolloutMeta, place: Checkpoint, inode: int, digest: str) -> None:
        """Note where the reading of a session's file can go on, and what stands in front of that place."""
        self._places[meta.session] = [inode, digest, [getattr(place, name) for name in _PLACE]]
        self._changed = True

    def place(self, meta: RolloutMeta) -> tuple[Checkpoint, int, str] | None:
        """What was noted: the place, the file's inode, and the digest of what stands in front."""
        try:
            inode, digest, values = self._places[meta.session]
            return Checkpoint(**dict(zip(_PLACE, values, strict=True))), inode, digest
        except (KeyError, ValueError, TypeError):
            return None

    def note_read(self, meta: RolloutMeta, project: str) -> None:
        """Note that a project found nothing new in the session's file as it is."""
        entry = self._entries.get(meta.path)
        if entry is not None:
            self._read[f"{project} {meta.session}"] = entry[:3]
            self._changed = True
            self.save()

    def is_read(self, meta: RolloutMeta, project: str) -> bool:
        """Whether that was noted of the file as it was listed last."""
        entry = self._entries.get(meta.path)
        return entry is not None and self._read.get(f"{project} {meta.session}") == entry[:3]

    def keep_only(self, paths: set[str]) -> None:
        """Forget files that are gone."""
        gone = self._entries.keys() - paths
        for path in gone:
            del self._entries[path]
        self._changed |= bool(gone)

    def save(self) -> None:
        """Write the index if something changed; a machine that refuses costs time, no more."""
        if not self._changed or self._path is None:
            return
        data = {
            "version": _VERSION,
            "home": self._home,
            "files": self._entries,
            "folders": self._folders,
            "read": self._read,
            "places": self._places,
        }
        try:
            make_folder(os.path.dirname(self._path))
            write_quick(self._path, json.dumps(data, separators=(",", ":")).encode())
        except CamError:
            return
        self._changed = False

    def _load(self, path: str) -> None:
        try:
            data = json.loads(read_bytes(path) or b"{}")
            if data.get("version") != _VERSION or data.get("home") != self._home:
                return
            entries = {
                name: entry
                for name, entry in data["files"].items()
                if len(entry) == 4 and len(entry[3]) == len(_NAMES)
            }
            self._places = dict(data.get("places", {}))
            self._entries, self._folders, self._read = entries, dict(data["folders"]), dict(data["read"])
        except (CamError, ValueError, KeyError, TypeError, AttributeError):
            return  # it is built anew
