"""The search sidecar: what recall needs of the topic files, ready on disk; derived and disposable.

One index per folder of topic files (a scope in one state), and beside it a smaller one with the files that
changed since. Both are written whole and renamed into place, so readers and writers need no lock, and never
trusted: each use compares every topic file's size, times and inode with what was indexed, and the content of
those that are as young as the index. Files that differ are read anew. Without an index, or where none can be
written, the answer is the same and only takes longer.

File: magic, length and checksum of the header, header (JSON), sections (JSON, or arrays in the machine's byte
order). Whatever is read is checked against its checksum first; a damaged index is dropped and built anew,
and so is one that other rules made.
"""

import contextlib
import json
import os
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import time_ns
from typing import Any
from zlib import crc32

from cam.core.errors import CamError
from cam.core.problems import Problem
from cam.core.ranking import Document, entry_of
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.store.layout import StoreLayout
from cam.store.stamps import RACY, Stamp, stamp_of, stat_topics
from cam.system.files import make_folder, read_bytes, unlink_quietly, write_quick

SMALL = 64 * 1024
"""Bytes of topic files below which a folder gets no index: reading them takes as long."""

_MAGIC = b"cam-sidecar-1\n"
_HEAD = len(_MAGIC) + 12
_REBUILD = 0.2
"""Share of a folder's records that may stand beside the index before it is built anew."""


class DamagedError(Exception):
    """An index does not hold what was written into it."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One topic file as it was indexed.

    Attributes:
        stamp: size, two times and inode.
        first: number of its first document.
        count: how many it has.
        checksum: of its bytes.
        problems: line, reason and advice of what could not be read.
    """

    stamp: Stamp
    first: int
    count: int
    checksum: int
    problems: tuple[tuple[int, str, str], ...] = ()

    @property
    def documents(self) -> range:
        """Numbers of its documents."""
        return range(self.first, self.first + self.count)


class Part:
    """One index: some documents of a folder, on disk or in memory.

    Attributes:
        built: when, nanoseconds since the epoch: the file's own time.
        files: what it holds, by file name.
        lengths: of its documents.
        dead: files that have changed since, and their documents.
        looked_inside: whether a file was so young that its content had to be compared.
    """

    def __init__(self, header: dict[str, Any], read: Callable[[int, int], bytes], built: int) -> None:
        self._sections = header["sections"]
        self._read = read
        self.built = built
        self.looked_inside = False
        entries = json.loads(self._section("files"))
        self.files = {
            name: FileEntry(tuple(stamp), first, count, checksum, tuple(map(tuple, problems)))
            for name, (stamp, first, count, checksum, problems) in entries.items()
        }
        self.lengths = array("d", self._section("lengths"))
        self.dead: set[int] = set()
        self.dead_files: set[str] = set()

    def bury(self, name: str) -> None:
        """Take a file's documents out of every answer."""
        self.dead_files.add(name)
        self.dead.update(self.files[name].documents)

    @cached_property
    def tokens(self) -> list[str]:
        """Every token, sorted."""
        text = self._section("tokens").decode("utf-8", "surrogatepass")
        return text.split("\n") if text else []

    @cached_property
    def bounds(self) -> dict[int, tuple[str | None, str | None]]:
        """Validity of the documents that have any."""
        return {int(n): (low, high) for n, (low, high) in json.loads(self._section("bounds")).items()}

    @cached_property
    def order(self) -> "array[int]":
        """For each document the place of its ref among all refs of this part."""
        return array("I", self._section("order"))

    @cached_property
    def _spans(self) -> "tuple[array[int], array[int]]":
        return array("I", self._section("spans")), array("I", self._section("span_sums"))

    @cached_property
    def _kinds(self) -> list[tuple[float, int]]:
        """The pairs of weighted count and fields that occur."""
        return [(weight, fields) for weight, fields in json.loads(self._section("kind_table"))]

    def find(self, token: str) -> Iterator[tuple[int, float, int]]:
        """Documents with ``token``: number in this part, weighted count, fields."""
        at = bisect_left(self.tokens, token)
        if at == len(self.tokens) or self.tokens[at] != token:
            return iter(())
        spans, sums = self._spans
        start, stop = spans[at], spans[at + 1]
        documents = self._slice("documents", start * 4, stop * 4)
        kinds = self._slice("kinds", start * 2, stop * 2)
        if crc32(documents + kinds) != sums[at]:
            raise DamagedError
        table, dead = self._kinds, self.dead
        found = zip(array("I", documents), array("H", kinds), strict=True)
        return ((number, *table[kind]) for number, kind in found if number not in dead)

    @cached_property
    def clean(self) -> bytes:
        """For each document 1 if it holds neither a private span nor a secret."""
        return self._section("clean")

    def record(self, number: int) -> MemoryRecord:
        """The record behind a document."""
        from cam.formats.topic_file import record_from_data  # noqa: PLC0415 - hits alone need it

        start, checksum, stop, _ = array("Q", self._slice("record_spans", number * 16, number * 16 + 32))
        data = self._slice("records", start, stop)
        if crc32(data) != checksum:
            raise DamagedError
        return record_from_data(json.loads(data.decode("utf-8", "surrogatepass")))

    def records_of(self, name: str) -> list[MemoryRecord]:
        """The records of one file."""
        return [self.record(number) for number in self.files[name].documents]

    def _section(self, name: str) -> bytes:
        offset, length, checksum = self._sections[name]
        data = self._read(offset, length)
        if crc32(data) != checksum:
            raise DamagedError
        return data

    def _slice(self, name: str, start: int, stop: int) -> bytes:
        offset, length, _ = self._sections[name]
        if not 0 <= start <= stop <= length:
            raise DamagedError
        data = self._read(offset + start, stop - start)
        if len(data) != stop - start:
            raise DamagedError
        return data


