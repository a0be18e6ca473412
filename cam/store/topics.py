"""Topic files of a store as they are meant: read, hand edits and stale saves reconciled."""

import contextlib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from cam.core.errors import CamError
from cam.core.problems import Problem
from cam.core.records import MemoryScope, MemoryState, is_topic
from cam.formats.topic_file import TopicFile, heading_lines, parse_topic_file
from cam.store.layout import StoreLayout
from cam.store.limits import read_topic_bytes
from cam.store.shadow import read_shadow
from cam.system.files import list_folder, read_bytes

if TYPE_CHECKING:  # a session's start needs what a file says, seldom the history
    from cam.core.operations import Change, RecordKey
    from cam.formats.history import Headline, HistoryEvent, Passage
    from cam.store.reconcile import Version

TopicKey = tuple[MemoryScope, MemoryState, str]

_EMPTY_ADVICE = "the next change writes them back; delete the file if you meant to forget them"

_INDEXES = ("MEMORY.md", "ARCHIVE.md")


class Topic(NamedTuple):
    """One topic file.

    Attributes:
        path: where it is.
        raw: its bytes, None if there is no file.
        file: what it means, None if there is no file.
        edits: what people did to it since cam wrote it, not in the history yet.
    """

    path: str
    raw: bytes | None = None
    file: TopicFile | None = None
    edits: "tuple[Change, ...]" = ()


def read_topic(layout: StoreLayout, key: TopicKey, *, edits: bool = True) -> Topic:
    """Read a topic file.

    Args:
        layout: of the store.
        key: which.
        edits: whether it is asked for what people did to it.

    Raises:
        IntegrityError: not a regular file, or far larger than any memory.
        StoreUnavailableError: the machine refuses.
    """
    return interpret(layout, key, read_topic_bytes(layout.topic_file(*key)), edits=edits)


def interpret(layout: StoreLayout, key: TopicKey, raw: bytes | None, *, edits: bool = True) -> Topic:
    """What ``raw``, the bytes of a topic file, means; ``edits`` as in ``read_topic``.

    A file that is gone while cam knows its records was deleted by hand. One that is suddenly empty is rather
    an accident: its records still hold, with a problem that says so, and the next write brings them back.
    """
    path = layout.topic_file(*key)
    shadow = read_shadow(layout, path)
    if raw is None and shadow is None:
        return Topic(path)
    file = _parse(raw or b"", path, key)
    if raw == shadow or shadow is None:
        return Topic(path, raw, file)
    written = _parse(shadow, path, key)
    if raw is not None and not raw.strip() and written.records:
        problem = Problem(path, 0, "the file is suddenly empty; its records were kept", _EMPTY_ADVICE)
        return Topic(path, raw, written._replace(problems=(problem,)))
    if not edits and file.version in (written.version, None):
        return Topic(path, raw, file)  # edited, or as cam left it: the same records
    if _is_known(layout, key, raw):
        return Topic(path, raw, file)
    from cam.store.reconcile import reconcile  # noqa: PLC0415 - see above

    known = reconcile(file, written, lambda: read_versions(layout, key))
    return Topic(path, raw, known.file, known.edits)


def _is_known(layout: StoreLayout, key: TopicKey, raw: bytes | None) -> bool:
    """Whether cam left the file so, as the history has it: a power cut may bring an old shadow back."""
    from cam.formats.history import last_step  # noqa: PLC0415 - see above
    from cam.store.machine import written_here  # noqa: PLC0415

    name = os.path.relpath(layout.topic_file(*key), layout.scope_folder(key[0]))
    data = read_bytes(layout.history_file(key[0])) or b""
    step = last_step(data, name, written_here(layout.root))
    return step is not None and step.fits(raw)


def homes(layout: StoreLayout, keys: "Iterable[RecordKey]") -> set[TopicKey]:
    """Topic files in which records may stand, whatever their state; none in scopes that are not seen."""
    seen = layout.scopes
    found = {(scope, topic) for scope, topic, _ in keys if scope in seen and is_topic(topic)}
    return {(scope, state, topic) for scope, topic in found for state in MemoryState}


