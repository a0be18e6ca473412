"""The events of one record out of a history of any length: only lines that name it are read as JSON."""

import contextlib
import mmap
import os
from collections.abc import Callable, Collection, Iterable, Iterator

from cam.core.errors import CamError
from cam.core.operations import Change, OperationKind
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState
from cam.formats.history import HistoryEvent, parse_history
from cam.store.history_index import stretches
from cam.store.layout import StoreLayout
from cam.store.limits import read_topic_bytes
from cam.store.machine import with_origins
from cam.store.shadow import shadow_file
from cam.store.story import Story, pending, story
from cam.system.files import read_bytes


def events_about(layout: StoreLayout, ref: MemoryRef) -> list[HistoryEvent]:
    """Every event of a record under all its names, and those that tell what it replaced, oldest first.

    A history that cannot be read tells nothing.
    """
    lines: dict[tuple[MemoryScope, int], bytes] = {}
    asked: set[str] = set()
    ids, events = {ref.id}, list[HistoryEvent]()
    while ids - asked:
        for name in sorted(ids - asked):
            asked.add(name)
            for scope in layout.scopes:
                for at, line in _lines_with(layout, scope, name):
                    lines[scope, at] = line
        # The order is that of scopes and, within one, of writing.
        texts = (lines[key].decode("utf-8", "replace") for key in sorted(lines, key=_order))
        events = [event for event in parse_history(texts, with_files=False) if event is not None]
        ids = asked | {name for event in events for name in _other_names(event)}
    return events


def edits_of(layout: StoreLayout, key: tuple[MemoryScope, MemoryState, str]) -> tuple[Change, ...]:
    """What people did to a topic file since cam wrote it; one that is as cam left it is not parsed.

    Raises:
        IntegrityError: not a regular file, or far larger than any memory.
        StoreUnavailableError: the machine refuses.
    """
    path = layout.topic_file(*key)
    raw, shadow = read_topic_bytes(path), read_bytes(shadow_file(layout, path))
    if shadow is None or raw == shadow:
        return ()
    from cam.store.topics import interpret  # noqa: PLC0415 - only where somebody was at work

    return interpret(layout, key, raw).edits


def story_of(
    layout: StoreLayout,
    ref: MemoryRef,
    find: Callable[[Collection[MemoryRef]], Iterable[MemoryRecord]],
    now: str,
) -> Story:
    """Everything about one record, hand edits that are not noted yet included; nothing else is read.

    Args:
        layout: of the store.
        ref: names it, as it is or as it was called once.
        find: the records of some refs, as they stand; those that are not there are left out.
        now: ISO-8601 UTC.

    Raises:
        NotFoundError: nothing is known of it.
    """
    events = with_origins(layout.root, events_about(layout, ref))
    places = {ref.key: None} | {r.key: None for e in events for r in (e.before, e.after) if r is not None}
    refs = [MemoryRef(s, state, topic, name) for s, topic, name in places for state in MemoryState]
    for key in {(each.scope, each.state, each.topic): None for each in refs}:
        with contextlib.suppress(CamError):  # a file that cannot be read was not edited into anything
            events += pending(edits_of(layout, key), now)
    return story(events, find(refs), ref)


def _order(key: tuple[MemoryScope, int]) -> tuple[int, int]:
    return list(MemoryScope).index(key[0]), key[1]


def _other_names(event: HistoryEvent) -> Iterator[str]:
    """Ids that an event leads to: what took the record's place, and either end of a move."""
    if event.replaced_by:
        yield event.replaced_by.rpartition(":")[2]
        if event.kind is OperationKind.MOVE:
            yield event.ref.rpartition(":")[2]


def _lines_with(layout: StoreLayout, scope: MemoryScope, name: str) -> Iterator[tuple[int, bytes]]:
    """Lines of a history that hold the id ``name``, each with its place."""
    path, needle = layout.history_file(scope), f'{name}"'.encode()
    index = layout.cache_file("recall", f"{os.path.relpath(path, layout.root).replace(os.sep, '~')}.idx")
    with contextlib.suppress(OSError, ValueError):  # none, not readable, or empty
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            content = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
            inode = os.fstat(file).st_ino
        finally:
            os.close(file)
        with content:
            for first, last in stretches(content, inode, index, name):
                at = content.find(needle, first, last)
                while at >= 0:
                    begin = content.rfind(b"\n", 0, at) + 1
                    end = content.find(b"\n", at)
                    end = len(content) if end < 0 else end
                    yield begin, content[begin:end]
                    at = content.find(needle, end, last)