class Shard:
    """A folder of topic files as it is now.

    Attributes:
        scope: whose.
        state: in which state.
        parts: indexes that together hold each record once.
        problems: what of its files could not be read.
    """

    def __init__(
        self, scope: MemoryScope, state: MemoryState, parts: Sequence[Part], problems: Sequence[Problem]
    ) -> None:
        self.scope, self.state = scope, state
        self.parts, self.problems = tuple(parts), tuple(problems)


def open_shard(
    layout: StoreLayout,
    scope: MemoryScope,
    state: MemoryState,
    document_of: Callable[[MemoryRecord], Document],
    *,
    trust: bool = True,
) -> Shard:
    """A folder's index, brought up to date.

    Args:
        layout: of the store.
        scope: whose folder.
        state: which of the two.
        document_of: what of a record may be found.
        trust: whether an index on disk is used; without, all is read from the files and nothing is written.

    Raises:
        DamagedError: an index on disk turned out not to hold what was written.
    """
    folder = layout.topics_folder(scope, state)
    stamps, problems = stat_topics(folder)
    path = _index_path(layout, folder)
    base, delta = (_load(path), _load(f"{path}.delta")) if trust else (None, None)
    now = time_ns()
    stale = [name for name in stamps if not _bury_but_one(name, stamps[name], folder, (delta, base))]
    for part in (base, delta):
        for name in part.files if part else ():
            if part and name not in stamps:
                part.bury(name)
    parts = [part for part in (base, delta) if part is not None]
    if stale or (base is not None and len(base.dead) > _REBUILD * len(base.lengths) + 100):
        parts = _renew(layout, (scope, state), path if trust else "", base, delta, stale, document_of)
    elif any(part.looked_inside for part in parts):
        for each in (path, f"{path}.delta"):
            _set_time(each, now)  # what was compared by content now is older than the index from here on
    for part in parts:
        for name, entry in part.files.items():
            if name not in part.dead_files:
                problems += [Problem(os.path.join(folder, name), *found) for found in entry.problems]
    return Shard(scope, state, parts, problems)


def drop_indexes(layout: StoreLayout) -> None:
    """Delete every index; they are built anew when they are needed."""
    folder = layout.cache_file("recall")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        unlink_quietly(os.path.join(folder, name))


def _index_path(layout: StoreLayout, folder: str) -> str:
    name = os.path.relpath(folder, layout.root).replace(os.sep, "~")
    return layout.cache_file("recall", f"{name}.idx")


def _is_fresh(part: Part, name: str, stamp: Stamp, folder: str) -> bool:
    entry = part.files[name]
    if entry.stamp != stamp:
        return False
    if max(stamp[1], stamp[2]) < part.built - RACY:
        return True
    part.looked_inside = True
    try:
        return crc32(read_bytes(os.path.join(folder, name)) or b"") == entry.checksum
    except CamError:
        return False


