"""What a rollout says while it is still being read: messages and calls that can change until the file ends.

A text stands twice in a file, and an output comes after its call: both are drafts until their twin or their
output was seen. ``Items`` holds them in order within a bound of memory; a person's own words always stay.
"""

from collections.abc import Iterator

from cam.core.evidence import Provenance, ToolCall
from cam.core.lines import common_start
from cam.formats import rollout_tools as tools

_BUDGET = 2_500_000  # characters of everything but the person's own words
_ITEM_COST = 500  # what an item weighs besides its text
_REMEMBER = 4096  # calls and lines that can still be completed or repeated, at least
_MOST_PAIRS = 256
_MOST_PROCESSES = 256
_ENDS_OF_LINE = 256


class TextDraft:
    """A message.

    Attributes:
        state: typed, open, event, paired, or foreign: the prompt of another thread.
        key: what two writings of the same words have in common; while it waits for its twin.
    """

    __slots__ = ("at", "cwd", "key", "kind", "line", "replayed", "state", "text", "turn", "turn_no", "who")

    def __init__(self, who: Provenance, text: str, kind: str, line: int, state: str) -> None:
        self.who = who
        self.text = text
        self.kind = kind
        self.line = line
        self.state = state
        self.key = ""
        self.turn: str | None = None
        self.turn_no = 0
        self.cwd: str | None = None
        self.at = ""
        self.replayed = False

    @property
    def is_typed(self) -> bool:
        """Whether it stands in the user's role."""
        return self.who is Provenance.USER

    @property
    def can_go(self) -> bool:
        """Whether it may be dropped whole; what was injected is kept, for the receipt."""
        return self.who is Provenance.ASSISTANT or self.kind in ("environment", "agents_md", "notice")

    @property
    def weight(self) -> int:
        """Characters that it holds, and its own cost; nothing for what is kept in any case."""
        return _ITEM_COST + len(self.text) if self.can_go else 0

    def shorten(self) -> None:
        """Keep less of what is old."""
        if self.who is Provenance.ASSISTANT:
            self.text = tools.shorten(self.text, 300)

    def drop(self) -> None:
        """It is left out."""


class CallDraft:
    """A tool call.

    Attributes:
        from_item: known from an item alone so far.
        settled: its output was seen.
        dropped: what still comes for it is not wanted.
    """

    __slots__ = (
        "at", "call", "cwd", "dropped", "exit_code", "from_item", "line", "output", "replayed", "settled",
        "turn",
    )  # fmt: skip

    def __init__(self, call: tools.Call, line: int, *, from_item: bool) -> None:
        self.call = call
        self.line = line
        self.from_item = from_item
        self.settled = False
        self.dropped = False
        self.output = ""
        self.exit_code: int | None = None
        self.turn: str | None = None
        self.cwd: str | None = None
        self.at = ""
        self.replayed = False

    @property
    def can_go(self) -> bool:
        """Whether it may be dropped whole."""
        return True

    @property
    def weight(self) -> int:
        """Characters that it holds, and its own cost."""
        return _ITEM_COST + len(self.output) + len(self.call.command or "") + len(self.call.input)

    def shorten(self) -> None:
        """Keep less of what is old."""
        self.output = tools.shorten(self.output, 150)
        call = self.call
        command = tools.shorten(call.command, 300) if call.command else call.command
        self.call = call._replace(command=command, input=tools.shorten(call.input, 150))

    def drop(self) -> None:
        """Hold nothing any more."""
        self.dropped = True
        self.call = tools.Call(self.call.name)
        self.output = ""

    def as_said(self, number: int) -> ToolCall:
        """The call as evidence, behind the user message of that number."""
        call = self.call
        return ToolCall(
            name=call.name,
            command=call.command or None,
            input=call.input,
            output=self.output,
            exit_code=self.exit_code,
            cwd=call.cwd or self.cwd,
            files=call.files,
            ordinal=number,
            line=self.line,
            turn=self.turn,
            at=self.at,
        )


Draft = TextDraft | CallDraft


