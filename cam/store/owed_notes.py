"""Text that cam put into a person's MEMORY.md: an editor that was open meanwhile does not save it away.

The file carries no version. But its managed block tells an older state from a newer one where the counts
changed since, as they do when an import brings records. Where they did not, or where the file had no block
yet, what is missing was taken out.
"""

import json
import os
from contextlib import suppress

from cam.core.errors import CamError
from cam.formats.json_line import dump_line
from cam.formats.memory_index import NoteEdit, block_of, with_note
from cam.store.layout import StoreLayout
from cam.store.shadow import read_shadow
from cam.system.files import append_to_log, read_bytes


def owe_note(layout: StoreLayout, path: str, edit: NoteEdit) -> None:
    """Remember what goes into ``path`` now, or out of it, and which managed block the file has before.

    Where that cannot be kept, only the care against an editor's older state is lost.
    """
    with suppress(CamError):
        block = block_of(read_bytes(path) or b"")
        lines = [dump_line({"note": edit.gone})] if edit.gone else []
        lines += [dump_line({"note": edit.added, "block": block})] if edit.added else []
        append_to_log(_file(layout, path), "\n".join(lines))


def lost_notes(layout: StoreLayout, path: str, data: bytes) -> str:
    """What an older state that was saved over a newer one lacks, "" if nothing.

    Args:
        layout: of the store.
        path: an index.
        data: its bytes.
    """
    lines: list[bytes] = []
    with suppress(CamError):  # what is derived and cannot be read counts as none
        lines = (read_bytes(_file(layout, path)) or b"").split(b"\n")
    if not any(lines):
        return ""
    owed: dict[str, set[str]] = {}
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            note, block = str(entry["note"]), entry.get("block")
            if block is None:
                owed.pop(note, None)  # cam itself took it out again
            else:
                owed.setdefault(note, set()).add(str(block))
    now, known = block_of(data), block_of(read_shadow(layout, path) or b"")
    missing = (note for note, blocks in owed.items() if now and now != known and now in blocks)
    return "\n\n".join(note for note in missing if with_note(data, note) != data)


def _file(layout: StoreLayout, path: str) -> str:
    return layout.cache_file("notes", f"{os.path.relpath(path, layout.root)}.jsonl")