def _bury_but_one(name: str, stamp: Stamp, folder: str, parts: Sequence[Part | None]) -> bool:
    """Let the first part that has the file as it is stand for it; whether there is one."""
    found = False
    for part in parts:
        if part is not None and name in part.files:
            if not found and _is_fresh(part, name, stamp, folder):
                found = True
            else:
                part.bury(name)
    return found


def _renew(
    layout: StoreLayout,
    key: tuple[MemoryScope, MemoryState],
    path: str,
    base: Part | None,
    delta: Part | None,
    stale: Sequence[str],
    document_of: Callable[[MemoryRecord], Document],
) -> list[Part]:
    """Read stale files, and write them beside the index, or the whole index anew (nowhere without a path)."""
    fresh = [_read_file(layout, key, name) for name in stale]
    kept = list(_live_files(delta))
    moved = sum(len(records) for _, _, _, records, _ in (*fresh, *kept))
    if base is not None and moved + len(base.dead) <= _REBUILD * len(base.lengths) + 100:
        data, built = _build([*kept, *fresh], document_of)
        _write(f"{path}.delta", data, built)
        return [base, _open_bytes(data, built)]
    files = [*_live_files(base), *kept, *fresh]
    data, built = _build(files, document_of)
    if path and sum(stamp[0] for _, stamp, _, _, _ in files) >= SMALL:
        _write(path, data, built)
        unlink_quietly(f"{path}.delta")
    return [_open_bytes(data, built)]


_Row = tuple["array[int]", "array[int]"]
FileContent = tuple[str, Stamp, int, list[MemoryRecord], tuple[tuple[int, str, str], ...]]


def _read_file(layout: StoreLayout, key: tuple[MemoryScope, MemoryState], name: str) -> FileContent:
    from cam.store.topics import read_topic  # noqa: PLC0415 - only where something changed

    scope, state = key
    path = layout.topic_file(scope, state, name[:-3])
    stamp: Stamp = (0, 0, 0, 0)
    try:
        stamp = stamp_of(os.lstat(path))
        topic = read_topic(layout, (scope, state, name[:-3]))
    except (CamError, OSError) as error:
        return name, stamp, 0, [], ((0, str(error), ""),)
    file = topic.file
    problems = tuple((p.line, p.reason, p.advice) for p in (file.problems if file else ()))
    return name, stamp, crc32(topic.raw or b""), list(file.records if file else ()), problems


def _live_files(part: Part | None) -> Iterator[FileContent]:
    if part is not None:
        for name, entry in part.files.items():
            if name not in part.dead_files:
                yield name, entry.stamp, entry.checksum, part.records_of(name), entry.problems


