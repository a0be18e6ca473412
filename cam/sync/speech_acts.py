"""What each clause does: state a rule, a fact, a correction – or ask, suppose, hedge, report, order a task.

A language's cues say that a clause is durable and how plainly, its vetoes say that it is not; the plainer
of the two speaks for the patterns. Whether the clause lasts is then weighed: what spoke, together with the
wording of the whole (``cam.language.weighing``). Only what addresses memory, a question mark and "don't
remember" are not weighed. Acts reach over clauses: "remember the following:" governs a list, "what if" the
rest of its sentence, "keep that in mind" the clause before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cam.core.extraction import SpeechAct
from cam.language import weighing
from cam.language.lexicon import Rule
from cam.language.statements import BLANK_CODE, BLANK_QUOTE, Clause, Discourse

ADDRESSED = 5
"""Level of a cue that addresses memory itself."""
STANDING = 4
"""Level of a cue that says how long: always, never, from now on."""
STATED = 3
"""Level of a convention, a correction, a rule of interaction."""
PASSING = 2
"""Level of a fact mentioned in passing."""
LASTS = 0.6
"""Log-odds above which a clause is kept."""
LASTS_ALONE = 1.3
"""The same where no pattern spoke for it: a wrong memory is worse than a missed one."""
LASTS_BESIDE = 0.4
"""The same where no pattern spoke for it, in one sentence with what is kept."""
_AGAINST_A_VETO = 4.0
"""The same where a pattern plainly spoke against it."""
_AGAINST_A_PLAIN_ONE = 1.6
"""The same where one spoke against it: a task, a requirement of the product."""
_WORTH_A_LINE = -0.8
"""Log-odds above which what is not kept is shown in the review queue."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a clause does, and what decided.

    Attributes:
        level: of the cue that won; of the veto where a veto won; 0 without either.
        rule: its name.
        durable: whether the clause may become memory.
        corrects: whether it says that something else is no longer so.
        said_as: the act of the cue itself, before what it corrects counts.
        near: whether it had a cue at all, so that its rejection is worth a line.
        leans: whether nothing in the clause itself says that it lasts: the sentence, or its wording does.
    """

    clause: Clause
    act: SpeechAct
    level: int
    rule: str
    durable: bool
    corrects: bool = False
    near: bool = False
    said_as: SpeechAct = SpeechAct.RULE
    leans: bool = False


def judge(discourse: Discourse) -> tuple[Judgement, ...]:
    """Say of each clause what it does."""
    clauses = _without_tails(discourse.clauses)
    odds = weighing.wording(clauses)
    return tuple(_without_stories(_supported(_judged(clauses, odds), odds)))


def _supported(found: list[Judgement], odds: Sequence[float]) -> list[Judgement]:
    """What is likely to last and stands in one sentence with what does ("use argo, never kubectl").

    A bare ban behind a rule stands with it, in a sentence of its own too ("always in English. no tables").
    """
    beside = [j.durable for j in found]
    for index, said in enumerate(found):
        if said.durable:
            continue
        if index and _bans_along(found[index - 1], said):
            found[index] = _by_wording(said.clause, reacts=False)
            continue
        if said.level or said.rule or weighing.trust(odds[index], "none") <= LASTS_BESIDE:
            continue
        near = [n for n in (index - 1, index + 1) if 0 <= n < len(found) and beside[n]]
        if any(found[n].clause.sentence == said.clause.sentence and not found[n].clause.item for n in near):
            found[index] = _by_wording(said.clause, reacts=False)
    return found


def _bans_along(before: Judgement, said: Judgement) -> bool:
    """Whether it is a bare ban, and what stands before it in the same paragraph asks for what lasts."""
    asks = SpeechAct.RULE, SpeechAct.PREFERENCE
    if not before.durable or before.clause.paragraph != said.clause.paragraph or before.said_as not in asks:
        return False
    own = said.act in asks or not (said.level or said.rule)
    return own and said.clause.mark != "?" and said.clause.says("bans_alone")


def _without_stories(found: list[Judgement]) -> list[Judgement]:
    """What a person tells of the agent's doing ("you renamed half of it") is no fact if a rule follows."""
    for index, told in enumerate(found[:-1]):
        if not told.durable or told.level >= STANDING or not told.clause.says("tells_of"):
            continue
        following = (j for j in found[index + 1 : index + 3] if j.clause.paragraph == told.clause.paragraph)
        if any(j.durable and not j.clause.says("tells_of") for j in following):
            found[index] = replace(told, durable=False, near=False)
    return found


