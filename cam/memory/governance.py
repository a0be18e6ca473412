"""What an agent may do to memory: add, or say again what is known; never overturn what a person said. Pure.

Where an item contradicts what is remembered, might, or was taken out by a person, it is not written: it waits
for them. A change to an instruction file may add and replace, but take nothing away that matters.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cam.core.records import MemoryRecord, MemoryState
from cam.core.tombstones import tombstone_key

MOST_LOST = 1
"""Lines that a change to an instruction file may take away on balance."""

_MOST_PAIRS = 10_000  # lines that went against lines that came, for those that grew


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an item stands to what is remembered.

    Attributes:
        known: the record that says it already.
        against: active records that it contradicts, or might.
        reason: short name of why it may not be written, "" if it may.
    """

    known: MemoryRecord | None = None
    against: tuple[MemoryRecord, ...] = ()
    reason: str = ""


def judge(summary: str, records: Sequence[MemoryRecord], tombstones: Mapping[str, str]) -> Verdict:
    """Whether an agent may add ``summary``.

    Every scope counts: what holds for a project alone would go before what holds everywhere.

    Args:
        summary: the fact.
        records: all that can be seen, active and archived.
        tombstones: what a person took out or corrected (``cam.core.tombstones``).
    """
    from cam.language.claims import claim  # noqa: PLC0415 - language data cost 30 ms
    from cam.language.relations import Relation, clues, is_near, relation  # noqa: PLC0415

    mine = claim(summary)
    words = clues(mine)
    found: dict[Relation, list[MemoryRecord]] = {}
    gone = False
    for record in records:
        if not is_near(words, record.summary):
            continue
        how = relation(mine, claim(record.summary))
        if record.state is MemoryState.ACTIVE:
            found.setdefault(how, []).append(record)
        else:
            gone = gone or how is Relation.SAME
    for how, reason in ((Relation.CONTRADICTS, "agent-contradicts"), (Relation.UNCERTAIN, "uncertain")):
        if found.get(how):
            return Verdict(against=tuple(found[how]), reason=reason)
    for how in (Relation.SAME, Relation.NARROWER):
        if found.get(how):
            return Verdict(known=found[how][0])
    if gone or tombstone_key(summary) in tombstones:
        return Verdict(reason="agent-taken-out")
    return Verdict()


def why_it_erodes(before: str, after: str) -> str:
    """Why a change to an instruction file takes too much away, "" if it does not.

    Lines that say something are counted, at any size of the file. A line stays where it is kept or grew: half
    of them must, and no more than ``MOST_LOST`` may be lost on balance.
    """
    old, new = _lines(before), _lines(after)
    gone, come = list((old - new).elements()), list((new - old).elements())
    if len(gone) * len(come) <= _MOST_PAIRS:
        gone = [line for line in gone if not any(line in longer for longer in come)]
    count = old.total()
    if len(gone) * 2 > count:
        return f"{count - len(gone)} of {count} lines would stay"
    if count - new.total() > MOST_LOST:
        return f"it takes {count - new.total()} lines away"
    return ""


def _lines(text: str) -> Counter[str]:
    return Counter(line.strip() for line in text.split("\n") if line.strip())