class Items:
    """Drafts in order, within a bound: what is old is shortened first, then dropped."""

    def __init__(self) -> None:
        self._drafts: list[Draft] = []
        self._weight = 0
        self._limit = _BUDGET
        self._shortened = 0

    def __iter__(self) -> Iterator[Draft]:
        return iter(self._drafts)

    def __len__(self) -> int:
        return len(self._drafts)

    def typed(self) -> Iterator[TextDraft]:
        """The texts in the user's role."""
        return (draft for draft in self._drafts if isinstance(draft, TextDraft) and draft.is_typed)

    def add(self, draft: Draft) -> int:
        """Add the next one.

        Returns:
            How many old ones were dropped for it.
        """
        self._drafts.append(draft)
        return self.grow(draft.weight)

    def grow(self, more: int) -> int:
        """One of them holds ``more`` characters now.

        Returns:
            How many old ones were dropped for it.
        """
        self._weight += more
        return self._thin() if self._weight > self._limit else 0

    def _thin(self) -> int:
        goal = _BUDGET * 2 // 3
        weight = sum(draft.weight for draft in self._drafts)
        newest = len(self._drafts) * 9 // 10
        while weight > goal and self._shortened < newest:
            draft = self._drafts[self._shortened]
            before = draft.weight
            draft.shorten()
            weight -= before - draft.weight
            self._shortened += 1
        dropped = 0
        if weight > goal:
            kept: list[Draft] = []
            for place, draft in enumerate(self._drafts):
                if weight > goal and place < newest and draft.can_go:
                    weight -= draft.weight
                    dropped += 1
                    draft.drop()
                else:
                    kept.append(draft)
            self._shortened -= dropped
            self._drafts = kept
        self._weight = weight
        self._limit = max(_BUDGET, weight * 3 // 2)
        return dropped


class Pairs:
    """Texts that wait for their twin in the other channel."""

    __slots__ = ("_last", "_last_channel", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], list[TextDraft]] = {}
        self._last: TextDraft | None = None
        self._last_channel = ""

    def wait(self, draft: TextDraft, channel: str) -> None:
        """Note a text whose twin may still come."""
        draft.key = draft.text.strip()
        self._waiting.setdefault((channel, draft.key), []).append(draft)
        if len(self._waiting) > _MOST_PAIRS:
            self._waiting.pop(next(iter(self._waiting)))
        self._last, self._last_channel = draft, channel

    def answer(self, text: str, channel: str) -> TextDraft | None:
        """The text of ``channel`` that this one repeats: the same words, or nearly so and a neighbour."""
        key = text.strip()
        waiting = self._waiting.get((channel, key))
        if waiting:
            draft = waiting.pop(0)
            if not waiting:
                del self._waiting[channel, key]
        elif self._last is not None and self._last_channel == channel and _nearly(self._last.key, key):
            draft = self._last
            twins = self._waiting.get((channel, draft.key), [])
            if draft in twins:
                twins.remove(draft)
        else:
            return None
        if draft is self._last:
            self._last = None
        return draft

    def part(self) -> None:
        """Something else came between: the next text is no neighbour."""
        self._last = None


class Calls:
    """Calls that can still be completed, by their id, and processes that still run, by theirs."""

    __slots__ = ("_new", "_old", "_processes")

    def __init__(self) -> None:
        self._new: dict[str, CallDraft] = {}
        self._old: dict[str, CallDraft] = {}
        self._processes: dict[str, CallDraft] = {}

    def add(self, name: str, draft: CallDraft) -> None:
        """Note a call; of those before the newest ``_REMEMBER`` the oldest are forgotten."""
        self._new[name] = draft
        if len(self._new) > _REMEMBER:
            self._old, self._new = self._new, {}

    def get(self, name: object) -> CallDraft | None:
        """The call of that id."""
        return (self._new.get(name) or self._old.get(name)) if isinstance(name, str) else None

    def run(self, process: str, draft: CallDraft) -> None:
        """The call's process goes on and may print more."""
        self._processes[process] = draft
        if len(self._processes) > _MOST_PROCESSES:
            self._processes.pop(next(iter(self._processes)))

    def of_process(self, process: str | None) -> CallDraft | None:
        """The call that started a process."""
        return None if process is None else self._processes.get(process)

    def runs(self, draft: CallDraft) -> bool:
        """Whether the call's process may print more."""
        return draft in self._processes.values()


class Repeats:
    """What stands in a file twice: lines that a crash or a copy doubled, and messages of a copied history."""

    __slots__ = ("_last", "_new", "_old", "_said")

    def __init__(self) -> None:
        self._new: set[int] = set()
        self._old: set[int] = set()
        self._said: set[int] = set()
        self._last = (0, 0)

    def line(self, line: bytes, number: int, *, timed: bool) -> bool:
        """Whether this very line was read before.

        Args:
            line: the line.
            number: its number in the file.
            timed: it has a time. Without, "continue" may well be said twice, but not with no line between.
        """
        mark = hash(line[:_ENDS_OF_LINE] + line[-_ENDS_OF_LINE:]) ^ len(line)
        if not timed:
            repeated = self._last == (mark, number - 1)
            self._last = (mark, number)
            return repeated
        repeated = mark in self._new or mark in self._old
        self._new.add(mark)
        if len(self._new) > _REMEMBER:
            self._old, self._new = self._new, set()
        return repeated

    def message(self, channel: str, where: str, text: str) -> bool:
        """Whether the file holds this message of this turn already: some resumes copy the whole history."""
        mark = hash((channel, where, text))
        if mark in self._said:
            return True
        self._said.add(mark)
        return False


def squeezed(text: str) -> str:
    """The words alone, without white space."""
    return "".join(text[:4096].split())


def _nearly(one: str, other: str) -> bool:
    """Whether two neighbours in two channels are the same words: one holds the other, or most is alike."""
    one, other = squeezed(one), squeezed(other)
    if not one or not other or one in other or other in one:
        return bool(one and other)
    alike = common_start(one, other) + common_start(one[::-1], other[::-1])
    return 2 * alike >= max(len(one), len(other))
