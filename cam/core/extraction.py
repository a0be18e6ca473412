"""What extraction and review hand on: candidates, rejections, conflicts."""

from dataclasses import dataclass
from enum import StrEnum

from cam.core.evidence import Provenance
from cam.core.operations import MemoryOperation, Quote
from cam.core.records import MemoryRecord, MemoryScope, RecordType, Source


class SpeechAct(StrEnum):
    """What a clause does. The first group may become memory."""

    RULE = "rule"
    FACT = "fact"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    FORGET = "forget"
    CONFIRMATION = "confirmation"
    OBSERVATION = "observation"  # a command that ran and succeeded

    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    HEDGE = "hedge"
    NEGATED = "negated"  # "you need not remember …"
    REPORTED = "reported"
    QUOTATION = "quotation"
    TASK = "task"
    TEMPORARY = "temporary"
    SMALL_TALK = "small_talk"


class ExtractionPolicy(StrEnum):
    """What happens to a text before extraction."""

    KEEP = "keep"
    IGNORE = "ignore"
    REDACT = "redact"


def policy_of(who: Provenance) -> ExtractionPolicy:
    """What happens to a text, by whose it is.

    A person's words are read once secrets and private spans are out; an assistant's are kept beside them,
    because a person may agree; of anybody else nothing is read.
    """
    if who is Provenance.USER:
        return ExtractionPolicy.REDACT
    return ExtractionPolicy.KEEP if who is Provenance.ASSISTANT else ExtractionPolicy.IGNORE


class ConflictResolver(StrEnum):
    """What review does with a candidate that is about something known."""

    DEDUPE = "dedupe"
    CORRECT = "correct"
    OVERWRITE = "overwrite"
    ARCHIVE = "archive"


RESOLVERS = {
    "restatement": ConflictResolver.DEDUPE,
    "narrower": ConflictResolver.DEDUPE,
    "wider": ConflictResolver.OVERWRITE,
    "corrected": ConflictResolver.CORRECT,
    "forgotten": ConflictResolver.ARCHIVE,
}
"""By the name of the rule that decided (``cam.sync.review``); stands in the audit line."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that may become a record, in the person's own words.

    Attributes:
        act: RULE, FACT, PREFERENCE, CORRECTION, CONFIRMATION or OBSERVATION; decides what it may overturn.
        at: when it was said, ISO-8601 UTC; the later of two wins.
        source: names the statement.
        quotes: the words it rests on, at least one.
        denies: the value the speaker says is no longer so ("not 3000" → ``("3000",)``).
        type: what kind of note it is; an agent says so, as the next three.
        valid_from: as in ``MemoryRecord``.
        valid_until: likewise.
        related: likewise.
    """

    scope: MemoryScope
    topic: str
    summary: str
    act: SpeechAct
    at: str
    source: Source
    quotes: tuple[Quote, ...]
    details: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    rule: str = ""
    type: RecordType = RecordType.MEMORY
    valid_from: str | None = None
    valid_until: str | None = None
    related: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.quotes:
            raise ValueError("a candidate rests on at least one quote")


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """The person asks that something no longer be remembered.

    Attributes:
        target: their words for it.
    """

    target: str
    at: str
    source: Source
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Something that looked durable and was not kept.

    Attributes:
        text: the words, secrets masked.
        reason: short name (``question``, ``temporary``, ``secret`` …).
        candidate: what it would have become, where it came so far.
    """

    text: str
    reason: str
    quote: Quote | None = None
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A candidate that may not overturn what is known: suppressed, left to a person.

    Attributes:
        candidate: what was said.
        records: what it conflicts with.
        reason: why it did not win.
    """

    candidate: Candidate
    records: tuple[MemoryRecord, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor finds in one session, in order.

    Attributes:
        extractor: what found it; ``heuristic`` also where another one fell back to it.
        fallback_reason: why another one did, or what it left to the heuristic one; "" otherwise.
    """

    items: tuple[Candidate | ForgetRequest, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    extractor: str = "heuristic"
    fallback_reason: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """What review decided about an extraction, given the records known."""

    operations: tuple[MemoryOperation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    rejections: tuple[Rejection, ...] = ()
