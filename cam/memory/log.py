"""What was taught, corrected and forgotten, change by change. Pure: made from the history's events."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cam.core.operations import OperationKind, Quote
from cam.core.records import MemoryRecord
from cam.formats.history import ARRIVED, Headline, HistoryEvent, headline_of
from cam.memory.take_back import came_from, is_arrival, undo_target, undone_by
from cam.store.attached import TAKEN_ALONG

_WORDS = {
    OperationKind.ADD: "learned",
    OperationKind.UPDATE: "changed",
    OperationKind.DELETE: "deleted",
    OperationKind.ARCHIVE: "forgotten",
    OperationKind.RESTORE: "restored",
    OperationKind.MOVE: "moved",
    OperationKind.PIN: "pinned",
    OperationKind.MERGE: "merged",
    OperationKind.LINK: "linked",
}


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one change did to one record.

    Attributes:
        what: ``learned``, ``corrected``, ``forgotten``, ``deleted``, ``changed``, ``confirmed``, ``moved``,
            ``restored``, ``pinned``, ``merged``, ``linked`` or ``taken along`` (from another project).
        ref: of the record, as it was named then.
        record: as it stood afterwards, or before where it went; None where the predecessor noted no text.
        was: what it replaced, where it stood, or how it read before.
        quotes: the words it rests on.
    """

    what: str
    ref: str
    record: MemoryRecord | None
    was: tuple[MemoryRecord, ...] = ()
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One change: a session that was read, a command, a hand edit, an undo.

    Attributes:
        at: ISO-8601 UTC.
        actor: ``sync``, ``user``, ``file`` (edited by hand), ``git`` (arrived from another machine), or an
            agent's name.
        session: whose words it rests on, "" where it was no session.
        transaction: what undo calls it; "" where there is no way back.
        undoes: the transaction that it took back.
        undone_by: the transaction that took it back.
        lessons: in the order they were made.
        origin: the machines, or the repository, that it arrived from.
        left: how many more there are, of the kind of those that are here.
        came_from: the project, or worktree, whose memory it took along or, as an undo, gave back.
    """

    at: str
    actor: str
    session: str
    transaction: str
    undoes: str
    undone_by: str
    lessons: tuple[Lesson, ...]
    origin: str = ""
    left: int = 0
    came_from: str = ""

    @property
    def can_undo(self) -> bool:
        """Whether ``cam undo`` takes it back."""
        is_final = self.undone_by or (self.undoes and self.came_from)
        return bool(self.transaction) and not is_final and self.actor != "file"


def log(events: Sequence[HistoryEvent]) -> list[LogEntry]:
    """Every change that did something here, newest first.

    What another machine did is told once, as what arrived.

    Args:
        events: of all scopes, oldest first; hand edits among them.
    """
    return [entry for step in steps(map(headline_of, events)) if (entry := step.entry()) is not None]


@dataclass(frozen=True, slots=True)
class LogStep:
    """One change that did something, its events not read yet.

    Attributes:
        headlines: of its events, oldest first.
        undone_by: as ``LogEntry`` has it.
    """

    headlines: Sequence[Headline]
    undone_by: str

    def entry(self, most: int | None = None) -> LogEntry | None:
        """Read it; None where nothing of it can be read.

        Args:
            most: lessons that are wanted of a change that only added, which may be of any size.
        """
        first, kinds = self.headlines[0], {h.kind for h in self.headlines}
        only_adds = kinds == {OperationKind.ADD} or first.reason.startswith(TAKEN_ALONG)
        wanted = self.headlines[:most] if only_adds else self.headlines
        events = [event for headline in wanted if (event := headline.whole()) is not None]
        if not events:
            return None
        lessons = tuple(_lessons(events))
        sessions = (quote.session for event in events for quote in event.quotes if quote.session)
        session = next(sessions, "") or next(_sources(lessons), "") if first.actor == "sync" else ""
        return LogEntry(
            first.at, first.actor, session, first.transaction, undo_target(events), self.undone_by, lessons,
            events[0].reason.removeprefix(ARRIVED) if is_arrival(events[0]) else "",
            len(self.headlines) - len(wanted), came_from(events),
        )  # fmt: skip


def steps(headlines: Iterable[Headline]) -> list[LogStep]:
    """Every change that did something, newest first.

    Args:
        headlines: of the events of all scopes, oldest first; hand edits among them.
    """
    found: dict[tuple[str, str], list[Headline]] = {}
    for number, event in enumerate(headlines):
        if event.applied:
            # Hand edits are noted with the next change, and the predecessor named none: each is told apart.
            hand = "file" if event.actor == "file" else ""
            found.setdefault((event.transaction or f"#{number}", hand), []).append(event)
    undone = undone_by((transaction, step) for (transaction, _), step in found.items())
    made = [
        LogStep(step, "" if hand else undone.get(name, ""))
        for (name, hand), step in found.items()
        if not step[0].machine
    ]
    return sorted(made, key=lambda step: step.headlines[0].at, reverse=True)


def _lessons(step: Sequence[HistoryEvent]) -> Iterable[Lesson]:
    """A record and what it replaced are one lesson; so are the two halves of a move."""
    winners = {_short(event) for event in step if event.kind is not OperationKind.ARCHIVE}
    losers: dict[str, list[HistoryEvent]] = {}
    left: dict[str, list[MemoryRecord]] = {}
    for event in step:
        if event.kind is OperationKind.ARCHIVE and event.replaced_by in winners:
            losers.setdefault(event.replaced_by or "", []).append(event)
        if event.kind is OperationKind.MOVE and event.after is None and event.before is not None:
            left.setdefault(event.before.text, []).append(event.before)
    is_undo = bool(undo_target(step))
    for event in step:
        if event.kind is OperationKind.ARCHIVE and event.replaced_by in winners:
            continue
        if event.kind is OperationKind.MOVE and event.after is None:
            continue
        lost = losers.get(_short(event), [])
        quotes = event.quotes or tuple(quote for e in lost for quote in e.quotes)
        record = event.after or event.before
        if lost:
            what, was = "corrected", [e.before for e in lost if e.before]
        elif event.kind is OperationKind.MOVE:
            what, was = "moved", left.get(record.text, []) if record else []
        else:
            what, was = _what(event), [*_before(event)]
            if is_undo:
                what = {"learned": "restored", "confirmed": "changed"}.get(what, what)
        yield Lesson(what, event.ref, record, tuple(was), quotes)


def _what(event: HistoryEvent) -> str:
    before, after = event.before, event.after
    if event.kind is OperationKind.PIN and after is not None and not after.pinned:
        return "unpinned"
    if event.kind is OperationKind.UPDATE and before is not None and after is not None:
        if before.state is not after.state:
            return "restored" if after.state.value == "active" else "forgotten"
        if before.text == after.text:
            return "confirmed"
    if event.kind is OperationKind.MERGE and before is None:
        return "taken along"
    return _WORDS[event.kind]


def _before(event: HistoryEvent) -> Iterable[MemoryRecord]:
    """How it read before, where it reads otherwise now."""
    before, after = event.before, event.after
    if before is not None and after is not None and before.text != after.text:
        yield before


def _sources(lessons: Iterable[Lesson]) -> Iterator[str]:
    for lesson in lessons:
        for source in lesson.record.sources if lesson.record else ():
            if source.session:
                yield source.session


def _short(event: HistoryEvent) -> str:
    return event.ref.split(":", 2)[-1]
