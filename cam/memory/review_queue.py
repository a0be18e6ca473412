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
        records: every record, active and archived; looked at only where something waited.
    """
    items: dict[str, Waiting] = {}
    decisions: dict[str, list[AuditEntry]] = {}
    undone: dict[str, str] = {}  # by the undo that did it, also one that was taken back
    for entry in entries:
        for item in entry.waiting:
            items[item.id] = item
        for name in entry.decided:
            decisions.setdefault(name, []).append(entry)
        if entry.undoes:
            undone = {by: what for by, what in undone.items() if by != entry.undoes}
            undone[entry.transaction] = entry.undoes
    gone = frozenset(undone.values())
    decided = {name: how for name, made in decisions.items() if (how := _decision(name, made, gone))}
    active = [r for r in records if r.state is MemoryState.ACTIVE] if items else []
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


def _decision(name: str, made: Sequence[AuditEntry], gone: frozenset[str]) -> str:
    """What holds of the decisions about an item, "" if nothing does.

    An acceptance that found the record there rests on the one that made it.
    """
    if made[-1].decided[name] == REJECTED:
        return REJECTED
    accepted = [entry for entry in made if entry.decided[name] == ACCEPTED]
    makers = [entry for entry in accepted if any(kind == "add" for kind, _ in entry.applied)]
    stand = [entry for entry in makers or accepted if entry.transaction not in gone]
    return ACCEPTED if stand else ""


def _sorted(items: Sequence[Waiting]) -> list[Waiting]:
    newest = sorted(items, key=lambda i: i.at, reverse=True)
    return sorted(newest, key=lambda i: _ORDER.index(i.kind))
