"""Building an index of the sidecar from the records of some files."""

import json
import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from time import time_ns
from typing import NamedTuple
from zlib import crc32

from cam.core import private, secrets
from cam.core.errors import CamError
from cam.core.ranking import ClassTable, Document, add_postings, entry_of
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.core.times import sortable
from cam.formats.memory_index import note_records
from cam.formats.record_data import record_to_data
from cam.store.layout import StoreLayout
from cam.store.sidecar_part import BLOCK, pack
from cam.store.stamps import Stamp, stamp_of
from cam.store.topics import read_topic
from cam.system.files import read_bytes

_USUAL = {"state": "active", "type": "memory"}
"""What a record is unless it says otherwise."""

_Traits = tuple[str, tuple[str, ...], tuple[str, ...]]


class FileContent(NamedTuple):
    """A file to be indexed.

    Attributes:
        name: in its folder.
        stamp: as it was when it was read.
        checksum: of its bytes.
        records: what it holds.
        problems: line, reason and advice of what could not be read.
    """

    name: str
    stamp: Stamp
    checksum: int
    records: Sequence[MemoryRecord]
    problems: tuple[tuple[int, str, str], ...]


def read_file(
    layout: StoreLayout,
    key: tuple[MemoryScope, MemoryState],
    name: str,
    notes: str,
) -> FileContent:
    """Read a topic file, or the person's own text in the file ``notes``; what cannot be read is a problem."""
    scope, state = key
    path = os.path.join(layout.topics_folder(scope, state), name)
    stamp: Stamp = (0, 0, 0, 0)
    try:
        stamp = stamp_of(os.lstat(path))
        if name == notes:
            raw = read_bytes(path) or b""
            return FileContent(name, stamp, crc32(raw), note_records(raw, scope), ())
        topic = read_topic(layout, (scope, state, name[:-3]))
    except (CamError, OSError) as error:
        return FileContent(name, stamp, 0, [], ((0, str(error).removeprefix(f"{path}: "), ""),))
    file = topic.file
    problems = tuple((p.line, p.reason, p.advice) for p in (file.problems if file else ()))
    return FileContent(name, stamp, crc32(topic.raw or b""), list(file.records if file else ()), problems)


def build(files: Iterable[FileContent], document_of: Callable[[MemoryRecord], Document]) -> tuple[bytes, int]:
    """An index's bytes, and the time at which it was begun."""
    built = time_ns()
    files = sorted(files)
    postings: dict[str, tuple[array[int], array[int]]] = {}
    classes = ClassTable()
    lengths, record_spans, trait_of, ids = array("I"), array("Q"), array("I"), array("I")
    traits: dict[_Traits, int] = {}
    bounds: dict[tuple[str | None, str | None], list[int]] = {}
    refs: list[str] = []
    moments: list[tuple[str, str]] = []
    changed: list[str] = []
    firsts = array("I", [0])
    records = bytearray()
    for file in files:
        texts = [f"{record.text}\n{record.reason}" for record in file.records]
        clean = secrets.are_clean(texts)
        for record, text, has_none in zip(file.records, texts, clean, strict=True):
            number, ref = len(refs), str(record.ref)
            entry = entry_of(document_of(record))
            add_postings(postings, classes, number, entry)
            lengths.append(int(entry.length))
            refs.append(ref)
            moments.append((sortable(record.created_at), ref))
            changed.append(record.updated_at)
            ids.append(crc32(record.id.encode()))
            trait_of.append(traits.setdefault(_traits(record), len(traits)))
            if record.valid_from or record.valid_until:
                bounds.setdefault((record.valid_from, record.valid_until), []).append(number)
            data = _record_bytes(record, is_clean=has_none and private.strip(text).text == text)
            record_spans.extend((len(records), crc32(data)))
            records += data
        firsts.append(len(refs))
    record_spans.extend((len(records), 0))
    order = array("I", bytes(4 * len(refs)))
    for place, number in enumerate(sorted(range(len(refs)), key=refs.__getitem__)):
        order[number] = place
    table = classes.table()
    kind_code = "H" if len(table.counts) <= 1 << 16 else "I"
    sections = {
        "names": _text(file.name for file in files),
        "stamps": array("q", (number for file in files for number in file.stamp)).tobytes(),
        "checksums": array("I", (file.checksum for file in files)).tobytes(),
        "firsts": firsts.tobytes(),
        "problems": json.dumps({file.name: file.problems for file in files if file.problems}).encode(),
        "lengths": lengths.tobytes(),
        "order": order.tobytes(),
        "times": array("I", sorted(range(len(refs)), key=moments.__getitem__)).tobytes(),
        "changes": array("I", sorted(range(len(refs)), key=changed.__getitem__, reverse=True)).tobytes(),
        "ids": ids.tobytes(),
        "traits": json.dumps([*traits]).encode(),
        "trait_of": trait_of.tobytes(),
        "bounds": json.dumps([[*pair, numbers] for pair, numbers in bounds.items()]).encode(),
        "class_counts": array("d", table.counts).tobytes(),
        "class_masks": bytes(table.masks),
        "class_lengths": array("I", map(int, table.lengths)).tobytes(),
        **_token_sections(postings, kind_code),
        "records": bytes(records),
        "record_spans": record_spans.tobytes(),
    }
    return pack({"size": len(refs), "length": sum(lengths), "kind_code": kind_code}, sections), built


def _token_sections(
    postings: dict[str, tuple["array[int]", "array[int]"]], kind_code: str
) -> dict[str, bytes]:
    """Tokens in sorted blocks, each with where its postings are, and the postings."""
    heads: list[str] = []
    spans, blocks = array("Q"), bytearray()
    documents, kinds = bytearray(), bytearray()
    tokens = sorted(postings)
    start = 0
    for begin in range(0, len(tokens), BLOCK):
        lines = []
        for token in tokens[begin : begin + BLOCK]:
            numbers, classes = postings[token]
            own, own_kinds = numbers.tobytes(), array(kind_code, classes).tobytes()
            lines.append(f"{token}\t{start}\t{start + len(numbers)}\t{crc32(own + own_kinds)}")
            start += len(numbers)
            documents += own
            kinds += own_kinds
        block = ("\n" + "\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
        heads.append(tokens[begin])
        spans.extend((len(blocks), crc32(block)))
        blocks += block
    spans.extend((len(blocks), 0))
    return {
        "heads": _text(heads),
        "block_spans": spans.tobytes(),
        "blocks": bytes(blocks),
        "documents": bytes(documents),
        "kinds": bytes(kinds),
    }


def _traits(record: MemoryRecord) -> _Traits:
    """What filters ask of a record beyond its topic and time."""
    kinds = sorted({s.kind for s in record.sources})
    sessions = sorted({s.session for s in record.sources if s.session is not None})
    return str(record.type), tuple(kinds), tuple(sessions)


def _record_bytes(record: MemoryRecord, *, is_clean: bool) -> bytes:
    """``1`` where nothing of it need be hidden, else ``0``; then its data without what is usual."""
    data = {k: v for k, v in record_to_data(record).items() if v and k != "ref" and v != _USUAL.get(k)}
    slim = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (b"1" if is_clean else b"0") + slim.encode("utf-8", "surrogatepass")


def _text(lines: Iterable[str]) -> bytes:
    return "\n".join(lines).encode("utf-8", "surrogatepass")