def linking(layout: StoreLayout, name: str) -> set[TopicKey]:
    r"""Topic files in which a record may stand that links to ``name`` (``topic:id``), found by their bytes.

    Those that a person saved over count as cam left them too. Where JSON spells a letter out (``\u…``), the
    name may be spelt so; files that cannot be read are left out.
    """
    wanted = (name.encode(), b"\\u")
    found: set[TopicKey] = set()
    for scope in layout.scopes:
        for state in MemoryState:
            with contextlib.suppress(CamError):
                for topic in topic_names(layout, scope, state):
                    path = layout.topic_file(scope, state, topic)
                    with contextlib.suppress(CamError):
                        data = (read_bytes(path) or b"") + (read_shadow(layout, path) or b"")
                        if any(each in data for each in wanted):
                            found.add((scope, state, topic))
    return found


def topic_names(layout: StoreLayout, scope: MemoryScope, state: MemoryState) -> list[str]:
    """Topics that have a file, sorted."""
    names = list_folder(layout.topics_folder(scope, state))
    return [n[:-3] for n in names if n.endswith(".md") and not n.startswith(".") and n not in _INDEXES]


def quick_headings(layout: StoreLayout, scope: MemoryScope) -> list[tuple[str, str]]:
    """Topic and summary line of each active section in ``scope``, found without reading the records.

    A line in a code fence that looks like a heading is among them; unreadable files are not.
    """
    found: list[tuple[str, str]] = []
    with contextlib.suppress(CamError):
        for topic in topic_names(layout, scope, MemoryState.ACTIVE):
            with contextlib.suppress(CamError):
                data = read_bytes(layout.topic_file(scope, MemoryState.ACTIVE, topic)) or b""
                found += [(topic, line) for line in heading_lines(data)]
    return found


def read_history(layout: StoreLayout, scope: MemoryScope) -> "list[HistoryEvent]":
    """The scope's events, oldest first; lines that cannot be read are left out."""
    from cam.formats.history import parse_history  # noqa: PLC0415 - see above

    return [event for event in parse_history(_history_lines(layout, scope)) if event is not None]


def read_headlines(layout: StoreLayout, scope: MemoryScope) -> "list[Headline]":
    """What the scope's events are about, oldest first: sooner than reading a long history."""
    from cam.formats.history import headline  # noqa: PLC0415 - see above

    return [found for line in _history_lines(layout, scope) if (found := headline(line)) is not None]


def read_passages(layout: StoreLayout, scope: MemoryScope) -> "list[Passage]":
    """What the scope's events did to what holds, oldest first: sooner than reading a long history."""
    from cam.formats.history import passage  # noqa: PLC0415 - see above

    return [found for line in _history_lines(layout, scope) if (found := passage(line)) is not None]


def read_versions(layout: StoreLayout, key: TopicKey) -> "list[Version]":
    """What each commit did to the file, newest first."""
    from cam.formats.history import lines_about, parse_history  # noqa: PLC0415 - see above
    from cam.store.machine import written_here  # noqa: PLC0415
    from cam.store.reconcile import Version  # noqa: PLC0415

    scope, state, topic = key
    steps: dict[str, Version] = {}
    lines = lines_about(read_bytes(layout.history_file(scope)) or b"", topic)
    is_ours = written_here(layout.root)
    for event in parse_history(lines):
        record = None if event is None or not is_ours(event) else event.after or event.before
        if event is None or record is None or record.topic != topic or str(state) not in event.versions:
            continue
        before = event.before if event.before and event.before.state is state else None
        after = event.after if event.after and event.after.state is state else None
        step = steps.get(event.transaction)
        changes = step.changes if step else ()
        steps[event.transaction] = Version(event.versions[str(state)], (*changes, (record.id, before, after)))
    return list(steps.values())[::-1]


def _history_lines(layout: StoreLayout, scope: MemoryScope) -> list[str]:
    return (read_bytes(layout.history_file(scope)) or b"").decode("utf-8", "replace").split("\n")


def _parse(data: bytes, path: str, key: TopicKey) -> TopicFile:
    scope, state, topic = key
    return parse_topic_file(data, path=path, scope=scope, state=state, topic=topic)
