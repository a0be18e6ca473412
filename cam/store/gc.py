"""What of the store may go: old history, audit and archive, leftovers of crashes, old runs and ledgers.

Decided first, as a value that says what goes and how many bytes that is; carried out afterwards under the
store's lock. An active record never goes, and what a person took out stays out: events that leave the history
leave salted tombstones.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from zlib import crc32

from cam.core.display import counted
from cam.core.errors import CamError
from cam.core.operations import MemoryOperation, MemoryPlan, OperationKind, RecordKey, build_plan, doubled
from cam.core.records import MemoryRecord, MemoryState
from cam.core.seams import Attachment, Snapshot
from cam.core.tombstones import tombstone_key
from cam.formats.audit import render_audit
from cam.formats.history import HistoryEvent, parse_history
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from cam.store.project_folder import layouts_of
from cam.store.projects import project_ids
from cam.store.runs import old_runs
from cam.store.tombstones import bury
from cam.system.clock import compact, now_stamp
from cam.system.files import list_folder, read_bytes, remove_file, remove_folder, walk_files, write_atomic
from cam.system.processes import is_running

Progress = Callable[[int, int], None]

DAY = 24 * 3600
LEDGER_DAYS = 90
"""A session that is resumed after that long is told everything once more."""

_TIMES = ("at", "appliedAt", "recordedAt", "generatedAt", "processedAt")
_TIME = re.compile(rb'"(?:%b)"\s*:\s*"([^"\\]*)' % "|".join(_TIMES).encode())
"""A time in a line, up to what is escaped in it: never later than the time itself."""


@dataclass(frozen=True, slots=True)
class Keep:
    """How many days things stay; None for ever.

    Attributes:
        history: events of memory, from which undo, why and timelines come.
        audit: what each sync and command did, and receipts of what sessions were told.
        archive: archived records, counted from their last change.
    """

    history: int | None = 365
    audit: int | None = 180
    archive: int | None = None


@dataclass(frozen=True, slots=True)
class Waste:
    """Something that may go.

    Attributes:
        kind: ``history``, ``audit``, ``receipts``, ``marks``, ``archive``, ``copy``, ``leftover``, ``run``,
            ``ledger``, ``orphan``.
        path: the file or folder; for ``archive`` the topic file.
        size: bytes that become free.
        count: lines, records or files.
        name: for ``archive``: the record's ref.
    """

    kind: str
    path: str
    size: int
    count: int = 1
    name: str = ""


def find_waste(
    root: str, keep: Keep, now: float | None = None, progress: Progress = lambda *_: None
) -> tuple[Waste, ...]:
    """What would go; changes nothing.

    Args:
        root: the store.
        keep: for how long.
        now: seconds since the epoch, the present if None.
        progress: takes how many bytes were looked through, and of how many.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    now = time.time() if now is None else now
    if not list_folder(root):
        return ()
    found: list[Waste] = []
    paths = [path for path in walk_files(root) if _is_looked_at(path)]
    sizes = [_size(os.path.join(root, path)) for path in paths]
    done, total = 0, sum(sizes)
    for path, size in zip(paths, sizes, strict=True):
        found += _of_file(path, os.path.join(root, path), keep, now)
        done += size
        progress(done, total)
    found += _archived(root, keep, now)
    found += _folders(root, now)
    found += _copies(root, keep, now)
    return tuple(sorted(found, key=lambda w: (w.kind, w.path, w.name)))


def clear(
    root: str, keep: Keep, now: float | None = None, progress: Progress = lambda *_: None
) -> tuple[Waste, ...]:
    """Take it all away; what was found is looked at again under the lock. Arguments as for ``find_waste``.

    Raises:
        StoreUnavailableError: the machine refuses; a repeat goes on.
    """
    now = time.time() if now is None else now
    done = list(_clear_archive(root, keep, now))
    with MarkdownStore(StoreLayout(root)).locked():
        for waste in find_waste(root, replace(keep, archive=None), now, progress):
            if waste.kind == "history":
                _rewrite_history(root, waste.path, str(_cutoff(keep.history, now)))
            elif waste.kind in ("audit", "receipts"):
                _rewrite(waste.path, _old_lines(waste.path, str(_cutoff(keep.audit, now))))
            elif waste.kind == "marks":
                _rewrite(waste.path, _stale_marks(waste.path))
            elif os.path.isdir(waste.path) and not os.path.islink(waste.path):
                remove_folder(waste.path)
            else:
                remove_file(waste.path)
            done.append(waste)
    return tuple(sorted(done, key=lambda w: (w.kind, w.path, w.name)))


def _is_looked_at(path: str) -> bool:
    """Whether a file may be waste by itself: of a copy from before, what a crashed write left alone."""
    is_copied = path.startswith(("backup", "replaced-"))
    return not path.startswith(".git/") and (not is_copied or path.endswith(".tmp"))


