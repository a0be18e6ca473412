"""The search sidecar: what recall needs of the topic files, ready on disk; derived and disposable.

One index per folder of topic files (a scope in one state), and beside it a smaller one with the files that
changed since. Both are written whole and renamed into place, so readers and writers need no lock, and never
trusted: each use compares every topic file's size, times and inode with what was indexed, and the content of
those that are as young as the index. Files that differ are read anew. Without an index, or where none can be
written, the answer is the same and only takes longer. What a person wrote in MEMORY.md is indexed with the
topic files, as records of the topic ``memory``.

``cam.store.sidecar_part`` says what an index is; here is when it is used, renewed and thrown away.
"""

import contextlib
import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice
from time import time_ns
from typing import TypeVar
from zlib import crc32

from cam.core.errors import CamError
from cam.core.problems import Problem
from cam.core.ranking import Document
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.store.layout import StoreLayout
from cam.store.limits import Limits
from cam.store.sidecar_part import DamagedError, Part, load, open_bytes
from cam.store.stamps import RACY, Stamp, stat_topics
from cam.system.files import make_folder, read_bytes, unlink_quietly, write_quick

NOTES = "MEMORY.md"

_REBUILD = 0.2
"""Share of a folder's records that may stand beside the index before it is built anew."""

__all__ = [
    "DamagedError", "Part", "Shard", "all_of", "drop_indexes", "holders_of", "index_size", "indexed_files",
    "number_in", "open_shard",
]  # fmt: skip

DocumentOf = Callable[[MemoryRecord], Document]

_T = TypeVar("_T")


class Shard:
    """A folder of topic files as it is now.

    Attributes:
        scope: whose.
        state: in which state.
        parts: indexes that together hold each record once.
        problems: what of its files could not be read.
        files: how many files it has.
        bytes: of these.
        is_fresh: whether an index on disk already held all of it.
    """

    def __init__(
        self,
        key: tuple[MemoryScope, MemoryState],
        parts: Sequence[Part],
        problems: Sequence[Problem],
        sizes: Sequence[int],
        *,
        is_fresh: bool,
    ) -> None:
        self.scope, self.state = key
        self.parts, self.problems = tuple(parts), tuple(problems)
        self.files, self.bytes = len(sizes), sum(sizes)
        self.is_fresh = is_fresh


def open_shard(
    layout: StoreLayout,
    scope: MemoryScope,
    state: MemoryState,
    document_of: DocumentOf,
    *,
    trust: bool = True,
    limits: Limits | None = None,
) -> Shard:
    """A folder's index, brought up to date.

    Args:
        layout: of the store.
        scope: whose folder.
        state: which of the two.
        document_of: what of a record may be found.
        trust: whether an index on disk is used; without, all is read from the files and nothing is written.
        limits: of what is read together.

    Raises:
        DamagedError: an index on disk turned out not to hold what was written.
        IntegrityError: a limit is broken.
    """
    folder = layout.topics_folder(scope, state)
    path = _index_path(layout, folder)
    base, delta = (load(path), load(f"{path}.delta")) if trust else (None, None)
    notes = NOTES if state is MemoryState.ACTIVE else ""
    files, problems = stat_topics(folder, base.known if base else frozenset(), notes)
    names = sorted(files)
    stamps = array("q", chain.from_iterable(map(files.__getitem__, names)))
    limits = limits or Limits()
    limits.take_files(folder, stamps[::4], names)
    now = time_ns()
    is_fresh = base is not None and delta is None and _is_untouched(base, names, stamps)
    parts: list[Part]
    if is_fresh and base is not None:
        parts = [base]
    else:
        stale = _bury_what_changed(folder, {name: files[name] for name in names}, base, delta)
        parts = [part for part in (base, delta) if part is not None]
        if stale or (base is not None and base.dead > _REBUILD * base.size + 100):
            parts = _renew(layout, (scope, state), path if trust else "", base, delta, stale, document_of)
        elif any(part.looked_inside for part in parts):
            for each in (path, f"{path}.delta"):
                _set_time(each, now)  # what was compared by content now is older than the index from here on
        is_fresh = not stale and bool(parts)
    for part in parts:
        for name, found in part.problems.items():
            if name not in part.dead_files:
                problems += [Problem(os.path.join(folder, name), *each) for each in found]
    limits.take_records(folder, sum(part.size - part.dead for part in parts))
    return Shard((scope, state), parts, problems, stamps[::4], is_fresh=is_fresh)


def indexed_files(
    layout: StoreLayout,
    scope: MemoryScope,
    state: MemoryState,
    reader: Callable[[Part], Callable[[range], _T]],
) -> dict[str, tuple[_T, Sequence[Problem]]]:
    """Topic files, by name, of which the index on disk says what they hold now; nothing is written.

    Args:
        layout: of the store.
        scope: whose folder.
        state: which of the two.
        reader: gives for an index what is taken from it of a file, by the numbers of the file's documents.

    Returns:
        That, and what of the file cannot be read.
    """
    folder = layout.topics_folder(scope, state)
    path = _index_path(layout, folder)
    base, delta = load(path), load(f"{path}.delta")
    parts = [part for part in (base, delta) if part is not None]
    if not parts:
        return {}
    found: dict[str, tuple[_T, Sequence[Problem]]] = {}
    try:
        files, _ = stat_topics(folder, base.known if base else frozenset())
        _bury_what_changed(folder, files, base, delta)
        for part in parts:
            read = reader(part)
            for name in part.known & files.keys() - part.dead_files:
                problems = [Problem(os.path.join(folder, name), *p) for p in part.problems.get(name, ())]
                found[name] = read(part.documents(name)), problems
    except (DamagedError, ValueError):
        return {}  # whoever searches throws it away
    return found


