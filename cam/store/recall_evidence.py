"""What is noted of each search: when, a hash of the query, how many were found, how long it took.

Never the query itself. Best effort: a note that cannot be written is not missed, and the file starts anew
when it has grown large.
"""

import json
import os
from zlib import crc32

from cam.store.layout import StoreLayout

_MOST = 256 * 1024


def evidence_file(layout: StoreLayout) -> str:
    """Where searches of the project's view are noted."""
    name = f"recall-{crc32((layout.project or '').encode()):08x}.jsonl"
    return layout.cache_file("evidence", name)


def note_search(
    layout: StoreLayout, query: str, *, at: str, count: int, seconds: float, adapter: str
) -> None:
    """Note a search; nothing happens where there is no store, or where it cannot be written.

    Args:
        layout: of the project's store.
        query: of it a keyless hash of 32 bits is kept: enough to see repetition, too little to get it back.
        at: ISO-8601 UTC.
        count: matches.
        seconds: that the search took.
        adapter: the host that asked, "" for a person.
    """
    if not os.path.isdir(layout.root):
        return
    row = {"at": at, "query": f"{crc32(query.encode('utf-8', 'surrogatepass')):08x}", "count": count}
    row |= {"ms": round(1000 * seconds, 1)} | ({"adapter": adapter} if adapter else {})
    path = evidence_file(layout)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        large = os.path.exists(path) and os.stat(path).st_size > _MOST
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | (os.O_TRUNC if large else 0)
        file = os.open(path, flags, 0o600)
        try:
            os.write(file, json.dumps(row, separators=(",", ":")).encode() + b"\n")
        finally:
            os.close(file)
    except OSError:
        return
