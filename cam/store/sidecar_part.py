"""One index of the sidecar: its bytes on disk, and what can be asked of them.

    file     = magic, length and checksum of the header, header (JSON), sections
    section  = JSON, text, or an array in the machine's byte order

Whatever is read is checked against its checksum first: whole sections as the header says, tokens by blocks,
postings and records one by one. An index that other rules made, or another machine, is no index.
"""

import json
import os
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import chain
from typing import Any
from zlib import crc32

from cam.core.ranking import Classes
from cam.core.records import MemoryRecord
from cam.formats.record_data import record_from_data
from cam.store.stamps import Stamp

BLOCK = 64
"""Tokens that are read together."""

_MAGIC = b"cam-sidecar-3\n"
_HEAD = len(_MAGIC) + 12

_IN_PIECES = frozenset({"blocks", "documents", "kinds", "records", "record_spans"})
"""Sections that are never read whole: each piece has a checksum of its own."""

_RULES = (
    "core/ranking", "core/language", "core/private", "core/secrets", "core/secret_forms", "core/records",
    "formats/topic_file", "formats/memory_index", "formats/record_data", "store/sidecar_build",
)  # fmt: skip
"""Modules that decide what an index of the same files holds."""


class DamagedError(Exception):
    """An index does not hold what was written into it."""