def all_of(part: Part) -> Callable[[range], list[MemoryRecord]]:
    """A reader for ``indexed_files``: every record."""
    records = part.all_records()
    return lambda numbers: records[numbers.start : numbers.stop]


def holders_of(terms: Sequence[Collection[str]]) -> Callable[[Part], Callable[[range], list[MemoryRecord]]]:
    """A reader for ``indexed_files``: records that may hold a token of each term."""

    def reader(part: Part) -> Callable[[range], list[MemoryRecord]]:
        found = part.may_hold(terms)

        return lambda numbers: _records_within(part, found, numbers)

    return reader


def number_in(most: int) -> Callable[[Part], Callable[[range], tuple[int, list[MemoryRecord]]]]:
    """A reader for ``indexed_files``: how many records there are, and which of them are the index's newest.

    No other record is decoded.

    Args:
        most: how many count as newest; that is what changed last.
    """

    def reader(part: Part) -> Callable[[range], tuple[int, list[MemoryRecord]]]:
        gone, notes = part.gone, part.documents(NOTES)
        live = (n for n in part.changes if not (gone and gone[n]) and n not in notes) if most else ()
        found = sorted(islice(live, most))
        return lambda numbers: (len(numbers), _records_within(part, found, numbers))

    return reader


def drop_indexes(layout: StoreLayout) -> None:
    """Delete every index; they are built anew when they are needed."""
    folder = layout.cache_file("recall")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        unlink_quietly(os.path.join(folder, name))


def index_size(layout: StoreLayout, scope: MemoryScope, state: MemoryState) -> int:
    """Bytes of a folder's index on disk; 0 where there is none."""
    path = _index_path(layout, layout.topics_folder(scope, state))
    size = 0
    for each in (path, f"{path}.delta"):
        with contextlib.suppress(OSError):
            size += os.stat(each).st_size
    return size


def _records_within(part: Part, found: Sequence[int], numbers: range) -> list[MemoryRecord]:
    """Records of those documents of ``found``, ascending, that are among ``numbers``."""
    own = found[bisect_left(found, numbers.start) : bisect_left(found, numbers.stop)]
    return [part.record(number) for number in own]


def _index_path(layout: StoreLayout, folder: str) -> str:
    name = os.path.relpath(folder, layout.root).replace(os.sep, "~")
    return layout.cache_file("recall", f"{name}.idx")


def _is_untouched(part: Part, names: list[str], stamps: "array[int]") -> bool:
    """Whether an index holds exactly these files, none of them as young as itself."""
    if part.names != names or part.stamps != stamps:
        return False
    return not names or max(*stamps[1::4], *stamps[2::4], 0) < part.built - RACY


def _bury_what_changed(
    folder: str, files: dict[str, Stamp], base: Part | None, delta: Part | None
) -> list[str]:
    """Let the first part that has a file as it is stand for it; the files that none has."""
    parts = [part for part in (delta, base) if part is not None]
    stale = []
    for name, stamp in files.items():
        found = False
        for part in parts:
            if name in part.known:
                if not found and _is_fresh(part, name, stamp, folder):
                    found = True
                else:
                    part.bury(name)
        if not found:
            stale.append(name)
    for part in parts:
        for name in part.known - files.keys():
            part.bury(name)
    return stale


def _is_fresh(part: Part, name: str, stamp: Stamp, folder: str) -> bool:
    if part.stamp(name) != stamp:
        return False
    if max(stamp[1], stamp[2]) < part.built - RACY:
        return True
    part.looked_inside = True
    try:
        return crc32(read_bytes(os.path.join(folder, name)) or b"") == part.checksum(name)
    except CamError:
        return False


def _renew(
    layout: StoreLayout,
    key: tuple[MemoryScope, MemoryState],
    path: str,
    base: Part | None,
    delta: Part | None,
    stale: Sequence[str],
    document_of: DocumentOf,
) -> list[Part]:
    """Read stale files, and write them beside the index, or the whole index anew (nowhere without a path)."""
    from cam.store.sidecar_build import FileContent, build, read_file  # noqa: PLC0415 - only what changed

    def live_files(part: Part | None) -> Iterator[FileContent]:
        for name in part.names if part is not None else ():
            if part is not None and name not in part.dead_files:
                yield FileContent(
                    name,
                    part.stamp(name),
                    part.checksum(name),
                    [part.record(number) for number in part.documents(name)],
                    part.problems.get(name, ()),
                )

    fresh = [read_file(layout, key, name, NOTES) for name in stale]
    kept = list(live_files(delta))
    moved = sum(len(file.records) for file in (*fresh, *kept))
    if base is not None and moved + base.dead <= _REBUILD * base.size + 100:
        data, built = build([*kept, *fresh], document_of)
        _write(f"{path}.delta", data, built)
        return [base, open_bytes(data, built)]
    files: Sequence[FileContent] = [*live_files(base), *kept, *fresh]
    data, built = build(files, document_of)
    if path and files:
        _write(path, data, built)
        unlink_quietly(f"{path}.delta")
    return [open_bytes(data, built)]


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
