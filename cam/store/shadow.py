"""Shadows: a copy of each topic file and index as cam wrote it last, which tells what people did since."""

import contextlib
import os

from cam.core.errors import CamError
from cam.store.layout import StoreLayout
from cam.system.files import read_bytes, rename_file, stage_file, unlink_quietly


def shadow_file(layout: StoreLayout, path: str) -> str:
    """Where the copy of a topic file or an index, ``path``, is that cam wrote last."""
    return layout.cache_file("shadow", os.path.relpath(path, layout.root))


def read_shadow(layout: StoreLayout, path: str) -> bytes | None:
    """What cam wrote last to the file ``path``; None without a copy that can be read."""
    with contextlib.suppress(CamError):
        return read_bytes(shadow_file(layout, path))
    return None


def write_shadow(layout: StoreLayout, written: str, data: bytes | None) -> None:
    """Keep what was written to the file ``written``; None where it went.

    After a power cut the one from before may be there, but none that is torn.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    path = shadow_file(layout, written)
    if data is None:
        unlink_quietly(path)
        return
    rename_file(stage_file(path, data, str(os.getpid())), path)
