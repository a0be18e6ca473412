"""Hand edits and stale saves: what a topic file means, given what cam wrote there before. Pure.

Every write keeps a shadow of the file, and the history says what each later write changed. So a file that is
not as cam left it can be read:

* It carries the version that cam wrote last: somebody edited it. What differs are their edits, a record
  that is missing was deleted by hand.
* It carries an older version: an editor that had opened that one saved over what came after. What came
  after is put back, and the edits stay.
* It carries none, or one that nobody knows: it is taken as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cam.core.operations import Change, MemoryOperation, OperationKind, doubled
from cam.core.records import MemoryRecord
from cam.formats.topic_file import TopicFile, apply_to_topic_file

EDITED, DELETED, ADDED = "edited by hand", "deleted by hand", "written by hand"
CONFLICT = "edited by hand and by cam at once; both are kept"


@dataclass(frozen=True, slots=True)
class Version:
    """What one commit did to one topic file.

    Attributes:
        after: version afterwards, None if the file went.
        changes: records of the file before and after, by id.
    """

    after: str | None
    changes: tuple[tuple[str, MemoryRecord | None, MemoryRecord | None], ...]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A topic file as it is meant.

    Attributes:
        file: with what a stale save had lost.
        edits: what people did to it, for the history.
    """

    file: TopicFile
    edits: tuple[Change, ...] = ()


def reconcile(
    file: TopicFile, shadow: TopicFile | None, versions: Callable[[], Sequence[Version]]
) -> Reconciled:
    """Read a file that is not as cam left it.

    Args:
        file: as it is now.
        shadow: as cam wrote it last, None if that is not known.
        versions: what was done to the file, newest first; asked for only where an older version is met.
    """
    if shadow is None:
        return Reconciled(file)
    if file.version in (shadow.version, None):
        return Reconciled(file, edits_between(shadow, file))
    steps = versions()
    later = changes_since(steps, str(file.version))
    if not later:
        return Reconciled(file)
    file = _put_back(file, later)
    return Reconciled(file, edits_between(shadow, file) if steps[0].after == shadow.version else ())


def changes_since(versions: Sequence[Version], version: str) -> list[Version] | None:
    """What was done after ``version`` was written, oldest first; None if nobody knows that version.

    Args:
        versions: newest first.
        version: as the file carries it.
    """
    found: list[Version] = []
    for step in versions:
        if step.after == version:
            return found[::-1]
        found.append(step)
    return None


def _put_back(file: TopicFile, later: Sequence[Version]) -> TopicFile:
    """The file with what ``later`` did and it does not hold; where both changed a record, both stay."""
    base: dict[str, MemoryRecord | None] = {}
    wanted: dict[str, MemoryRecord | None] = {}
    for step in later:
        for name, before, after in step.changes:
            base.setdefault(name, before)
            wanted[name] = after
    present = _by_id(file)
    fixes: dict[str, MemoryRecord | None] = {}
    for name, record in wanted.items():
        here = present.get(name)
        if here == record:
            continue
        if here is None or here == base[name]:
            fixes[name] = record
        elif record is not None:
            fixes[_free_id(name, present)] = replace(
                record, id=_free_id(name, present), reason=f"{record.reason}; {CONFLICT}".lstrip("; ")
            )
    return apply_to_topic_file(file, fixes) if fixes else file


def _free_id(name: str, present: Mapping[str, MemoryRecord]) -> str:
    n = 2
    while f"{name}-{n}" in present:
        n += 1
    return f"{name}-{n}"


def _by_id(file: TopicFile) -> dict[str, MemoryRecord]:
    """Records by id; of two with one id the first: a copy stands below."""
    found: dict[str, MemoryRecord] = {}
    for record in file.records:
        found.setdefault(record.id, record)
    return found


def _broken(file: TopicFile) -> int:
    return sum(section.record is None for section in file.sections)


def edits_between(shadow: TopicFile, file: TopicFile) -> tuple[Change, ...]:
    """What people did to the file ``shadow`` that ``file`` is now."""
    before, after = _by_id(shadow), _by_id(file)
    unreadable = _broken(file) > _broken(shadow)
    twice = {key[2] for key in doubled(file.records)}
    edits = []
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old == new or name in twice:  # which of two is meant is not known yet
            continue
        if new is None and unreadable:  # a section that was broken is not one that was deleted
            continue
        if old is None:
            kind, reason = OperationKind.ADD, ADDED
        elif new is None:
            kind, reason = OperationKind.DELETE, DELETED
        else:
            kind, reason = OperationKind.UPDATE, EDITED
        record = new or old
        assert record is not None
        edits.append(Change(MemoryOperation(kind, record, reason, "hand", actor="file"), old, new))
    return tuple(edits)
