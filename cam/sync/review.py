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

from cam.core.extraction import Candidate, Conflict, Extraction, ForgetRequest, Rejection, Review, SpeechAct
from cam.core.operations import MemoryOperation, OperationKind
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, Source, new_id
from cam.core.times import stamp
from cam.core.tombstones import tombstone_key
from cam.language.candidates import find_value
from cam.language.claims import Claim, claim, terms
from cam.language.relations import Relation, clues, is_near, likeness, relation
from cam.sync import observations

_FORGET_MOST = 5
_STRONG = frozenset({SpeechAct.RULE, SpeechAct.PREFERENCE, SpeechAct.CORRECTION})


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


class _Desk:
    """The records as the decisions made so far leave them."""

    def __init__(self, records: Sequence[MemoryRecord], tombstones: Mapping[str, str]) -> None:
        self.state: dict[tuple[str, str, str], MemoryRecord] = {r.key: r for r in records}
        self.tombstones = tombstones
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
        if buried is not None and candidate.at <= stamp(buried):
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
                how in (Relation.CONTRADICTS, Relation.REPLACES, Relation.UNCERTAIN, Relation.WIDER)
                and record.scope != candidate.scope
            ):
                continue  # one scope's rule is no exception to another's
            if how is not Relation.NONE:
                found.setdefault(how, []).append(record)
        _choose(mine, found)
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
        """Records that held when it was said and may be about the same."""
        words = clues(mine)
        scopes = (candidate.scope, MemoryScope.GLOBAL)
        return [
            r
            for r in self.state.values()
            if _held_then(r, candidate.at) and r.scope in scopes and is_near(words, r.summary)
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
        # What corrects stays where the person finds what it corrects.
        topic = next((r.topic for r in losers if r.scope is candidate.scope), candidate.topic)
        taken = {r.id for r in self.state.values() if r.scope == candidate.scope and r.topic == topic}
        digest = hashlib.sha256(candidate.summary.encode("utf-8", "surrogatepass")).hexdigest()
        record = MemoryRecord(
            scope=candidate.scope,
            topic=topic,
            id=new_id(candidate.summary, digest, taken),
            summary=candidate.summary,
            details=candidate.details,
            created_at=candidate.at,
            updated_at=candidate.at,
            sources=(candidate.source,),
            # "never npm" denies something without correcting anything that was known
            reason=_REASONS[candidate.act if losers else _UNOPPOSED.get(candidate.act, candidate.act)],
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
        self.rejections.append(Rejection(candidate.summary, reason, candidate.quotes[0], candidate))


_SPANS = re.compile(r"`([^`]+)`")
_RAN = "it ran and succeeded"
_UNOPPOSED = {SpeechAct.CORRECTION: SpeechAct.RULE}

_REASONS = {
    SpeechAct.RULE: "you said so",
    SpeechAct.FACT: "you said so",
    SpeechAct.PREFERENCE: "you prefer it so",
    SpeechAct.CORRECTION: "you corrected it",
    SpeechAct.CONFIRMATION: "you agreed to it",
    SpeechAct.OBSERVATION: _RAN,
}


def _choose(mine: Claim, found: dict[Relation, list[MemoryRecord]]) -> None:
    """Of the records whose subject has changed, the one that is plainly meant; several are uncertain."""
    meant = found.pop(Relation.REPLACES, [])
    if not meant or found.get(Relation.CONTRADICTS) or found.get(Relation.SAME):
        return
    alike = sorted(((likeness(mine, claim(r.summary)), n) for n, r in enumerate(meant)), reverse=True)
    plain = len(alike) == 1 or alike[0][0] > alike[1][0]
    kind = Relation.CONTRADICTS if plain else Relation.UNCERTAIN
    found[kind] = [meant[alike[0][1]]] if plain else meant


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
    named = all(any(find_value(r.text, d) >= 0 for d in candidate.denies) for r in losers)
    if candidate.act not in _STRONG and (
        candidate.act is not SpeechAct.FACT or (candidate.rule.startswith("passing:") and not named)
    ):
        return "passing"
    if len(losers) > 3:
        return "uncertain"
    return None
