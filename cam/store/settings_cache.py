"""What settings files say, compiled: to read YAML costs a new process as much as two empty ones.

One JSON file for all settings files of a person, by path; derived and disposable. It is never trusted: a file
counts as known only with the size, times and inode it had when it was read, and one that was written shortly
before is read again. What JSON cannot carry is not kept.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from time import time_ns
from typing import Any

from cam.core.errors import CamError
from cam.core.settings import Layer
from cam.store.stamps import RACY, Stamp, stamp_of
from cam.system.files import make_folder, read_bytes, write_quick

_MOST_FILES = 64
"""Files that are kept; the oldest entry goes first."""

_RULES = "formats/settings_file.py"
"""The module that decides what a file says: entries count only as long as it is the same."""


class SettingsCache:
    """The compiled settings files of one person.

    Args:
        path: of the cache; it need not be there, nor be writable.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._files: dict[str, Any] | None = None

    def layer(self, path: str, stamp: Stamp, name: str) -> Layer | None:
        """What a file says.

        Args:
            path: of the settings file.
            stamp: as it is now.
            name: of the layer.

        Returns:
            None where it must be read.
        """
        entry = self._known().get(path)
        with suppress(ValueError, TypeError):
            known, values, places, warning = entry  # type: ignore[misc]
            if known == [*stamp] and isinstance(values, dict) and isinstance(places, dict):
                return Layer(name, values, places, str(warning))
        return None

    def keep(self, path: str, stamp: Stamp, layer: Layer) -> None:
        """Keep what a file says for later processes; where that cannot be, nothing happens.

        Args:
            path: of the settings file.
            stamp: from before it was read.
            layer: what it says.
        """
        if max(stamp[1], stamp[2]) >= time_ns() - RACY:
            return  # it may change again and look the same
        entry = [[*stamp], layer.values, layer.places, layer.warning]
        files: Mapping[str, Any] = {**self._known(), path: entry}
        with suppress(CamError, OSError, ValueError, TypeError, RecursionError):
            kept = dict(list(files.items())[-_MOST_FILES:])
            text = json.dumps({"rules": _rules(), "files": kept}, separators=(",", ":"))
            if json.loads(text)["files"][path] == entry:
                make_folder(os.path.dirname(self._path))
                write_quick(self._path, text.encode())

    def _known(self) -> dict[str, Any]:
        if self._files is None:
            self._files = {}
            with suppress(CamError, OSError, ValueError, TypeError, KeyError, RecursionError):
                data = json.loads(read_bytes(self._path) or b"{}")
                if data["rules"] == _rules():
                    self._files = dict(data["files"])
        return self._files


def _rules() -> list[int]:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [*stamp_of(os.stat(os.path.join(folder, _RULES)))[:2]]