def _build(
    files: Iterable[FileContent], document_of: Callable[[MemoryRecord], Document]
) -> tuple[bytes, int]:
    """An index's bytes, and the time at which it was begun."""
    from cam.core import private, secrets  # noqa: PLC0415
    from cam.formats.topic_file import record_to_data  # noqa: PLC0415

    built = time_ns()
    clean = bytearray()
    entries: dict[str, Any] = {}
    lengths, record_spans, refs = array("d"), array("Q"), []
    postings: dict[str, _Row] = {}
    kinds: dict[tuple[float, int], int] = {}
    bounds: dict[int, tuple[str | None, str | None]] = {}
    records = bytearray()
    for name, stamp, checksum, contents, problems in files:
        entries[name] = (stamp, len(lengths), len(contents), checksum, problems)
        for record in contents:
            number = len(lengths)
            entry = entry_of(document_of(record))
            lengths.append(entry.length)
            refs.append(str(record.ref))
            clean.append(not private.strip(record.text).count and not secrets.mask(record.text).count)
            for token, (weight, fields) in entry.tokens.items():
                row = postings.get(token)
                if row is None:
                    row = postings[token] = (array("I"), array("H"))
                row[0].append(number)
                row[1].append(kinds.setdefault((weight, fields), len(kinds)))
            if record.valid_from or record.valid_until:
                bounds[number] = (record.valid_from, record.valid_until)
            slim = {
                k: v for k, v in record_to_data(record).items() if v and k != "ref" and v != _USUAL.get(k)
            }
            text = json.dumps(slim, ensure_ascii=False, separators=(",", ":"))
            data = text.encode("utf-8", "surrogatepass")
            record_spans.extend((len(records), crc32(data)))
            records += data
    record_spans.extend((len(records), 0))
    order = array("I", bytes(4 * len(refs)))
    for place, number in enumerate(sorted(range(len(refs)), key=refs.__getitem__)):
        order[number] = place
    tokens = sorted(postings)
    spans, sums = array("I", [0]), array("I")
    rows = [(postings[token][0].tobytes(), postings[token][1].tobytes()) for token in tokens]
    for documents, row_kinds in rows:
        spans.append(spans[-1] + len(documents) // 4)
        sums.append(crc32(documents + row_kinds))
    return _pack(
        {
            "files": json.dumps(entries).encode(),
            "lengths": lengths.tobytes(),
            "order": order.tobytes(),
            "clean": bytes(clean),
            "tokens": "\n".join(tokens).encode("utf-8", "surrogatepass"),
            "spans": spans.tobytes(),
            "span_sums": sums.tobytes(),
            "documents": b"".join(row[0] for row in rows),
            "kinds": b"".join(row[1] for row in rows),
            "kind_table": json.dumps(list(kinds)).encode(),
            "bounds": json.dumps(bounds).encode(),
            "records": bytes(records),
            "record_spans": record_spans.tobytes(),
        }
    ), built


_USUAL = {"state": "active", "type": "memory"}
"""What a record is unless it says otherwise."""

_CHECKED_WHOLE = frozenset("files lengths order clean tokens spans span_sums kind_table bounds".split())
"""Sections that are read whole; of the others each piece has a checksum of its own."""


def _pack(sections: dict[str, bytes]) -> bytes:
    places: dict[str, tuple[int, int, int]] = {}
    offset = 0
    for name, data in sections.items():
        places[name] = (offset, len(data), crc32(data) if name in _CHECKED_WHOLE else 0)
        offset += len(data)
    form = {"byteorder": sys.byteorder, "rules": _rules(), "sections": places}
    header = json.dumps(form, separators=(",", ":")).encode()
    sizes = len(header).to_bytes(8, "little") + crc32(header).to_bytes(4, "little")
    return b"".join((_MAGIC, sizes, header, *sections.values()))


def _rules() -> list[int]:
    """Changes with the rules by which texts are cut into tokens, stripped and masked."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    names = ("ranking", "language", "private", "secrets", "secret_forms")
    status = [os.stat(os.path.join(folder, "core", f"{name}.py")) for name in names]
    return [each for s in status for each in (s.st_size, s.st_mtime_ns)]


def _open_bytes(data: bytes, built: int) -> Part:
    part = _part(len(data), lambda offset, length: data[offset : offset + length], built)
    assert part is not None
    return part


def _load(path: str) -> Part | None:
    """An index on disk; None where there is none that can be used."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # The descriptor lives as long as the process: an index that is replaced meanwhile is still whole.
        status = os.fstat(file)
        return _part(
            status.st_size, lambda offset, length: os.pread(file, length, offset), status.st_mtime_ns
        )
    except (ValueError, TypeError, KeyError, OSError, DamagedError):
        os.close(file)
        return None


def _part(size: int, read: Callable[[int, int], bytes], built: int) -> Part | None:
    head = read(0, 4096)
    length = int.from_bytes(head[len(_MAGIC) : len(_MAGIC) + 8], "little")
    header = head[_HEAD : _HEAD + length]
    if not head.startswith(_MAGIC) or crc32(header) != int.from_bytes(head[_HEAD - 4 : _HEAD], "little"):
        return None
    form = json.loads(header)
    body = _HEAD + length
    end = max(offset + extent for offset, extent, _ in form["sections"].values())
    if form["byteorder"] != sys.byteorder or form["rules"] != _rules() or size != body + end:
        return None
    return Part(form, lambda offset, extent: read(body + offset, extent), built)


def _write(path: str, data: bytes, built: int) -> None:
    try:
        make_folder(os.path.dirname(path))
        write_quick(path, data)
    except CamError:
        return  # a store that cannot be written answers all the same
    _set_time(path, built)


def _set_time(path: str, when: int) -> None:
    with contextlib.suppress(OSError):
        os.utime(path, ns=(when, when))
