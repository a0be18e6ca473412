"""Where a fork's repeated history ends and its own begins.

Forks up to 0.147, and sub-agents, repeat their parent's lines behind their own header. Depending on the
release the lines keep their times or get new ones, and turns have ids that hold their time (UUID version 7)
or none. In this order of trust: ids of threads, times of turn ids, times of lines, and at last a pause in the
writing, which is a guess, because history is written in one go and a person needs a moment.
"""

import re
from typing import Any

from cam.core.evidence import RolloutMeta

_PAUSE = 1000  # milliseconds between two lines that one program does not write in one go
_V7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_TIME = re.compile(r"(\d{4}-\d\d-)(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?")


class Replay:
    """Watches the lines behind a parent's header.

    Attributes:
        parent: the session that is repeated.
        active: the lines read now are the parent's.
        is_a_guess: nothing but a pause, or nothing at all, told where they end.
    """

    def __init__(self, own: RolloutMeta, parent: str, at: str) -> None:
        self.parent = parent
        self.active = True
        self.is_a_guess = True
        self._session = own.session
        self._born_ms = _v7_time(own.session)
        self._born = own.started_at
        self._kept_times = bool(self._born) and _before(at, self._born)
        self._last = at

    @property
    def is_over(self) -> bool:
        """Whether the repeated lines have ended for sure: nothing that follows can say otherwise."""
        return not self.active and not self.is_a_guess

    def see_time(self, at: str) -> None:
        """Weigh a line's time."""
        if not self.active or not at:
            return
        if self._born and _before(at, self._born):
            self._kept_times = True
        elif self._kept_times:
            self._end(sure=True)
        elif _gap(self._last, at) >= _PAUSE:
            self._end(sure=False)
        self._last = at

    def see_turn(self, turn: str | None) -> None:
        """Weigh a turn's id."""
        time = _v7_time(turn) if turn else None
        if time is None or self._born_ms is None:
            return
        if time >= self._born_ms:
            self._end(sure=True)
        elif not self.active and self.is_a_guess:
            self.active = True  # the pause was one in the writing of the history

    def see_record(self, payload: dict[str, Any]) -> None:
        """Weigh what a record says of its thread and turn."""
        thread = payload.get("thread_id")
        if isinstance(thread, str) and thread in (self._session, self.parent):
            if thread == self._session:
                self._end(sure=True)
            return
        said = payload.get("internal_chat_message_metadata_passthrough")
        turn = payload.get("turn_id") or (said.get("turn_id") if isinstance(said, dict) else None)
        if isinstance(turn, str):
            self.see_turn(turn)

    def _end(self, *, sure: bool) -> None:
        if self.active or sure:
            self.active = False
            self.is_a_guess = not sure


def _v7_time(name: str) -> int | None:
    """Milliseconds since 1970 in a UUID of version 7."""
    found = _V7.fullmatch(name)
    return int(found[1] + found[2], 16) if found else None


def _before(one: str, other: str) -> bool:
    """Whether a time stands before another, both in UTC."""
    return bool(one) and one.rstrip("Z") < other.rstrip("Z")


def _gap(one: str, other: str) -> int:
    """Milliseconds from one time to the next; large where the month changes."""
    first, second = _TIME.match(one), _TIME.match(other)
    if first is None or second is None:
        return 0
    if first[1] != second[1]:
        return _PAUSE
    return _of_month(second) - _of_month(first)


def _of_month(time: "re.Match[str]") -> int:
    day, hour, minute, second = (int(time[n]) for n in (2, 3, 4, 5))
    return ((day * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + int((time[6] or "0").ljust(3, "0"))
