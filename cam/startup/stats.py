"""What memory cost and what it was good for, from receipts, use and what is remembered now. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cam.core.candidates import Candidate
from cam.formats.receipts import InjectionReceipt
from cam.startup.use import RecordUse

OFTEN = 5
"""Sessions that were told a record without a sign of use, from which on it is named."""


@dataclass(frozen=True, slots=True)
class Used:
    """A record and how often it was of use.

    Attributes:
        ref: ``scope:active:topic:id``.
        text: as it is told, "" where it may not be or is not remembered any more.
    """

    ref: str
    text: str
    use: RecordUse


@dataclass(frozen=True, slots=True)
class Stats:
    """What ``cam stats`` says.

    Attributes:
        sessions: that were told something, or should have been.
        arrived: of those, in which it arrived.
        missed: in which it did not: reason and count, the most frequent first.
        unknown: in which there was nothing to tell, or nothing to read it from.
        tokens: estimated, of all that arrived.
        last: the newest receipt that says whether it arrived.
        records: active records.
        told: of those, told at least once.
        repeated: rules that the user repeated though they had been told, the most often repeated first.
        useful: records that were recalled or cited, the most often first.
        unused: told in many sessions and never recalled, cited or repeated, the most often told first.
        never_told: refs of records that no session was told.
    """

    sessions: int
    arrived: int
    missed: tuple[tuple[str, int], ...]
    unknown: int
    tokens: int
    last: InjectionReceipt | None
    records: int
    told: int
    repeated: tuple[Used, ...]
    useful: tuple[Used, ...]
    unused: tuple[Used, ...]
    never_told: tuple[str, ...]


def stats_of(
    receipts: Iterable[InjectionReceipt],
    use: Mapping[str, RecordUse],
    candidates: Sequence[Candidate],
    text_of: Callable[[Candidate], str],
) -> Stats:
    """Sum up.

    Args:
        receipts: of this project, oldest first.
        use: by key ``scope:topic:id``.
        candidates: what is remembered now.
        text_of: a record as it is told; asked for only those that are named.
    """
    rows = list(receipts)
    known = [r for r in rows if r.arrived is not None]
    missed = Counter(r.reason for r in known if not r.arrived)
    held = {c.key: c for c in candidates}

    def named(keys: Iterable[str]) -> tuple[Used, ...]:
        return tuple(Used(str(held[k].ref), text_of(held[k]), use[k]) for k in keys)

    counted = [key for key in sorted(held) if key in use]
    return Stats(
        sessions=len({r.session for r in known}),
        arrived=sum(bool(r.arrived) for r in known),
        missed=tuple(sorted(missed.items(), key=lambda row: (-row[1], row[0]))),
        unknown=len(rows) - len(known),
        tokens=sum(r.tokens for r in known if r.arrived),
        last=known[-1] if known else None,
        records=len(held),
        told=sum(use[key].shown > 0 for key in counted),
        repeated=named(_most(counted, lambda key: use[key].repeated)),
        useful=named(_most(counted, lambda key: use[key].recalled + use[key].cited)),
        unused=named(_most(counted, lambda key: 0 if use[key].last_used else use[key].shown, OFTEN)),
        never_told=tuple(str(c.ref) for key, c in held.items() if not (key in use and use[key].shown)),
    )


def _most(keys: Iterable[str], count: Callable[[str], int], least: int = 1) -> list[str]:
    """The keys that count at least ``least``, the highest first."""
    found = [key for key in keys if count(key) >= least]
    return sorted(found, key=lambda key: (-count(key), key))
