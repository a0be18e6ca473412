"""What waits for a person: suppressed and rejected candidates and proposals, from the audit log. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.records import MemoryRecord, MemoryState
from cam.core.tombstones import normal
from cam.formats.audit import AuditEntry, Waiting

ACCEPTED, REJECTED, REMEMBERED = "accepted", "rejected", "remembered"

LEAST = 4
"""Characters of an id that name it: fewer are a slip of the hand, such as the number of a line."""

_ORDER = ("suppressed", "proposed", "rejected")


@dataclass(frozen=True, slots=True)
class Queue:
    """Everything that was ever not kept, in one of two heaps; nothing is in neither.

    Attributes:
        waiting: what a person may decide: suppressed first, then proposed, then rejected; newest first.
        settled: what needs no decision any more, each with how: ``accepted`` or ``rejected`` by a person, or
            ``remembered``, because a record says it by now.
    """

    waiting: tuple[Waiting, ...] = ()
    settled: tuple[tuple[Waiting, str], ...] = ()

    def find(self, name: str) -> Waiting:
        """The item that ``name`` names: its id, or the beginning of it, ``LEAST`` characters long.

        Raises:
            NotFoundError: nothing has that id.
            InvalidInputError: it is too short, or the beginning of several.
        """
        if len(name) < LEAST:
            raise InvalidInputError(f"{name!r} is too short for an id; 'cam review' lists them")
        every = [*self.waiting, *(item for item, _ in self.settled)]
        found = [item for item in every if item.id.startswith(name.lower())]
        if not found:
            raise NotFoundError(f"nothing waits under the id {name!r}; 'cam review' lists what does")
        if len(found) > 1:
            raise InvalidInputError(f"{name!r} is the beginning of several ids; give more of it")
        return found[0]


def build_queue(entries: Iterable[AuditEntry], records: Iterable[MemoryRecord]) -> Queue:
    """The queue as it stands.

    What was read twice waits once, as it was seen last. An acceptance that was undone waits again.

    Args:
        entries: the audit log, in order.
        records: every record, active and archived.
    """
    items: dict[str, Waiting] = {}
    decided: dict[str, str] = {}
    made: dict[str, tuple[str, ...]] = {}  # refs of the records that acceptances made
    for entry in entries:
        for item in entry.waiting:
            items[item.id] = item
        for name, how in entry.decided.items():
            decided[name] = how
            made[name] = tuple(ref for kind, ref in entry.applied if kind == "add")
        if entry.kind == "undo":
            _follow_undo(entry, decided, made)
    active = [r for r in records if r.state is MemoryState.ACTIVE]
    texts = {normal(r.summary) for r in active}
    sources = {source for r in active for source in r.sources if source.kind == "session"}
    waiting: list[Waiting] = []
    settled: list[tuple[Waiting, str]] = []
    for item in items.values():
        if item.id in decided:
            settled.append((item, decided[item.id]))
        elif not item.target and (normal(item.text) in texts or item.source in sources):
            settled.append((item, REMEMBERED))
        else:
            waiting.append(item)
    return Queue(tuple(_sorted(waiting)), tuple(sorted(settled, key=lambda pair: pair[0].at, reverse=True)))


def _follow_undo(entry: AuditEntry, decided: dict[str, str], made: dict[str, tuple[str, ...]]) -> None:
    gone = {ref for kind, ref in entry.applied if kind == "delete"}
    back = {ref for kind, ref in entry.applied if kind == "add"}
    for name, refs in made.items():
        if refs and gone.issuperset(refs):
            decided.pop(name, None)
        elif refs and back.issuperset(refs):
            decided[name] = ACCEPTED


def _sorted(items: Sequence[Waiting]) -> list[Waiting]:
    newest = sorted(items, key=lambda i: i.at, reverse=True)
    return sorted(newest, key=lambda i: _ORDER.index(i.kind))
