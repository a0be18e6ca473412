"""Contradiction review: from what an extractor found to operations on what is known.

Rules, in the order in which they are asked (their names stand in the audit line):

``known-source``   the statement was read before: nothing.
``tombstone``      a person deleted or corrected this after it was said: nothing.
``restatement``    it is known already: noop.
``narrower``       a longer record says it already: noop.
``wider``          it says what a record says and more: the record takes the longer form.
``older``          it contradicts a record that is newer: suppressed.
``passing``        a passing mention, an agreement or a command that ran contradicts a record: suppressed.
``uncertain``      it corrects something, but several records could be meant: suppressed.
``corrected``      it contradicts a record and wins: the record is archived, linked to what replaced it.
``new``            none of these: added.
``forgotten``, ``nothing-to-forget``, ``forget-unclear``   for a request to forget.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from cam.core.extraction import Candidate, Conflict, Extraction, ForgetRequest, Rejection, Review, SpeechAct
from cam.core.operations import MemoryOperation, OperationKind
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, Source, new_id
from cam.core.times import stamp
from cam.core.tombstones import tombstone_key
from cam.sync import candidates, observations
from cam.sync.claims import Claim, claim, terms
from cam.sync.lexicon import spoken_in

_FORGET_MOST = 5
_STRONG = frozenset({SpeechAct.RULE, SpeechAct.PREFERENCE, SpeechAct.CORRECTION})


class Relation(StrEnum):
    """How a candidate stands to a record."""

    SAME = "same"
    NARROWER = "narrower"
    WIDER = "wider"
    CONTRADICTS = "contradicts"
    UNCERTAIN = "uncertain"
    NONE = "none"


def review(
    extraction: Extraction, records: Sequence[MemoryRecord], tombstones: Mapping[str, str] | None = None
) -> Review:
    """Decide what ``extraction`` does to ``records``.

    Args:
        extraction: candidates and requests, in the order in which they were said.
        records: every record known, active and archived.
        tombstones: ``tombstone_key`` of a summary that a person deleted or corrected, and when (ISO-8601).

    Returns:
        Operations in order; candidates that may not overturn what is known, as conflicts; the extraction's
        rejections and those made here. Reviewing the same extraction again, after its operations were
        carried out, gives no operation that changes anything.
    """
    desk = _Desk(records, tombstones or {})
    for item in extraction.items:
        if isinstance(item, ForgetRequest):
            desk.forget(item)
        else:
            desk.weigh(item)
    return Review(tuple(desk.operations), tuple(desk.conflicts), (*extraction.rejections, *desk.rejections))


def relation(candidate: Claim, record: Claim, *, corrects: bool = False) -> Relation:
    """How what ``candidate`` claims stands to what ``record`` claims."""
    if candidate.key == record.key:
        return Relation.SAME
    if _flips(candidate, record, corrects=corrects):
        return Relation.CONTRADICTS
    denied = _denies(candidate, record)
    if denied is not Relation.NONE:
        return denied
    if _differs_in_value(candidate, record, corrects=corrects):
        return Relation.CONTRADICTS
    return _covers(candidate, record)


class _Desk:
    """The records as the decisions made so far leave them."""

    def __init__(self, records: Sequence[MemoryRecord], tombstones: Mapping[str, str]) -> None:
        self.state: dict[tuple[str, str, str], MemoryRecord] = {r.key: r for r in records}
        self.tombstones = {key: stamp(at) for key, at in tombstones.items()}
        self.read = {_name(s) for r in records for s in r.sources if s.kind == "session"}
        self.restated: dict[tuple[str, str, str], list[Source]] = {}
        self.operations: list[MemoryOperation] = []
        self.conflicts: list[Conflict] = []
        self.rejections: list[Rejection] = []

    # -- candidates ----------------------------------------------------------------------------------------

    def weigh(self, candidate: Candidate) -> None:
        """Decide what one candidate does."""
        name = _name(candidate.source)
        if name in self.read:
            return
        self.read.add(name)
        buried = self.tombstones.get(tombstone_key(candidate.summary))
        if buried is not None and candidate.at <= buried:
            self._reject(candidate, "tombstone")
            return
        if candidate.act is SpeechAct.OBSERVATION:
            self._observe(candidate)
            return
        mine = claim(candidate.summary, candidate.denies)
        corrects = candidate.act is SpeechAct.CORRECTION
        found: dict[Relation, list[MemoryRecord]] = {}
        for record in self._near(mine, candidate):
            how = relation(mine, claim(record.summary), corrects=corrects)
            if (
                how in (Relation.CONTRADICTS, Relation.UNCERTAIN, Relation.WIDER)
                and record.scope != candidate.scope
            ):
                continue  # one scope's rule is no exception to another's
            if how is not Relation.NONE:
                found.setdefault(how, []).append(record)
        self._settle(candidate, mine, found)

    def _settle(
        self, candidate: Candidate, mine: Claim, found: Mapping[Relation, list[MemoryRecord]]
    ) -> None:
        losers = found.get(Relation.CONTRADICTS, [])
        known = [*found.get(Relation.SAME, []), *found.get(Relation.NARROWER, [])]
        if losers:
            why_not = _why_not(candidate, losers)
            if why_not is not None:
                self.conflicts.append(Conflict(candidate, tuple(losers), why_not))
                return
            losers = [r for r in losers if r.state is MemoryState.ACTIVE]
        elif found.get(Relation.UNCERTAIN) and not known:
            self.conflicts.append(Conflict(candidate, tuple(found[Relation.UNCERTAIN]), "uncertain"))
            return
        if known:
            rule = "restatement" if found.get(Relation.SAME) else "narrower"
            self._noop(candidate, known[0], rule)
            self._retire(losers, known[0], candidate)
            return
        wider = [
            r
            for r in found.get(Relation.WIDER, [])
            if r.updated_at <= candidate.at and not r.pinned and r.state is MemoryState.ACTIVE
        ]
        if wider and candidate.act in _STRONG:
            self._widen(candidate, wider[0], losers)
            return
        if self._superseded(candidate, mine):
            self._reject(candidate, "superseded")
            return
        self._add(candidate, losers)

    def _near(self, mine: Claim, candidate: Candidate) -> list[MemoryRecord]:
        """Records that held when it was said and share a word with it, or a family of tools."""
        clues = {w[:5] for w in (*mine.words, *mine.denied) if len(w) > 1}
        clues |= {w.lower() for w in mine.denials}
        for family in mine.tools:
            clues |= candidates.family(family)
        scopes = (candidate.scope, MemoryScope.GLOBAL)
        return [
            r
            for r in self.state.values()
            if _held_then(r, candidate.at)
            and r.scope in scopes
            and any(c in r.summary.lower() for c in clues)
        ]

    def _superseded(self, candidate: Candidate, mine: Claim) -> bool:
        """Whether this very claim was archived after it was said."""
        return any(
            r.state is MemoryState.ARCHIVED
            and r.updated_at > candidate.at
            and claim(r.summary).key == mine.key
            for r in self.state.values()
            if r.scope == candidate.scope
        )

    def _observe(self, candidate: Candidate) -> None:
        command = _command(candidate.summary)
        mine = observations.signature(command)
        for record in self.state.values():
            if not _held_then(record, candidate.at) or "`" not in record.summary:
                continue
            for span in _SPANS.findall(record.summary):
                if span == command or (mine is not None and observations.signature(span) == mine):
                    self._noop(candidate, record, "restatement")
                    return
        rivals = tuple(
            r
            for r in self.state.values()
            if _held_then(r, candidate.at)
            and not r.reason.startswith(_RAN)
            and mine is not None
            and any(kind == mine[0] for span in _SPANS.findall(r.summary) for kind in _kinds(span))
        )
        if rivals:
            self.conflicts.append(Conflict(candidate, rivals, "passing"))
        else:
            self._add(candidate, [])

    # -- requests to forget --------------------------------------------------------------------------------

    def forget(self, request: ForgetRequest) -> None:
        """Archive what the request names, if it names it well enough."""
        wanted = set(terms(request.target))
        hits = [
            r
            for r in self.state.values()
            if r.state is MemoryState.ACTIVE
            and r.updated_at <= request.at
            and not any(_name(s)[:2] == _name(request.source)[:2] for s in r.sources)  # its own message
            and wanted
            and wanted <= set(terms(r.text))
        ]
        if not hits:
            self.rejections.append(Rejection(request.target, "nothing-to-forget", request.quotes[0]))
            return
        if len(hits) > _FORGET_MOST or (len(wanted) == 1 and len(hits) > 1):
            self.rejections.append(Rejection(request.target, "forget-unclear", request.quotes[0]))
            return
        for record in hits:
            gone = record.archived("you asked to forget it", request.at)
            self._do(OperationKind.ARCHIVE, gone, "you asked to forget it", "forgotten", request)

    # -- operations ----------------------------------------------------------------------------------------

    def _add(self, candidate: Candidate, losers: Sequence[MemoryRecord]) -> None:
        taken = {
            r.id for r in self.state.values() if r.scope == candidate.scope and r.topic == candidate.topic
        }
        digest = hashlib.sha256(candidate.summary.encode("utf-8", "surrogatepass")).hexdigest()
        record = MemoryRecord(
            scope=candidate.scope,
            topic=candidate.topic,
            id=new_id(candidate.summary, digest, taken),
            summary=candidate.summary,
            details=candidate.details,
            created_at=candidate.at,
            updated_at=candidate.at,
            sources=(candidate.source,),
            reason=_REASONS[candidate.act],
        )
        self._do(OperationKind.ADD, record, record.reason, "corrected" if losers else "new", candidate)
        self._retire(losers, record, candidate)

    def _widen(self, candidate: Candidate, record: MemoryRecord, losers: Sequence[MemoryRecord]) -> None:
        longer = replace(record, summary=candidate.summary, updated_at=candidate.at)
        for source in (*self.restated.get(record.key, ()), candidate.source):
            longer = longer.with_source(source)
        self._do(OperationKind.UPDATE, longer, "said again, with more", "wider", candidate)
        self._retire(losers, longer, candidate)

    def _retire(self, losers: Sequence[MemoryRecord], winner: MemoryRecord, candidate: Candidate) -> None:
        for loser in losers:
            gone = loser.archived(f"replaced by {winner.topic}:{winner.id}", candidate.at)
            self._do(
                OperationKind.ARCHIVE,
                gone,
                "you said otherwise later",
                "corrected",
                candidate,
                replaced_by=f"{winner.topic}:{winner.id}",
            )

    def _noop(self, candidate: Candidate, record: MemoryRecord, rule: str) -> None:
        self.restated.setdefault(record.key, []).append(candidate.source)
        self.operations.append(
            MemoryOperation(OperationKind.NOOP, record, "known already", rule, candidate.quotes, "sync")
        )

    def _do(
        self,
        kind: OperationKind,
        record: MemoryRecord,
        reason: str,
        rule: str,
        said: Candidate | ForgetRequest,
        *,
        replaced_by: str | None = None,
    ) -> None:
        self.state[record.key] = record
        self.operations.append(MemoryOperation(kind, record, reason, rule, said.quotes, "sync", replaced_by))

    def _reject(self, candidate: Candidate, reason: str) -> None:
        self.rejections.append(Rejection(candidate.summary, reason, candidate.quotes[0]))


_SPANS = re.compile(r"`([^`]+)`")
_RAN = "it ran and succeeded"
_REASONS = {
    SpeechAct.RULE: "you said so",
    SpeechAct.FACT: "you said so",
    SpeechAct.PREFERENCE: "you prefer it so",
    SpeechAct.CORRECTION: "you corrected it",
    SpeechAct.CONFIRMATION: "you agreed to it",
    SpeechAct.OBSERVATION: _RAN,
}


def _held_then(record: MemoryRecord, at: str) -> bool:
    """Whether ``record`` holds, or was archived only after ``at``: what it suppressed stays so."""
    return record.state is MemoryState.ACTIVE or record.created_at <= at <= record.updated_at


def _name(source: Source) -> tuple[str | None, int | None, str | None]:
    return (source.session, source.ordinal, source.digest)


def _command(summary: str) -> str:
    hit = _SPANS.search(summary)
    return hit.group(1) if hit else summary


def _kinds(span: str) -> tuple[str, ...]:
    found = observations.signature(span)
    return (found[0],) if found else ()


def _why_not(candidate: Candidate, losers: Sequence[MemoryRecord]) -> str | None:
    """Why the candidate may not overturn ``losers``; None if it may."""
    if any(r.updated_at > candidate.at for r in losers):
        return "older"
    if candidate.act not in _STRONG and (
        candidate.act is not SpeechAct.FACT or candidate.rule.startswith("passing:")
    ):
        return "passing"
    if len(losers) > 3:
        return "uncertain"
    return None


# -- relations ---------------------------------------------------------------------------------------------


def _flips(mine: Claim, other: Claim, *, corrects: bool) -> bool:
    """The same words, once asked for and once forbidden."""
    if mine.negative == other.negative or not mine.content or other.limits - mine.content:
        return False
    if corrects and len(other.content) >= 2 and other.content <= mine.content:
        return True
    if mine.denials or other.denials:
        return False
    return _alike(mine.content, other.content) >= 0.8 and mine.limits == other.limits


def _denies(mine: Claim, other: Claim) -> Relation:
    """Whether ``mine`` says that what ``other`` asserts is not so."""
    if not mine.denials or not (other.limits <= (mine.limits | mine.content)):
        return Relation.NONE
    if mine.limits and mine.limits <= other.content and other.limits:
        return Relation.NONE  # the exception that mine makes
    for denied in mine.denials:
        wanted = frozenset(terms(denied)) or frozenset({denied.lower()})
        if not wanted <= other.content or wanted <= mine.content:
            continue
        rest = other.content - wanted
        shared = rest & mine.content
        family = {f for f, names in other.tools.items() if denied.lower() in names}
        others = frozenset(t for names in other.tools.values() for t in names)
        if family and _is_used(denied, other.text) and len(rest - others) <= 4:
            return Relation.CONTRADICTS
        if not rest or len(shared) * 2 >= len(rest):
            return Relation.CONTRADICTS
        if _is_used(denied, other.text) and len(rest) <= 3 and not denied.isdigit():
            return Relation.CONTRADICTS
    return Relation.NONE


def _is_used(name: str, text: str) -> bool:
    """Whether ``text`` tells to use ``name``, or says what it is, rather than something about it."""
    low = text.lower()
    at = candidates.find_value(low, name)
    if at < 0:
        return False
    before, after = low[:at], low[at + len(name) :]
    return any(
        lang.search("uses", before) or (at < 3 and lang.search("is_the", after)) for lang in spoken_in(text)
    )


def _differs_in_value(mine: Claim, other: Claim, *, corrects: bool) -> bool:
    """The same said of the same thing, with another value."""
    if mine.negative != other.negative and not corrects:
        return False
    if not (other.limits <= (mine.limits | mine.content)) or (
        mine.limits and not mine.limits <= other.content
    ):
        return False
    names = frozenset(t for tools in (*mine.tools.values(), *other.tools.values()) for t in tools)
    for family in mine.tools.keys() & other.tools.keys():
        a, b = mine.tools[family], other.tools[family]
        if a & b:
            continue
        left, right = mine.content - names, other.content - names
        if _same_subject(left, right, corrects=corrects):
            return True
    for kind in {k for k, _ in mine.values} & {k for k, _ in other.values}:
        a, b = (frozenset(v for k, v in c.values if k == kind) for c in (mine, other))
        if a & b:
            continue
        gone = frozenset(t for v in (a | b) for t in terms(v))
        left, right = mine.content - gone, other.content - gone
        if left and right and _same_subject(left, right, corrects=corrects):
            return True
    return _same_frame(mine, other, corrects=corrects) or (corrects and _one_word_apart(mine, other))


_MOST_OF = 0.65
"""Share of a longer claim's words that a shorter one holds; the same both ways, so rereading is stable."""