def _of_file(path: str, full: str, keep: Keep, now: float) -> Iterator[Waste]:
    name = os.path.basename(path)
    if name.endswith(".tmp"):
        if _age(full, now) > DAY or not _is_in_use(name):
            yield Waste("leftover", full, _size(full))
    elif path.startswith("cache/"):
        yield from _of_cache(path, full, keep, now)
    elif name == "memory-history.jsonl" and keep.history is not None:
        yield from _lines("history", full, _old_lines(full, str(_cutoff(keep.history, now))))
    elif name == "processed.jsonl":
        yield from _lines("marks", full, _stale_marks(full))
    elif name.endswith(".jsonl") and "/audit/" in f"/{path}" and keep.audit is not None:
        yield from _lines("audit", full, _old_lines(full, str(_cutoff(keep.audit, now))))


def _of_cache(path: str, full: str, keep: Keep, now: float) -> Iterator[Waste]:
    if path == "cache/receipts.jsonl" and keep.audit is not None:
        yield from _lines("receipts", full, _old_lines(full, str(_cutoff(keep.audit, now))))
    elif path.startswith(("cache/sessions/", "cache/broken-")) and _age(full, now) > LEDGER_DAYS * DAY:
        yield Waste("ledger" if path.startswith("cache/sessions/") else "leftover", full, _size(full))


def _lines(kind: str, path: str, lines: set[bytes]) -> Iterator[Waste]:
    if lines:
        yield Waste(kind, path, sum(len(line) + 1 for line in lines), len(lines))


def _folders(root: str, now: float) -> Iterator[Waste]:
    """Old runs that nobody waits for, what is derived of projects that are gone, unfinished work."""
    for folder in old_runs(os.path.join(root, "cache"), now):
        yield _tree("run", folder)
    present = set(project_ids(root))
    for name in _listed(os.path.join(root, "cache", "shadow", "projects")):
        if name not in present:
            yield _tree("orphan", os.path.join(root, "cache", "shadow", "projects", name))
    yield from _in_cache(root, present, now)
    for folder in (root, os.path.join(root, "projects")):
        for name in _listed(folder):
            path = os.path.join(folder, name)
            if name.startswith(".") and name.endswith(".tmp") and os.path.isdir(path):
                yield _tree("leftover", path)


def _in_cache(root: str, present: set[str], now: float) -> Iterator[Waste]:
    """Files of projects that are gone; proofs and merges that were broken off."""
    for name in _of_gone(root, present):
        if _age(os.path.join(root, "cache", name), now) > DAY:
            yield _any("orphan", os.path.join(root, "cache", name))
    for name in _listed(os.path.join(root, "cache")):
        path, (what, _, pid) = os.path.join(root, "cache", name), name.partition("-")
        is_dead = what in ("proof", "probe") and pid.isdigit() and not is_running(int(pid))
        if is_dead or (name == "git-merge" and _age(path, now) > DAY):
            yield _any("leftover", path)


def _of_gone(root: str, present: set[str]) -> Iterator[str]:
    """What the cache holds by project, of projects that are gone."""
    searched = {f"recall-{crc32(name.encode()):08x}.jsonl" for name in ("", *present)}
    projects: dict[str, Callable[[str], str]] = {
        "start": lambda name: name.partition("~")[0],
        "recall": lambda name: name.split("~")[1] if name.startswith("projects~") else "global",
        "evidence": lambda name: "global" if name in searched else name,
        "continuity": lambda name: name,
    }
    for folder, project_of in projects.items():
        for name in _listed(os.path.join(root, "cache", folder)):
            if project_of(name) not in (*present, "global"):
                yield f"{folder}/{name}"


def _any(kind: str, path: str) -> Waste:
    return _tree(kind, path) if os.path.isdir(path) else Waste(kind, path, _size(path))


def _copies(root: str, keep: Keep, now: float) -> Iterator[Waste]:
    """What projects held before one took the other's memory along; as old as history may be."""
    if keep.history is None:
        return
    cutoff = compact(str(_cutoff(keep.history, now)))
    for name in _listed(os.path.join(root, "backup")):
        if name[:8].isdigit() and name < cutoff:
            yield _tree("copy", os.path.join(root, "backup", name))


def _tree(kind: str, path: str) -> Waste:
    files = list(walk_files(path))
    return Waste(kind, path, sum(_size(os.path.join(path, f)) for f in files), len(files))


def _archived(root: str, keep: Keep, now: float) -> Iterator[Waste]:
    if keep.archive is None:
        return
    for layout, record in _old_archive(root, str(_cutoff(keep.archive, now))):
        path = layout.topic_file(record.scope, record.state, record.topic)
        yield Waste("archive", path, len(record.text.encode("utf-8", "replace")), 1, str(record.ref))


def _old_archive(root: str, cutoff: str) -> Iterator[tuple[StoreLayout, MemoryRecord]]:
    layouts = [
        StoreLayout(root),
        *(layout for name in project_ids(root) for layout in layouts_of(root, name)),
    ]
    seen: set[str] = set()
    for layout in layouts:
        fresh = [scope for scope in layout.scopes if layout.scope_folder(scope) not in seen]
        seen |= {layout.scope_folder(scope) for scope in fresh}
        records = MarkdownStore(layout).snapshot().records
        twice = doubled(records)  # a person must say which is meant
        for record in records:
            is_old = record.state is MemoryState.ARCHIVED and record.updated_at < cutoff
            if is_old and record.scope in fresh and not record.pinned and record.key not in twice:
                yield layout, record