class Part:
    """One index: some documents of a folder, on disk or in memory.

    Attributes:
        built: when, nanoseconds since the epoch: the file's own time.
        size: its documents, buried ones among them.
        all_length: words of all of them.
        dead: how many documents are buried.
        dead_files: files that have changed since.
        gone: 1 for each buried document; None where none is.
        looked_inside: whether a file was so young that its content had to be compared.
    """

    def __init__(self, header: dict[str, Any], read: Callable[[int, int], bytes], built: int) -> None:
        self._sections = header["sections"]
        self._read = read
        self.built = built
        self.size: int = header["size"]
        self.all_length: float = header["length"]
        self._kind_code: str = header["kind_code"]
        self.dead = 0
        self.dead_files: set[str] = set()
        self.gone: bytearray | None = None
        self.looked_inside = False
        self._found: dict[str, tuple[Sequence[int], Sequence[int]]] = {}

    # --- files ---

    @cached_property
    def names(self) -> list[str]:
        """Files that it holds, sorted."""
        return self._lines("names")

    @cached_property
    def known(self) -> frozenset[str]:
        """The same."""
        return frozenset(self.names)

    @cached_property
    def stamps(self) -> "array[int]":
        """Four numbers a file."""
        return array("q", self._section("stamps"))

    @cached_property
    def problems(self) -> dict[str, tuple[tuple[int, str, str], ...]]:
        """Line, reason and advice of what could not be read, by file."""
        found = json.loads(self._section("problems"))
        return {name: tuple((line, why, what) for line, why, what in each) for name, each in found.items()}

    def stamp(self, name: str) -> Stamp:
        """A file as it was indexed."""
        at = 4 * self._places[name]
        size, modified, changed, inode = self.stamps[at : at + 4]
        return size, modified, changed, inode

    def checksum(self, name: str) -> int:
        """Of a file's bytes."""
        return self._checksums[self._places[name]]

    def documents(self, name: str) -> range:
        """Numbers of a file's documents; none where it is not here or has changed since."""
        if name not in self.known or name in self.dead_files:
            return range(0)
        return self._documents_of(name)

    def bury(self, name: str) -> None:
        """Take a file's documents out of every answer."""
        if name in self.dead_files:
            return
        self.dead_files.add(name)
        numbers = self._documents_of(name)
        self.dead += len(numbers)
        if self.gone is None:
            self.gone = bytearray(self.size)
        self.gone[numbers.start : numbers.stop] = b"\x01" * len(numbers)

    # --- documents ---

    @cached_property
    def lengths(self) -> "array[int]":
        """Words of each document."""
        return array("I", self._section("lengths"))

    @cached_property
    def order(self) -> "array[int]":
        """For each document the place of its ref among all refs of this part."""
        return array("I", self._section("order"))

    @cached_property
    def times(self) -> "array[int]":
        """Documents by creation and ref."""
        return array("I", self._section("times"))

    @cached_property
    def changes(self) -> "array[int]":
        """Documents by their last change, newest first; what changed at one time as it stands."""
        return array("I", self._section("changes"))

    @cached_property
    def ids(self) -> "array[int]":
        """A checksum of each document's id."""
        return array("I", self._section("ids"))

    @cached_property
    def traits(self) -> tuple[list[tuple[str, list[str], list[str]]], "array[int]"]:
        """Type, kinds of sources and sessions as they occur, and for each document which of them."""
        return json.loads(self._section("traits")), array("I", self._section("trait_of"))

    @cached_property
    def bounds(self) -> list[tuple[str | None, str | None, list[int]]]:
        """Validity from and until as they occur, and the documents that have each."""
        return [(low, high, numbers) for low, high, numbers in json.loads(self._section("bounds"))]

    def record(self, number: int) -> MemoryRecord:
        """The record behind a document."""
        return self.found(number)[0]

    def found(self, number: int) -> tuple[MemoryRecord, bool]:
        """The record behind a document, and whether it holds neither a private span nor a secret."""
        spans = self._slice("record_spans", number * 16, number * 16 + 32)
        start, checksum, stop, _ = array("Q", spans)
        data = self._slice("records", start, stop)
        if crc32(data) != checksum:
            raise DamagedError
        return record_from_data(json.loads(data[1:].decode("utf-8", "surrogatepass"))), data[:1] == b"1"

    def all_records(self) -> list[MemoryRecord]:
        """The records behind all documents, read together: sooner than one by one."""
        joined = b"[%b]" % b",".join(piece[1:] for piece in self._record_pieces())
        return list(map(record_from_data, json.loads(joined.decode("utf-8", "surrogatepass"))))

    def may_hold(self, terms: Sequence[Collection[str]]) -> list[int]:
        """Documents that may hold a token of each term, ascending, and every one that does.

        Of a record with a private span or a secret not all tokens are in the index: it always may.
        """
        matched: set[int] = set(range(self.size))
        for tokens in terms:
            matched &= set(chain.from_iterable(self.find(token)[0] for token in tokens))
        hidden = (n for n, piece in enumerate(self._record_pieces()) if piece[:1] != b"1")
        return sorted(matched.union(hidden))

    # --- tokens ---

    @cached_property
    def classes(self) -> Classes:
        """See ``cam.core.ranking.Segment``."""
        return Classes(
            array("d", self._section("class_counts")),
            self._section("class_masks"),
            array("I", self._section("class_lengths")),
        )

    def find(self, token: str) -> tuple[Sequence[int], Sequence[int]]:
        """See ``cam.core.ranking.Segment``; buried documents are found as well."""
        if token not in self._found:
            self._found[token] = self._look_up(token)
        return self._found[token]

    def vocabulary(self, start: str) -> list[str]:
        """See ``cam.core.ranking.Segment``."""
        found: list[str] = []
        for at in range(max(0, bisect_right(self._heads, start) - 1), len(self._heads)):
            if self._heads[at] > start and not self._heads[at].startswith(start):
                break
            found += [line.partition("\t")[0] for line in self._block(at)[1:-1].split("\n")]
        return [token for token in found if token.startswith(start)]

    def _look_up(self, token: str) -> tuple[Sequence[int], Sequence[int]]:
        at = bisect_right(self._heads, token) - 1
        block = self._block(at) if at >= 0 else ""
        begin = block.find(f"\n{token}\t")
        if begin < 0:
            return (), ()
        start, stop, checksum = map(int, block[begin + 1 : block.index("\n", begin + 1)].split("\t")[1:])
        width = array(self._kind_code).itemsize
        documents = self._slice("documents", start * 4, stop * 4)
        kinds = self._slice("kinds", start * width, stop * width)
        if crc32(documents + kinds) != checksum:
            raise DamagedError
        return array("I", documents), array(self._kind_code, kinds)

    def _block(self, at: int) -> str:
        start, checksum, stop, _ = self._block_spans[2 * at : 2 * at + 4]
        data = self._slice("blocks", start, stop)
        if crc32(data) != checksum:
            raise DamagedError
        return data.decode("utf-8", "surrogatepass")

    @cached_property
    def _heads(self) -> list[str]:
        return self._lines("heads")

    @cached_property
    def _block_spans(self) -> "array[int]":
        return array("Q", self._section("block_spans"))

    @cached_property
    def _firsts(self) -> "array[int]":
        return array("I", self._section("firsts"))

    @cached_property
    def _checksums(self) -> "array[int]":
        return array("I", self._section("checksums"))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def _documents_of(self, name: str) -> range:
        at = self._places[name]
        return range(self._firsts[at], self._firsts[at + 1])

    # --- bytes ---

    def _record_pieces(self) -> list[bytes]:
        """Each record as ``pack`` was given it."""
        data, spans = self._whole("records"), array("Q", self._whole("record_spans"))
        pieces = []
        for start, checksum, stop in zip(spans[::2], spans[1::2], spans[2::2], strict=False):
            piece = data[start:stop]
            if crc32(piece) != checksum:
                raise DamagedError
            pieces.append(piece)
        return pieces

    def _lines(self, name: str) -> list[str]:
        text = self._section(name).decode("utf-8", "surrogatepass")
        return text.split("\n") if text else []

    def _section(self, name: str) -> bytes:
        offset, length, checksum = self._sections[name]
        data = self._read(offset, length)
        if crc32(data) != checksum:
            raise DamagedError
        return data

    def _whole(self, name: str) -> bytes:
        """A section that has its checksums inside."""
        return self._slice(name, 0, self._sections[name][1])

    def _slice(self, name: str, start: int, stop: int) -> bytes:
        offset, length, _ = self._sections[name]
        if not 0 <= start <= stop <= length:
            raise DamagedError
        data = self._read(offset + start, stop - start)
        if len(data) != stop - start:
            raise DamagedError
        return data


