"""What was erased, without saying it again."""

from typing import Any

from cam.core.display import counted
from cam.memory.erase import Erased


def erased_data(done: Erased) -> dict[str, Any]:
    """``forget --erase --json``."""
    return {
        "refs": list(done.refs),
        "deleted": True,
        "dry_run": False,
        "erased": True,
        "files": list(done.files),
        "other_records": list(done.others),
        "words_left_in": list(done.words_left),
        "left_in": list(done.left),
        "rollouts": list(done.rollouts),
        "rollouts_unread": done.unread,
    }


def erased_text(done: Erased) -> str:
    """How much went, and what went with it."""
    count = counted(len(done.refs), "record")
    files = counted(len(done.files), "file")
    lines = [f"Erased {count}: the text is gone from {files} of the store. This cannot be undone."]
    lines += [f"held it too and was changed: {ref}" for ref in done.others]
    return "\n".join(lines)


def erased_notes(done: Erased) -> tuple[str, ...]:
    """What still holds it."""
    notes = [f"cam: some of it still stands in {path}" for path in done.left]
    notes += [f"cam: shares an odd word with it, look yourself: {ref}" for ref in done.words_left]
    notes += [
        f"cam: Codex's own session still holds it, and cam never alters those: {p}" for p in done.rollouts
    ]
    if done.unread:
        notes.append(f"cam: not looked into: {counted(done.unread, 'session')} of Codex")
    return tuple(notes)