def _without_tails(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses, each cut where what follows reads as a matter of the moment: a task, a question, a reason.

    The breaks of a language know its commonest verbs; what people ask for in others shows in the wording.
    """
    found: list[Clause] = []
    for clause in clauses:
        rest = clause
        for _ in range(3):
            cut = _tail(rest)
            if cut is None:
                break
            found.append(replace(rest, text=rest.text[: cut[0]], shadow=rest.shadow[: cut[0]]))
            rest = replace(rest, text=rest.text[cut[1] :], shadow=rest.shadow[cut[1] :])
        found.append(rest)
    return found


_BOUND = re.compile(r"\s*[,，、]\s*(?:(?:so|and|then|but)\s+)?|\s+(?:so|and then|then)\s+|\s+-+\s+")
_FIRST = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_OF_THE_MOMENT = -1.6
"""Wording odds below which what stands behind a comma is no part of the fact before it."""


def _tail(clause: Clause) -> tuple[int, int] | None:
    """Where the first part ends and the rest begins; None where the clause says one thing."""
    bounds = list(_BOUND.finditer(clause.shadow))
    if len(bounds) > 3 or ":" in clause.shadow:
        return None  # a list
    for bound in bounds:
        start, end = bound.span()
        head = replace(clause, text=clause.text[:start], shadow=clause.shadow[:start])
        rest = replace(clause, text=clause.text[end:], shadow=clause.shadow[end:])
        if not (_has_content(head) and _has_content(rest)) or _clings(head, rest):
            continue
        first, second = weighing.wording((head, rest))
        if second < _OF_THE_MOMENT and first > second + 1.5:
            return start, end
    return None


def _clings(head: Clause, rest: Clause) -> bool:
    first = _FIRST.search(rest.shadow)
    if _best(rest, "cues") is not None or first is None:
        return True
    if rest.shadow.isascii() and len(rest.shadow.split()) < 3:
        return True  # "commit messages in english, imperative mood"
    if rest.languages[0].kind_of(first.group()) in ("and", "it", "this", "they"):
        return True
    return any(
        lang.search("opens", head.shadow)
        or lang.search("clings", rest.shadow[:80])
        or lang.search("negation", rest.shadow[:12])
        or lang.search("changes", rest.shadow)
        for lang in rest.languages
    )


def by_patterns(clauses: Sequence[Clause]) -> list[str]:
    """What the patterns alone say of each clause, as ``weighing.trust`` names it."""
    return [
        f"{'cue' if j.durable else 'veto'}{j.level}" if j.level else "none" for j in _judged(clauses, None)
    ]


def _judged(clauses: Sequence[Clause], odds: Sequence[float] | None) -> list[Judgement]:  # noqa: C901 - acts reach over clauses, in order
    found: list[Judgement] = []
    governor: Rule | None = None  # cue that governs the sentence
    ban: Rule | None = None  # veto that governs the sentence
    leads: dict[int, Rule | None] = {}
    sentence = -1
    handed_over = any(clause.says("handover") for clause in clauses)
    for index, clause in enumerate(clauses):
        if clause.sentence != sentence:
            sentence = clause.sentence
            governor = leads.get(clause.lead) if clause.lead >= 0 else None
            ban = None
        last = index + 1 == len(clauses) or clauses[index + 1].sentence != sentence
        if clause.mark != ":" and clause.says("address_only"):
            _anchor(found)
            found.append(Judgement(clause, SpeechAct.SMALL_TALK, 0, "anchor", durable=False))
            continue
        if clause.says("back_veto"):
            _take_back(found, clause.sentence)
            found.append(Judgement(clause, SpeechAct.NEGATED, 6, "taken-back", durable=False))
            continue
        cue = _best(clause, "cues")
        veto = _best(clause, "vetoes")
        if clause.mark == "?" and last and not clause.says("polite") and not clause.says("rhetorical"):
            veto = _QUESTION
        if (
            ban is not None
            and (veto is None or ban.level > veto.level)
            and not (ban.act is SpeechAct.TASK and clause.says("new_matter"))
        ):
            veto = ban
        if handed_over and (veto is None or veto.level < _HANDOVER.level):
            veto = _HANDOVER
        own = cue
        inherits = (clause.item or veto is None or cue is not None) and _has_content(clause)
        if inherits and governor is not None and (cue is None or governor.level > cue.level):
            cue = governor
        if own is not None and own.governs and (veto is None or own.level > veto.level):
            governor = own if governor is None or own.level >= governor.level else governor
        if veto is not None and veto.governs and (own is None or own.level <= veto.level):
            ban = veto
        reacts = (
            index > 0
            and clauses[index - 1].sentence >= sentence - 1
            and clauses[index - 1].says("denies_before")
        )
        judgement = _decide(clause, cue, veto, own, reacts=reacts)
        if odds is not None:
            begins = all(j.durable or j.clause.paragraph != clause.paragraph for j in found)
            judgement = _weighed(judgement, odds[index], reacts=reacts, begins=begins)
        if clause.mark == ":" and last:
            leads[index] = governor if judgement.durable or own is not None else None
            if index + 1 < len(clauses) and clauses[index + 1].lead == index:
                judgement = Judgement(clause, judgement.act, judgement.level, "lead", durable=False)
        if veto is not None and veto.act is SpeechAct.TASK and not judgement.durable:
            governor = None
        found.append(judgement)
    return found


_HANDOVER = Rule("handover", SpeechAct.TASK, ADDRESSED, None)  # type: ignore[arg-type]
_QUESTION = Rule("question-mark", SpeechAct.QUESTION, 6, None)  # type: ignore[arg-type]


def _best(clause: Clause, kind: str) -> Rule | None:
    best: Rule | None = None
    shadow = clause.shadow
    for lang in clause.languages:
        rules = lang.cues if kind == "cues" else lang.vetoes
        for rule in rules.of(shadow):  # strongest first
            if best is not None and rule.level <= best.level:
                break
            if rule.matches(shadow, clause.text):
                best = rule
                break
    return best


def _decide(
    clause: Clause, cue: Rule | None, veto: Rule | None, own: Rule | None, *, reacts: bool
) -> Judgement:
    corrects = reacts or (own is not None and _corrects(clause))
    if cue is None and veto is None:
        return Judgement(clause, SpeechAct.SMALL_TALK, 0, "", durable=False)
    if cue is not None and (veto is None or cue.level > veto.level) and cue.level >= PASSING:
        act = SpeechAct.CORRECTION if corrects else cue.act
        return Judgement(
            clause,
            act,
            cue.level,
            cue.name,
            durable=True,
            corrects=corrects,
            near=True,
            said_as=cue.act,
            leans=own is None,
        )
    if veto is not None:
        return Judgement(clause, veto.act, veto.level, veto.name, durable=False, near=cue is not None)
    assert cue is not None
    return Judgement(clause, cue.act, cue.level, cue.name, durable=False, near=True)


def _weighed(said: Judgement, wording: float, *, reacts: bool, begins: bool) -> Judgement:
    """The patterns' judgement once the wording is weighed with it.

    Args:
        said: what the patterns say.
        wording: log-odds of the wording alone.
        reacts: whether what stands before it says that something was wrong.
        begins: whether nothing of the moment stands before it in its paragraph.
    """
    plain = said.durable and (said.level >= ADDRESSED or said.rule == "from-now-on")
    plain |= said.durable and begins and said.rule == "always-do"  # not "write a prompt. Always answer …"
    if plain or said.act is SpeechAct.NEGATED or said.rule in _SETTLED:
        return said
    pattern = f"{'cue' if said.durable else 'veto'}{said.level}" if said.level else "none"
    odds = weighing.trust(wording, pattern)
    least = LASTS if said.durable else LASTS_ALONE if said.level < STATED else _AGAINST_A_PLAIN_ONE
    if odds <= least:
        return replace(said, durable=False, near=said.near or odds > _WORTH_A_LINE)
    if said.durable:
        return said
    if said.level >= ADDRESSED and odds <= _AGAINST_A_VETO:
        return replace(said, near=True)  # a doubt, a question, a limit of time
    return _by_wording(said.clause, reacts=reacts)


def _by_wording(clause: Clause, *, reacts: bool) -> Judgement:
    corrects = reacts or _corrects(clause)
    tells = clause.says("directs")
    act = SpeechAct.RULE if tells else SpeechAct.FACT
    return Judgement(
        clause,
        SpeechAct.CORRECTION if corrects else act,
        STATED if tells or corrects else PASSING,
        "wording",
        durable=True,
        corrects=corrects,
        near=True,
        said_as=act,
        leans=True,
    )


_SETTLED = frozenset({"question-mark", "dated", "recalling", "handover", "lead", "taken-back"})
"""Rules whose word is not weighed."""


def _corrects(clause: Clause) -> bool:
    return clause.says("changes") or any(
        rule.act is SpeechAct.CORRECTION and rule.matches(clause.shadow, clause.text)
        for lang in clause.languages
        for rule in lang.cues.of(clause.shadow)
    )


def _has_content(clause: Clause) -> bool:
    letters = sum(1 for c in clause.shadow if c.isalnum() or c in (BLANK_CODE, BLANK_QUOTE))
    return letters >= 3


def _anchor(found: list[Judgement]) -> None:
    """After "keep that in mind": the sentence before was meant to last, all of its steps."""
    for index in range(len(found) - 1, -1, -1):
        before = found[index]
        if before.clause.sentence != found[-1].clause.sentence:
            break
        meant = before.level == 0 or (
            before.act in (SpeechAct.TASK, SpeechAct.TEMPORARY) and before.level <= STANDING
        )
        stated = meant and before.rule not in ("anchor", "task-first", "creating")
        # "bump it, run dist, then push the tag"
        step = index < len(found) - 1 and before.rule == "task-first"
        if not (before.durable or step or (stated and _has_content(before.clause))):
            break
        found[index] = Judgement(
            before.clause,
            before.act if before.durable else SpeechAct.RULE,
            ADDRESSED,
            "anchored",
            durable=True,
            corrects=before.corrects,
            near=True,
            leans=not before.durable,
        )


def _take_back(found: list[Judgement], sentence: int) -> None:
    """After "just thinking out loud": what was said just before does not count."""
    for index in range(len(found) - 1, -1, -1):
        before = found[index]
        if before.clause.sentence < sentence - 1:
            break
        if before.durable:
            found[index] = Judgement(
                before.clause, SpeechAct.HYPOTHETICAL, 6, "taken-back", durable=False, near=True
            )
