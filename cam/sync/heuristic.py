"""The extractor that asks no model: clauses, speech acts, candidates, in one pass over a session."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cam.core import private, secrets
from cam.core.evidence import Message, RolloutEvidence, RolloutMeta, ToolCall
from cam.core.extraction import (
    Candidate,
    Extraction,
    ExtractionPolicy,
    ForgetRequest,
    Rejection,
    SpeechAct,
    policy_of,
)
from cam.core.operations import Quote
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, Source
from cam.core.times import stamp
from cam.language import candidates, placement
from cam.language.claims import terms
from cam.language.lexicon import spoken_in
from cam.language.relations import subject
from cam.language.statements import BLANK_CODE, Clause, shadow, take_apart
from cam.sync import observations, revisions
from cam.sync.speech_acts import Judgement, judge

_JOINED = 220  # characters of a record that two clauses make
_WEIGHT = (
    SpeechAct.OBSERVATION,
    SpeechAct.CONFIRMATION,
    SpeechAct.FACT,
    SpeechAct.PREFERENCE,
    SpeechAct.RULE,
    SpeechAct.CORRECTION,
)
_SHOWN = 1_000  # characters of a rejection: whole, so that a person can still accept it


class HeuristicExtractor:
    """Decides by grammar and word lists; the same answer for the same session, whenever asked."""

    name = "heuristic"

    def extract(
        self, evidence: RolloutEvidence, records: Sequence[MemoryRecord], *, after: int = 0
    ) -> Extraction:
        """Find candidates in ``evidence`` (see ``MemoryExtractor``).

        Only what the person typed can become memory, and what ran and succeeded. Subagents' sessions hold
        nobody's words.
        """
        if not evidence.meta.is_primary:
            return Extraction(extractor=self.name)
        reading = _Reading(evidence.meta, records, after)
        calls: list[ToolCall] = []
        for item in evidence.items:
            if isinstance(item, ToolCall):
                calls.append(_masked_call(item))
                reading.proposed = None
                continue
            policy = policy_of(item.who)
            if policy is ExtractionPolicy.REDACT:
                reading.read(item)
                reading.proposed = None
            elif policy is ExtractionPolicy.KEEP:
                reading.proposed = item
        found = [*reading.found, *reading.observed(calls)]
        return Extraction(tuple(found), tuple(reading.rejections), self.name)


@dataclass(slots=True)
class _Where:
    """One user message, as quotes and sources name it."""

    message: Message
    meta: RolloutMeta

    @property
    def at(self) -> str:
        return stamp(self.message.at or self.meta.started_at)

    def quote(self, text: str) -> Quote:
        return Quote(
            text,
            self.meta.session,
            self.message.ordinal,
            self.message.turn,
            self.message.line or None,
            self.meta.path,
        )

    def source(self, text: str) -> Source:
        return Source("session", self.meta.session, self.message.ordinal, candidates.digest(text))


class _Reading:
    """What was found so far in one session."""

    def __init__(self, meta: RolloutMeta, records: Sequence[MemoryRecord], after: int) -> None:
        self.meta = meta
        self.records = tuple(r for r in records if r.state is MemoryState.ACTIVE)
        self.read_before = {
            (s.ordinal, s.digest) for r in records for s in r.sources if s.session == meta.session
        }
        self.after = after
        self.found: list[Candidate | ForgetRequest] = []
        self.context: list[Candidate] = []
        self.rejections: list[Rejection] = []
        self.gone: Candidate | None = None
        self.proposed: Message | None = None
        self.tail: Source | None = None  # the clause that the last candidate ends with, where two make it

    def read(self, message: Message) -> None:
        where = _Where(message, self.meta)
        fresh = message.ordinal > self.after
        text = secrets.mask(private.strip(message.text).text).text
        judgements = judge(take_apart(text))
        agreed = self._agreements(text, judgements, where)
        for candidate in agreed:
            self._keep(candidate, fresh)
        if agreed:
            return
        known = len(self.context)
        for index, judgement in enumerate(judgements):
            self._clause(judgement, judgements[:index], where, fresh)
        self._flush()
        if fresh and len(self.context) == known and judgements and judgements[0].clause.says("takes_back"):
            self._withdraw(where)  # and nothing was put in its place

    def _clause(self, judgement: Judgement, before: Sequence[Judgement], where: _Where, fresh: bool) -> None:  # noqa: C901, FBT001, PLR0911, PLR0912 - each act its own branch
        clause = judgement.clause
        if _asks_to_forget(clause):
            forget, rest = self._forget(judgement, where)
            if forget is not None and fresh:
                self.found.append(forget)
            if forget is not None and rest:
                self._instead(rest, where, fresh)
            return
        source = where.source(clause.text)
        if (source.ordinal, source.digest) in self.read_before:
            fresh = False  # a record rests on it already; it is context for what follows
        revised = self._revision(judgement, before, where) if fresh else None
        if revised is not None:
            self._keep(revised, fresh)
            return
        if before and before[-1].durable and self._adds_ban(judgement, before[-1], where):
            return
        if not judgement.durable:
            if before and before[-1].durable and self._adds_denial(clause, before[-1], where):
                return
            if judgement.near and fresh:
                self._reject(clause.text, judgement.act.value, where)
            return
        text = candidates.as_rule(candidates.fact_text(clause.text, clause.languages), clause.languages)
        if candidates.only_announces_a_secret(text, clause.languages, least=5):
            if fresh:
                self._reject(clause.text, "secret", where)
            return
        if not candidates.says_something(text, clause.languages) or _points_elsewhere(text, clause):
            if fresh and judgement.near:
                self._reject(clause.text, "unclear", where)
            return
        around = " ".join(j.clause.text for j in before if j.clause.sentence == clause.sentence)
        if judgement.rule == "is-obsolete" and len(text) <= 80 and fresh:
            gone = _candidate(text, judgement, where, around)
            if not self._replaced_before(gone, judgement, before):
                self._flush()
                self.gone = gone
            return
        if fresh and self._follows_complaint(text, judgement, before, where):
            return
        if before and self._goes_on(text, judgement, before[-1], where):
            return
        facts = candidates.enumerated(text, clause.languages)
        for fact in facts:
            self._keep(_candidate(fact, judgement, where, around, whole=len(facts) == 1), fresh)

    def _replaced_before(self, gone: Candidate, judgement: Judgement, before: Sequence[Judgement]) -> bool:
        """Add what is gone to the clause before, which said what took its place."""
        last = self.found[-1] if self.found else None
        if not (before and before[-1].durable and before[-1].clause.sentence == judgement.clause.sentence):
            return False
        if (gone.source.ordinal, candidates.digest(before[-1].clause.text)) in self.read_before:
            return True  # a record holds both already
        if not isinstance(last, Candidate) or last.source.ordinal != gone.source.ordinal or last.details:
            return False
        self._put_back(_joined(last, gone, act=SpeechAct.CORRECTION, details=(gone.summary,)))
        return True

    def _adds_denial(self, clause: Clause, before: Judgement, where: _Where) -> bool:
        """Whether the clause says that a value is gone, of which the one before it told the new one."""
        gone = [d for d in candidates.denials(clause.text, clause.languages) if not d.isalpha()]
        last = self._last_by(where.source(before.clause.text))
        if not gone or before.clause.paragraph != clause.paragraph or last is None:
            return False
        quotes = (*last.quotes, where.quote(clause.text))
        self._put_back(replace(last, act=SpeechAct.CORRECTION, denies=(*last.denies, *gone), quotes=quotes))
        return True

    def _adds_ban(self, judgement: Judgement, before: Judgement, where: _Where) -> bool:
        """Whether the clause only says "don't do that" to the complaint before it; their record says both."""
        clause = judgement.clause
        if not clause.says("bans_it"):
            return False
        last = self._last_by(where.source(before.clause.text))
        if last is not None and _complains(before.clause):
            told = candidates.fact_text(before.clause.text, before.clause.languages)
            comma = ", " if told.isascii() or not candidates.is_cjk(told[-1]) else "，"
            summary = f"{told}{comma}{candidates.fact_text(clause.text, clause.languages)}"
            self._put_back(replace(last, summary=summary, quotes=(*last.quotes, where.quote(clause.text))))
        return True

    def _goes_on(self, text: str, judgement: Judgement, before: Judgement, where: _Where) -> bool:
        """Make one record of two clauses of a sentence of which one does not stand for itself.

        "Branches come from develop, the name is feat/<ticket>": a name of what? Two facts that each say of
        themselves that they last stay two.
        """
        clause = judgement.clause
        if (
            not before.durable
            or before.clause.sentence != clause.sentence
            or not (judgement.leans or before.leans)
            or clause.item
        ):
            return False
        source = where.source(before.clause.text)
        if (source.ordinal, source.digest) in self.read_before:
            own = where.source(clause.text)
            self.read_before.add((own.ordinal, own.digest))  # a record holds both already
            return True
        last = self._last_by(source, or_ends=True)
        if last is None or last.details:
            return False
        comma = "，" if candidates.is_cjk(last.summary[-1]) or candidates.is_cjk(text[0]) else ", "
        summary = f"{last.summary}{comma}{text}"
        if len(summary) > _JOINED:
            return False
        rest = _candidate(text, judgement, where, clause.text)
        self._put_back(_joined(last, rest, summary=summary, act=max(last.act, rest.act, key=_WEIGHT.index)))
        self.tail = rest.source
        return True

    def _follows_complaint(
        self, text: str, judgement: Judgement, before: Sequence[Judgement], where: _Where
    ) -> bool:
        """Make one record of a complaint and the rule that follows it: the rule, with what led to it."""
        last = self._last_by(where.source(before[-1].clause.text)) if before else None
        if (
            judgement.said_as not in (SpeechAct.RULE, SpeechAct.FACT, SpeechAct.PREFERENCE)
            or last is None
            or last.details
            or not _complains(before[-1].clause)
            or _complains(judgement.clause)
        ):
            return False
        rule = _candidate(text, judgement, where, judgement.clause.text)
        told = (last.summary,)
        self._put_back(
            _joined(last, rule, summary=rule.summary, details=told, topic=rule.topic, scope=rule.scope)
        )
        return True

    def _last_by(self, source: Source, *, or_ends: bool = False) -> Candidate | None:
        """The newest candidate, if the clause of ``source`` made it; with ``or_ends`` also if it ends it."""
        last = self.found[-1] if self.found else None
        if not isinstance(last, Candidate):
            return None
        return last if last.source == source or (or_ends and self.tail == source) else None

    def _put_back(self, candidate: Candidate) -> None:
        """The newest candidate as it is with what was put to it."""
        self.found[-1] = self.context[-1] = candidate

    def _flush(self) -> None:
        """What is gone, and nothing was said to replace it."""
        gone, self.gone = self.gone, None
        if gone is not None:
            self._keep(gone, fresh=True)

    def _keep(self, candidate: Candidate, fresh: bool) -> None:  # noqa: FBT001
        gone = self.gone
        if gone is not None and gone.source.ordinal == candidate.source.ordinal and candidate.details == ():
            # "X is dead. All traffic goes through Y": one fact, in two sentences
            self.gone = None
            candidate = replace(
                candidate,
                act=SpeechAct.CORRECTION,
                details=(gone.summary,),
                quotes=(*gone.quotes, *candidate.quotes),
                denies=(*gone.denies, *candidate.denies),
            )
        self.context.append(candidate)
        if fresh:
            self.found.append(candidate)

    def _withdraw(self, where: _Where) -> None:
        """After "no, scrap that": what the message before said does not count."""
        last = self.context[-1].source.ordinal if self.context else None
        if last is None or where.message.ordinal is None or not 0 < where.message.ordinal - last <= 2:
            return
        gone = [c for c in self.context if c.source.ordinal == last]
        self.context = [c for c in self.context if c.source.ordinal != last]
        for candidate in gone:
            if candidate in self.found:
                self.found.remove(candidate)
                self.rejections.append(Rejection(candidate.summary, "taken-back", candidate.quotes[0]))
            else:  # it is a record already
                quote = where.quote(where.message.text[:_SHOWN])
                self.found.append(
                    ForgetRequest(candidate.summary, where.at, where.source(where.message.text), (quote,))
                )

    def _reject(self, text: str, reason: str, where: _Where) -> None:
        short = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        self.rejections.append(Rejection(" ".join(short.split()), reason, where.quote(text[:_SHOWN])))

    # -- agreement -----------------------------------------------------------------------------------------

    def _agreements(self, text: str, judgements: Sequence[Judgement], where: _Where) -> list[Candidate]:
        """What the assistant proposed, where the person says yes to it, and one of them: from now on."""
        if self.proposed is None or not judgements or len(text) > 160:
            return []
        if not (_says("agrees", text) and _adds_nothing(text)):
            return []
        proposed = _proposals(secrets.mask(private.strip(self.proposed.text).text).text)
        lasting = _says("lasting", text)
        return [
            self._agreed(text, quoted, body, where, whole=len(proposed) == 1)
            for quoted, body, asks in proposed
            if not _hidden(body) and (lasting or _says("lasting_proposal", asks))
        ]

    def _agreed(self, text: str, quoted: str, body: str, where: _Where, *, whole: bool) -> Candidate:
        proposed = self.proposed
        assert proposed is not None
        return Candidate(
            scope=placement.scope_of(body, around=text),
            topic=placement.topic_of(body),
            summary=body,
            act=SpeechAct.CONFIRMATION,
            at=where.at,
            source=where.source(text if whole else f"{text}\n{body}"),
            quotes=(
                where.quote(text.strip()),
                Quote(
                    quoted,
                    self.meta.session,
                    where.message.ordinal - 1 or None,
                    proposed.turn,
                    proposed.line or None,
                    self.meta.path,
                ),
            ),
            denies=candidates.denials(body),
            rule="agreed",
        )

    # -- forgetting ----------------------------------------------------------------------------------------

    def _instead(self, rest: str, where: _Where, fresh: bool) -> None:  # noqa: FBT001
        """What takes the place of what is to be forgotten ("… deploys on mondays, it is wednesdays now")."""
        for judgement in judge(take_apart(rest)):
            new = self._revision(judgement, (), where, marked=True) if fresh else None
            if new is not None:
                self._keep(new, fresh)
            elif judgement.durable:
                self._clause(judgement, (), where, fresh)

    def _forget(self, judgement: Judgement, where: _Where) -> tuple[ForgetRequest | None, str]:
        """What is to be forgotten, and what the clause says behind that."""
        clause = judgement.clause
        for lang in clause.languages:
            if lang.search("forget_idiom", clause.shadow):
                continue
            for name in ("forget_addressed", "forget_plain"):
                hit = lang.search(name, clause.text.lower())
                if hit is None or (clause.mark == "?" and name == "forget_plain"):
                    continue
                target = candidates.fact_text(clause.text[hit.start("target") : hit.end("target")], ())
                if not terms(target):
                    continue
                if name == "forget_plain" and not (
                    revisions.is_specific(target)
                    and any(revisions.mentions(r, target) for r in self._all_known())
                ):
                    continue  # "forget the tests, fix the build" is about the task at hand
                quotes = (where.quote(clause.text),)
                rest = clause.text[hit.end() :].lstrip(" ,;，；-")
                return ForgetRequest(target, where.at, where.source(clause.text), quotes), rest
        return None, ""

    def _all_known(self) -> list[str]:
        return [r.text for r in self.records] + [c.summary for c in self.context[-200:]]

    # -- "scratch that, it is X" ---------------------------------------------------------------------------

    def _revision(
        self, judgement: Judgement, before: Sequence[Judgement], where: _Where, *, marked: bool = False
    ) -> Candidate | None:
        """A correction that names only the new value: what it corrects stands in an earlier sentence."""
        clause = judgement.clause
        if clause.mark == "?" or len(clause.text) > 120:
            return None
        if judgement.level >= 5 and not judgement.durable:
            return None
        marked = marked or any(j.clause.says("scratch") for j in (*before[-2:], judgement))
        if not marked:
            return None
        body = candidates.fact_text(clause.text, clause.languages)
        new = revisions.replacement(body, clause.languages)
        if new is None:
            return None
        denied = candidates.denials(clause.text, clause.languages)
        base = revisions.base_for(new, denied, self.context, self.records)
        if base is None:
            return self._choice(new, clause, where)
        summary, old, quotes = revisions.put_in(base, new, denied)
        if summary is None:
            return None
        return Candidate(
            scope=base.scope,
            topic=base.topic,
            summary=summary,
            act=SpeechAct.CORRECTION,
            at=where.at,
            source=where.source(clause.text),
            quotes=(*quotes, where.quote(clause.text)),
            denies=(old,),
            rule="revised",
        )

    def _choice(self, new: revisions.NewValue, clause: Clause, where: _Where) -> Candidate | None:
        """A tool named instead of the one that the assistant meant to use: "I'll use yarn." – "no, pnpm"."""
        if new.kind != "tool" or self.proposed is None:
            return None
        said = take_apart(secrets.mask(private.strip(self.proposed.text).text).text).clauses
        for told in reversed(said):
            old = revisions.rival(told.text, new.text)
            if old is not None:
                break
        else:
            return None
        summary = f"{new.text}, not {old}" if clause.text.isascii() else f"{new.text}，不是 {old}"
        return Candidate(
            scope=MemoryScope.PROJECT,
            topic=placement.topic_of(summary, default="preferences"),
            summary=summary,
            act=SpeechAct.CORRECTION,
            at=where.at,
            source=where.source(clause.text),
            quotes=(
                where.quote(clause.text),
                Quote(
                    told.text,
                    self.meta.session,
                    where.message.ordinal - 1 or None,
                    self.proposed.turn,
                    self.proposed.line or None,
                    self.meta.path,
                ),
            ),
            denies=(old,),
            rule="chosen",
        )

    # -- observations --------------------------------------------------------------------------------------

    def observed(self, calls: Sequence[ToolCall]) -> list[Candidate]:
        fresh = [c for c in calls if c.ordinal > self.after or not self.after]
        result = []
        for seen in observations.observe(fresh):
            call = seen.call
            summary = seen.summary
            folder = _below(call.cwd, self.meta.cwd)
            if folder and "cd " not in seen.command:
                summary = f"{summary} (in {folder})"
            line = Quote(
                call.command or "",
                self.meta.session,
                call.ordinal or None,
                call.turn,
                call.line or None,
                self.meta.path,
            )
            result.append(
                Candidate(
                    MemoryScope.PROJECT,
                    "commands",
                    summary,
                    SpeechAct.OBSERVATION,
                    stamp(call.at or self.meta.started_at),
                    Source("session", self.meta.session, call.ordinal, candidates.digest(call.command or "")),
                    (line,),
                    rule=f"ran-{seen.kind}",
                )
            )
        known = [r for r in self.records if r.topic == "commands"]
        for call in fresh:
            gone = observations.vanished(call)
            if gone is not None and any(f"`{gone}`" in r.summary for r in known):
                self.rejections.append(
                    Rejection(f"`{gone}` is remembered, but it failed: no such command", "stale-command")
                )
        return result


def _candidate(
    text: str, judgement: Judgement, where: _Where, around: str, *, whole: bool = True
) -> Candidate:
    clause = judgement.clause
    langs = clause.languages
    scope = placement.scope_of(text, langs, around=around + " " + clause.text)
    topic = placement.topic_of(text, langs, default=_default_topic(text, judgement.said_as))
    if scope is MemoryScope.PROJECT_LOCAL and judgement.act is SpeechAct.FACT:
        topic = "reference"  # how one machine is set up is no part of the design
    return Candidate(
        scope=scope,
        topic=topic,
        summary=text,
        act=judgement.act,
        at=where.at,
        source=where.source(clause.text if whole else f"{clause.text}\n{text}"),
        quotes=(where.quote(clause.text),),
        denies=candidates.denials(text, langs),
        rule=judgement.rule if judgement.level > 2 else f"passing:{judgement.rule}",
    )


def _joined(one: Candidate, other: Candidate, **changes: Any) -> Candidate:
    """``one`` changed so, resting on the words of both."""
    quotes, denies = (*one.quotes, *other.quotes), (*one.denies, *other.denies)
    return replace(one, quotes=quotes, denies=denies, **changes)


def _asks_to_forget(clause: Clause) -> bool:
    low = clause.text.lower()
    return any(
        lang.search(name, low) and not lang.search("forget_idiom", clause.shadow)
        for lang in clause.languages
        for name in ("forget_addressed", "forget_plain")
    )


def _complains(clause: Clause) -> bool:
    """Whether the clause tells what the agent did wrong, and not what it should do."""
    return any(
        lang.search("complaint", clause.shadow) and not lang.search("prohibits", clause.shadow)
        for lang in clause.languages
    )


def _default_topic(text: str, act: SpeechAct) -> str:
    """The topic of a fact whose words name none."""
    if act is SpeechAct.PREFERENCE or candidates.tools_in(text).keys() - {"weekday"}:
        return "preferences"
    return {SpeechAct.RULE: "workflow", SpeechAct.CORRECTION: "architecture"}.get(act, "reference")


def _points_elsewhere(text: str, clause: Clause) -> bool:
    """Whether the fact stands in another sentence: "always do it like that"."""
    shade = shadow(text)
    if clause.says("bare_agreement"):
        return True
    if not subject(text) and text.isascii() and not any(c.isdigit() or c in "/`." for c in text):
        return not candidates.tools_in(text)  # "we don't use it any more"
    return any(lang.search("pointer_only", shade) for lang in clause.languages)


def _proposals(text: str) -> list[tuple[str, str, str]]:
    """The assistant's last proposal: verbatim, as a fact, and the clause that asks.

    Several where it numbers them ("(1) …, (2) …. Shall we make both the rule?").
    """
    for clause in reversed(take_apart(text).clauses):
        for lang in clause.languages:
            hit = lang.search("proposal", clause.shadow)
            if hit is None:
                continue
            body = candidates.fact_text(clause.text[hit.end() :].rstrip("?？ "), clause.languages)
            if lang.search("do_that", shadow(body)):
                numbered = _numbered(text[: text.rfind(clause.text)])
                if numbered:
                    return [
                        (item, candidates.fact_text(item, clause.languages), clause.text) for item in numbered
                    ]
                break  # "should I do that?": the sentence before says what
            if not candidates.says_something(body, clause.languages):
                break
            return [(clause.text, body, clause.text)]
    return []


def _numbered(text: str) -> list[str]:
    """The items of "(1) …, (2) …" or of a numbered list, if there are two at least."""
    text = text[-2_000:]
    hits = list(_NUMBER.finditer(text))
    if len(hits) < 2:
        return []
    ends = (*(hit.start() for hit in hits[1:]), len(text))
    items = [text[hit.end() : end].strip(" \n,;，；、.。") for hit, end in zip(hits, ends, strict=True)]
    return items if all(item and "\n" not in item and len(item) <= 200 for item in items) else []


_NUMBER = re.compile(r"(?:^|(?<=[\s:：,，;；]))\(?[1-9][.)）、]\s*")


def _says(name: str, text: str) -> bool:
    """Whether ``text`` holds the pattern called ``name``: that it agrees, that it is meant to last."""
    shade = shadow(text)
    return any(lang.search(name, shade) for lang in spoken_in(text))


def _adds_nothing(answer: str) -> bool:
    """Whether an answer says no more than yes, and that it goes for the future."""
    shade = shadow(answer)
    langs = spoken_in(answer)
    if any(lang.search("bare_agreement", shade) for lang in langs):
        return True
    for lang in langs:
        for name in ("agrees", "lasting"):
            for hit in (*lang.finditer(name, shade),):
                shade = f"{shade[: hit.start()]}{' ' * (hit.end() - hit.start())}{shade[hit.end() :]}"
    return len(terms(shade)) <= 2 and BLANK_CODE not in shade and not candidates.tools_in(shade)


def _hidden(text: str) -> bool:
    return candidates.MASKED.search(text) is not None


def _masked_call(call: ToolCall) -> ToolCall:
    if call.command is None:
        return call
    return replace(call, command=secrets.mask(private.strip(call.command).text).text)


def _below(cwd: str | None, root: str | None) -> str:
    if not cwd or not root or cwd == root or not cwd.startswith(root.rstrip("/") + "/"):
        return ""
    return cwd[len(root.rstrip("/")) + 1 :]
