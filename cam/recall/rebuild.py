"""Whether memory reads the same twice and the sidecar says the same; and what there is to find."""

import json
import os
from collections.abc import Callable, Iterable
from hashlib import sha256

from cam.core.ranking import Document
from cam.core.records import MemoryRecord, MemoryState
from cam.formats.record_data import record_to_data
from cam.recall.indexed import RecordsOnDisk
from cam.recall.source import visible_document
from cam.recall.status import IndexStatus, Rebuilt, Status
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.sidecar import DamagedError, drop_indexes, index_size

_STEP = 200
"""Records after which is said how far it is."""

_DAMAGED = "the index is damaged"


def digest(records: Iterable[MemoryRecord]) -> str:
    """SHA-256 of the records' data as compact JSON, keys sorted, a record a line, lines sorted."""
    return sha256("\n".join(sorted(map(_line, records))).encode("utf-8", "surrogatepass")).hexdigest()


def status(source: RecordsOnDisk, layout: StoreLayout, *, use_index: bool) -> Status:
    """Count what the source sees, and look at the sidecar's indexes as they are on disk."""
    sizes = {(s, state): index_size(layout, s, state) for s in layout.scopes for state in MemoryState}
    shards = source.shards()
    records = list(source.records())
    own = [record for record in records if record.topic != "memory"]
    indexes = [
        IndexStatus(
            shard.scope,
            shard.state,
            sizes[shard.scope, shard.state],
            sum(part.size - part.dead for part in shard.parts),
            shard.is_fresh,
        )
        for shard in shards
        if sizes[shard.scope, shard.state]
    ]
    return Status(
        os.path.realpath(layout.root),
        "auto" if use_index else "off",
        len(own),
        sum(record.state is MemoryState.ACTIVE for record in own),
        len(records) - len(own),
        sum(shard.files for shard in shards),
        sum(shard.bytes for shard in shards),
        tuple(indexes),
        tuple(source.problems),
    )


def rebuild(
    layout: StoreLayout, *, use_index: bool, progress: Callable[[int, int], None] = lambda *_: None
) -> Rebuilt:
    """Compare three readings, throw the sidecar away and build it anew.

    The first reading is the store's own, the second that of recall without any index, the third what recall
    answers from with the sidecar as it was found.

    Args:
        layout: of the store.
        use_index: whether there is to be a sidecar.
        progress: takes how many records were indexed, and how many there are to index.

    Raises:
        StoreUnavailableError: the store cannot be read.
        IntegrityError: a limit is broken.
    """
    had_index = use_index and any(
        index_size(layout, scope, state) for scope in layout.scopes for state in MemoryState
    )
    canonical = [*MarkdownStore(layout).snapshot().records]
    done, total = 0, len(canonical) * (2 if use_index else 1)

    def document_of(record: MemoryRecord) -> Document:
        nonlocal done
        done += 1
        if not done % _STEP:
            progress(min(done, total), total)
        return visible_document(record)

    files = RecordsOnDisk(layout, trust=False, document_of=document_of)
    rebuilt = _without_notes(files.records())
    difference = _difference("reading it once more", canonical, rebuilt)
    indexed = None
    if had_index:
        try:
            held = _without_notes(RecordsOnDisk(layout).records())
            indexed = digest(held)
            difference = difference or _difference("the index", canonical, held)
        except (DamagedError, ValueError):
            difference = difference or _DAMAGED
        drop_indexes(layout)
    if use_index:
        RecordsOnDisk(layout, document_of=document_of).shards()
    return Rebuilt(
        digest(canonical), digest(rebuilt), indexed, len(canonical), difference, tuple(files.problems)
    )


def _line(record: MemoryRecord) -> str:
    return json.dumps(record_to_data(record), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _without_notes(records: Iterable[MemoryRecord]) -> list[MemoryRecord]:
    return [record for record in records if record.topic != "memory"]


def _difference(what: str, first: Iterable[MemoryRecord], second: Iterable[MemoryRecord]) -> str:
    """The first record, by ref, that one has and the other has not, or not so; "" where there is none."""
    one, other = ({str(r.ref): r for r in records} for records in (first, second))
    for ref in sorted({*one, *other}):
        if one.get(ref) != other.get(ref):
            if ref not in other:
                return f"{ref} is missing in {what}"
            return f"{ref} is {'different' if ref in one else 'only'} in {what}"
    return ""
