"""Timeline: how a record came to be what it is, and what was written around it. Pure."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.records import MemoryRecord, MemoryRef, MemoryState, is_valid_at
from cam.core.times import instant, sortable
from cam.recall.cards import PathOf, card, screened, shown
from cam.recall.request import TimelineRequest
from cam.recall.result import Shown, Timeline
from cam.recall.source import Moment, Searchable, moment_of
from cam.store.story import Step, Story

StoryOf = Callable[[MemoryRef], Story]
"""Everything that is known of a record; raises ``NotFoundError`` where nothing is."""


def timeline(
    source: Searchable, request: TimelineRequest, *, now: str, path_of: PathOf, story_of: StoryOf
) -> Timeline:
    """A record's life and its neighbours in time, or what stands around a date.

    Args:
        source: where neighbours are looked for.
        request: what is asked.
        now: ISO-8601 UTC; neighbours that do not hold then are left out.
        path_of: a record's file, for its card.
        story_of: tells the life of a record.

    Raises:
        InvalidInputError: the request is out of bounds.
        NotFoundError: the anchor is no date, and nothing is known of it or it does not hold now.
    """
    request.check()
    anchor = _anchor(request.anchor, now, story_of)
    ref, moment = anchor.ref, anchor.moment
    states = {"auto": None if anchor.is_archived else MemoryState.ACTIVE, "all": None}
    state = states[request.state] if request.state in states else MemoryState(request.state)
    chosen = source.select(state, request.filters, now)
    # The anchor is the first from its own moment on: it does not count among those after it.
    numbers = chosen.around(moment, request.before, request.after + (ref is not None))
    found = [chosen.found(number) for number in numbers]
    if ref is not None and not any(str(record.ref) == ref for record, _ in found):
        after = [each for each in found if moment_of(each[0]) > moment]
        found = found[: len(found) - len(after)] + after[: request.after]
    begin = (request.page - 1) * request.page_size
    seen = [shown(each, path_of) for each in found[begin : begin + request.page_size]]
    life = _Life(path_of)
    return Timeline(
        ref,
        anchor.date,
        tuple(life.step(step) for step in anchor.steps),
        tuple(map(card, seen)),
        len(found),
        request.page,
        request.page_size,
        tuple(source.problems),
        sum(each.cut for each in seen) + life.cut,
        sum(each.masked for each in seen) + life.masked,
    )


class _Anchor(NamedTuple):
    ref: str | None
    date: str
    moment: Moment
    steps: tuple[Step, ...] = ()
    is_archived: bool = False


def _anchor(text: str, now: str, story_of: StoryOf) -> _Anchor:
    """What a timeline is laid around.

    Raises:
        NotFoundError: no date, and nothing is known of it or it does not hold now.
    """
    if not MemoryRef.looks_like(text):
        try:
            return _Anchor(None, text, (instant(text), ""))
        except InvalidInputError as error:
            advice = "or a ref such as project:active:commands:run-tests-1a2b3c"
            raise NotFoundError(f"{error}; {advice}") from None
    told = story_of(MemoryRef.parse(text))
    record = told.record or told.last
    if told.record is not None and not is_valid_at(told.record, now):
        raise NotFoundError(f"{told.ref} does not hold now; 'cam memory show' shows it all the same")
    date = record.created_at if record else told.steps[0].event.at
    is_archived = told.record is not None and told.record.state is MemoryState.ARCHIVED
    return _Anchor(told.ref, date, (sortable(date), told.ref), told.steps, is_archived)


class _Life:
    """Makes the texts of events fit to be seen; each text is looked at once."""

    def __init__(self, path_of: PathOf) -> None:
        self._path_of = path_of
        self._seen: dict[tuple[str, str], Shown] = {}
        self.cut = self.masked = 0

    def step(self, step: Step) -> Step:
        """One event."""
        event = step.event
        quotes = tuple(replace(q, text=self._text(q.text)) for q in event.quotes)
        event = replace(
            event,
            reason=self._text(event.reason),
            before=self._record(event.before),
            after=self._record(event.after),
            quotes=quotes,
        )
        return step._replace(event=event)

    def _text(self, text: str) -> str:
        return screened(text)[0] if text else text

    def _record(self, record: MemoryRecord | None) -> MemoryRecord | None:
        if record is None:
            return None
        key = (record.text, record.reason)
        if key not in self._seen:
            self._seen[key] = seen = shown((record, False), self._path_of)
            self.cut, self.masked = self.cut + seen.cut, self.masked + seen.masked
        text = self._seen[key].record
        return replace(record, summary=text.summary, details=text.details, reason=text.reason)