def pack(header: dict[str, Any], sections: dict[str, bytes]) -> bytes:
    """The bytes of an index.

    Args:
        header: ``size``, ``length`` and ``kind_code``.
        sections: by name.
    """
    places: dict[str, tuple[int, int, int]] = {}
    offset = 0
    for name, data in sections.items():
        places[name] = (offset, len(data), 0 if name in _IN_PIECES else crc32(data))
        offset += len(data)
    form = {**header, "byteorder": sys.byteorder, "rules": _rules(), "sections": places}
    head = json.dumps(form, separators=(",", ":")).encode()
    sizes = len(head).to_bytes(8, "little") + crc32(head).to_bytes(4, "little")
    return b"".join((_MAGIC, sizes, head, *sections.values()))


def open_bytes(data: bytes, built: int) -> Part:
    """An index in memory."""
    part = _part(len(data), lambda offset, length: data[offset : offset + length], built)
    assert part is not None
    return part


def load(path: str) -> Part | None:
    """An index on disk; None where there is none that can be used."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # The descriptor lives as long as the part: an index that is replaced meanwhile is still whole.
        status = os.fstat(file)
        part = _part(status.st_size, _Reader(file), status.st_mtime_ns)
    except (ValueError, TypeError, KeyError, OSError, DamagedError):
        return None
    return part


class _Reader:
    """Reads a file that is open, and closes it when nobody reads it any more."""

    def __init__(self, file: int) -> None:
        self._file = file

    def __call__(self, offset: int, length: int) -> bytes:
        """Bytes at a place."""
        return os.pread(self._file, length, offset)

    def __del__(self) -> None:
        os.close(self._file)


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


def _rules() -> list[int]:
    """Changes with the rules by which files are read and texts are cut into tokens, stripped and masked."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    status = [os.stat(os.path.join(folder, f"{name}.py")) for name in _RULES]
    return [each for s in status for each in (s.st_size, s.st_mtime_ns)]