def _clear_archive(root: str, keep: Keep, now: float) -> Iterator[Waste]:
    if keep.archive is None:
        return
    cutoff = str(_cutoff(keep.archive, now))
    by_layout: dict[StoreLayout, list[MemoryRecord]] = {}
    for layout, record in _old_archive(root, cutoff):
        by_layout.setdefault(layout, []).append(record)
    for layout, records in by_layout.items():
        keys = [(tombstone_key(r.summary), r.updated_at) for r in records]
        with MarkdownStore(StoreLayout(root)).locked():
            bury(root, keys, layout.project)
        wanted = {r.key for r in records}

        def plan(
            snapshot: Snapshot,
            layout: StoreLayout = layout,
            wanted: set[RecordKey] = wanted,
        ) -> tuple[MemoryPlan, Attachment]:
            old = [
                r
                for r in snapshot.records
                if r.key in wanted and r.state is MemoryState.ARCHIVED and r.updated_at < cutoff
            ]
            reason = f"archived for more than {counted(keep.archive or 0, 'day')}"
            made = build_plan(
                [MemoryOperation(OperationKind.DELETE, r, reason, "gc") for r in old], snapshot.records
            )
            line = render_audit(at=now_stamp(), kind="gc", actor="user", plan=made)
            return made, Attachment(((os.path.relpath(layout.audit_file, layout.root), line),))

        transact(MarkdownStore(layout), plan)
        for record in records:
            path = layout.topic_file(record.scope, record.state, record.topic)
            yield Waste("archive", path, len(record.text.encode("utf-8", "replace")), 1, str(record.ref))


def _rewrite_history(root: str, path: str, cutoff: str) -> None:
    """Take old events out, after what they say of texts that are gone was put under a tombstone."""
    old = _old_lines(path, cutoff)
    parts = os.path.relpath(path, root).split("/")
    project = parts[1] if parts[0] == "projects" else None
    data = read_bytes(path) or b""
    dead: dict[str, str] = {}
    for event in parse_history(line.decode("utf-8", "replace") for line in data.split(b"\n")):
        if event is not None:
            _count_dead(dead, event)
    bury(root, sorted(dead.items()), project)
    _rewrite(path, old)


def _count_dead(dead: dict[str, str], event: HistoryEvent) -> None:
    before, after = event.before, event.after
    if before is not None and before.state is MemoryState.ACTIVE:
        dead[tombstone_key(before.summary)] = after.updated_at if after else event.at
    if after is not None and after.state is MemoryState.ACTIVE:
        dead.pop(tombstone_key(after.summary), None)


def _rewrite(path: str, without: set[bytes]) -> None:
    data = read_bytes(path) or b""
    lines = [line for line in data.split(b"\n") if line and line not in without]
    if lines:
        write_atomic(path, b"".join(line + b"\n" for line in lines))
    else:
        remove_file(path)


def _old_lines(path: str, cutoff: str) -> set[bytes]:
    """Lines whose time is before ``cutoff``; a line without a time stays."""
    found = set()
    least = cutoff.encode()
    for line in _split(path):
        if b"\\u" not in line and all(time >= least for time in _TIME.findall(line)):
            continue  # nothing in it is that old: most lines need not be decoded
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if isinstance(data, dict):
            at = next((data[name] for name in _TIMES if isinstance(data.get(name), str)), None)
            if at is not None and at < cutoff:
                found.add(line)
    return found


def _stale_marks(path: str) -> set[bytes]:
    """Marks of a session that a later one replaced; a torn line is nobody's mark."""
    last: dict[str, bytes] = {}
    lines = _split(path)
    for line in lines:
        try:
            last[str(json.loads(line)["session"])] = line
        except (ValueError, KeyError, TypeError):
            continue
    return set(lines) - set(last.values())


def _split(path: str) -> list[bytes]:
    try:
        data = read_bytes(path) or b""
    except CamError:
        return []  # cam store verify says what is wrong with it
    return [line for line in data.split(b"\n") if line]


def _is_in_use(name: str) -> bool:
    """Whether the process whose number a temporary file carries is still alive."""
    tag = name.removesuffix(".tmp").rpartition(".")[2]
    return tag.isdigit() and is_running(int(tag))


def _cutoff(days: int | None, now: float) -> str | None:
    if days is None:
        return None
    since = max(0.0, now - days * DAY)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since)) + f".{int(since % 1 * 1000):03d}Z"


def _age(path: str, now: float) -> float:
    try:
        return now - os.lstat(path).st_mtime
    except OSError:
        return 0


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _listed(path: str) -> list[str]:
    return sorted(os.listdir(path)) if os.path.isdir(path) else []