_CHANGE = frozenset("mov migrat switch renam chang convert now nowaday meanwhil since".split())


def _one_word_apart(mine: Claim, other: Claim) -> bool:
    """Whether they differ in one word alone: "Anna owns search now", "Bob owns search"."""
    a, b = ([w for w in c.words if w not in _CHANGE] for c in (mine, other))
    if len(a) != len(b) or len(a) < 2:
        return False
    return sum(x != y for x, y in zip(a, b, strict=True)) == 1


def _same_subject(left: frozenset[str], right: frozenset[str], *, corrects: bool) -> bool:
    if not left and not right:
        return True
    if _alike(left, right) >= 0.6:
        return True
    return corrects and (right <= left or (bool(left) and left <= right)) and len(left ^ right) <= 3


def _same_frame(mine: Claim, other: Claim, *, corrects: bool) -> bool:
    """Whether the verb takes one value: "deploys run from main", "deploys run from the release branch"."""
    for lang in spoken_in(mine.text):
        a, b = (lang.search("single_valued", c.text.lower()) for c in (mine, other))
        if a is None or b is None:
            continue
        subjects = [frozenset(terms(c.text[: hit.start()])) for c, hit in ((mine, a), (other, b))]
        tails = [frozenset(terms(c.text[hit.end() :])) for c, hit in ((mine, a), (other, b))]
        same_verb = a.group().split() == b.group().split() and len(a.group().split()) >= 2
        if (
            (subjects[0] or same_verb)
            and subjects[0] == subjects[1]
            and all(tails)
            and not tails[0] & tails[1]
        ):
            return True
        a, b = (lang.search("copula", c.text.lower()) for c in (mine, other))
        if a is None or b is None:
            continue
        subjects = [frozenset(terms(c.text[: hit.start()])) for c, hit in ((mine, a), (other, b))]
        tails = [frozenset(terms(c.text[hit.end() :])) for c, hit in ((mine, a), (other, b))]
        least = 1 if corrects else 2
        if (
            subjects[0] == subjects[1]
            and len(subjects[0]) >= least
            and all(0 < len(t) <= 3 for t in tails)
            and not tails[0] & tails[1]
        ):
            return True
    return False


def _covers(mine: Claim, other: Claim) -> Relation:
    """Whether one says all that the other says."""
    if mine.negative != other.negative or mine.limits != other.limits:
        return Relation.NONE
    a, b = mine.content, other.content
    if not a or not b:
        return Relation.NONE
    if a == b:
        if {v for _, v in mine.values} != {v for _, v in other.values}:
            return Relation.NONE
        return Relation.SAME if mine.denied <= other.denied else Relation.WIDER
    if a < b and mine.denied <= (other.denied | b) and len(a) >= _MOST_OF * len(b):
        return Relation.NARROWER
    if b < a and other.denied <= (mine.denied | a) and len(b) >= _MOST_OF * len(a):
        return Relation.WIDER
    return Relation.NONE


def _alike(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
