"""What comes next: what was named as a step and not done since, and what was asked for and is open. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cam.continuity import words
from cam.continuity.commands import kind_words
from cam.continuity.goals import Ask, Goal, is_control
from cam.continuity.said import MAX_ITEMS_READ, Piece, bare, code, covers, distinct, is_small, parts, paths
from cam.continuity.session import Session
from cam.formats.continuity_file import MAX_ITEMS, tidy
from cam.language.claims import terms
from cam.language.statements import shadow


@dataclass(frozen=True, slots=True)
class Step:
    """Something to be done."""

    text: str
    at: int
    by_user: bool = False
    weak: bool = False


def next_steps(session: Session, goal: Goal) -> tuple[list[str], bool]:
    """What is to be done, the person's first; whether it had to be inferred."""
    steps = [s for s in _proposed(session) if not is_done(s, session) and not _is_dismissed(s, session, goal)]
    asked, inferred = _asked_open(session, goal, steps)
    # the person's own words first, then the newest of the assistant's
    own = [s for s in (*reversed(asked), *steps) if s.by_user]
    others = sorted((s for s in steps if not s.by_user), key=lambda s: -s.at)
    return list(distinct([s.text for s in (*own, *others)]))[:MAX_ITEMS], inferred and not others


def _proposed(session: Session) -> list[Step]:
    """Steps that were named, in order of the list they stand in, the latest list first."""
    found: list[Step] = []
    for at, said, ends in reversed(session.said):
        if not ends or len(found) >= MAX_ITEMS_READ:
            continue
        is_last = at == session.last_said
        for n, piece in enumerate(said):
            steps = steps_in(piece, intends=is_last)
            if len(steps) == 1 and n and _leans(steps[0]):
                first = n - 1
                while first and _leans(said[first].text):
                    first -= 1
                before = " ".join(p.text for p in said[first:n])
                steps = [tidy(f"{before} {steps[0]}")] if len(terms(before)) >= 2 else steps
            found += [Step(step, at) for step in steps]
    tasks = {a.at: a.text for a in session.asked if a.ask is Ask.TASK}
    for at, said in reversed(session.heard):
        steps = [s for piece in said for s in steps_in(piece, intends=False, user=True)]
        found += [Step(s, at, by_user=True) for s in steps if not covers(s, tasks.get(at, ""))]
    found += [
        Step(tidy(text), at) for at, text, is_done in session.plan if not is_done and not is_small(text)
    ]
    return found[: 2 * MAX_ITEMS_READ]


def steps_in(  # noqa: PLR0911 - one question a line, in order
    piece: Piece, *, intends: bool, user: bool = False
) -> list[str]:
    """The steps that one piece names."""
    if piece.checked or is_control(piece.text):
        return []
    lead = shadow(piece.lead)
    if words.find("next_lead", lead) and not words.find("failed_lead", lead):
        if words.find("offer", piece.shade) or _says_nothing(piece.text):
            return []
        return [tidy(bare(piece.text))]
    if piece.checked is False:
        return [tidy(bare(piece.text))]
    if any(words.find(group, piece.shade) for group in ("untried", "offer", "told")):
        return []
    hit = words.find("next_inline", piece.shade)
    if hit is not None and hit["step"].strip():
        step = piece.text[hit.start("step") : hit.end("step")]
        return [
            tidy(bare(p))
            for p in parts(step)
            if not is_small(p) and not is_control(p) and not _says_nothing(p)
        ]
    if user or words.find("describes", lead):
        return []
    needs = words.find("needs", piece.shade) and not words.find("environment", piece.shade)
    if (
        (needs or words.find("unfinished", piece.shade))
        and not words.find("failed", piece.shade)
        and (len(terms(piece.text)) >= 2 or _leans(piece.text))
    ):
        return [tidy(bare(piece.text))]
    if intends and (hit := words.find("intend", piece.shade)) and not words.find("waiting", piece.shade):
        step = piece.text[hit.end() :].strip(" ,:：，")
        return [tidy(bare(p)) for p in parts(step) if not is_small(p)]
    return []


_LEANS = re.compile(
    r"(?:i|we|you)\b[^,;:]{0,40}(?:\b(?:it|that|this|those|them|here|there)\b|$)|(?:it|that|this|those|these|they|both)\b",
    re.IGNORECASE,
)


def _leans(step: str) -> bool:
    """Whether a step is understood only with the sentence before it."""
    return _LEANS.match(step) is not None and len(terms(step)) <= 6


_NOTHING = re.compile(r"(?:none|nothing|n/?a|no|无|没有|-+)\b.{0,40}$", re.IGNORECASE)


def _says_nothing(text: str) -> bool:
    return _NOTHING.match(text.strip()) is not None


def _asked_open(session: Session, goal: Goal, steps: Sequence[Step]) -> tuple[list[Step], bool]:
    """What the person asked for and is not finished; whether that is a guess."""
    if goal.asked is None:
        return [], False
    found: list[Step] = []
    closed = _is_closed(session, goal.since)
    for one in (goal.asked, *goal.additions):
        for item in one.items:
            step = Step(item, one.at, by_user=True)
            if (
                not is_done(step, session)
                and not _is_dismissed(step, session, goal)
                and not _all_done(session, one.at)
            ):
                found.append(step)
        if one.items and len(found) >= len(one.items) and closed and one is goal.asked:
            found = []  # nothing is said of any single part: the words about the whole decide
    for waiting in goal.waiting:
        step = Step(waiting.text, waiting.at, by_user=True)
        if not is_done(step, session) and not _is_dismissed(step, session, goal):
            found.append(step)
    found = [f for f in found if not any(covers(f.text, s.text) or covers(s.text, f.text) for s in steps)]
    if found or steps or closed:
        return found, False
    last = session.asked[-1]
    text = last.text if last.ask is Ask.CHORE and last.at > session.last_said else goal.text
    return [Step(text, goal.since, by_user=True)], True


def _is_closed(session: Session, since: int) -> bool:
    """Whether the assistant had the last word on what was asked, and did not end on a failure."""
    last_ask = max((a.at for a in session.asked if a.ask is not Ask.NOTHING), default=since)
    if session.aborted > max(session.last_said, since) or session.last_said < max(
        since, session.last_call, 0
    ):
        return False
    if session.last_said < last_ask and session.last_said < session.asked[-1].at:
        return False
    final = next((said for at, said, _ in reversed(session.said)), ())
    failing = session.runs and not session.runs[-1].passed and session.runs[-1].at > since
    if failing and not any(words.find("done", p.shade) and not words.find("undone", p.shade) for p in final):
        return False
    return not any(
        p.text.rstrip().endswith(("?", "？")) and not words.find("offer", p.shade) for p in final[-1:]
    )


def _all_done(session: Session, since: int) -> bool:
    """Whether the assistant's last words say that all of it is done."""
    for at, said, ends in reversed(session.said):
        if ends and at > since:
            return any(words.find("all_done", p.shade) for p in said) and not any(
                steps_in(p, intends=False) for p in said
            )
    return False


def is_done(step: Step, session: Session) -> bool:
    """Whether a step was done after it was named."""
    if _all_done(session, step.at):
        return True
    if any(at > step.at and covers(step.text, text) for at, text in session.done):
        return True
    for at, text, is_done in session.plan:
        if is_done and at > step.at and covers(step.text, text):
            return True
    return _is_done_by_deed(step, session)


def _is_done_by_deed(step: Step, session: Session) -> bool:
    """Whether a later command or patch did it: the command it names, the file it names."""
    commands = [c for c in code(step.text) if " " in c or c.isalpha()]
    for run in session.runs:
        if run.at > step.at and run.passed:
            if any(c in run.command for c in commands):
                return True
            asked = frozenset(terms(step.text))
            if _RUNS.match(step.text.lower()) and asked & kind_words(run.kind):
                return True
    named = paths(step.text)
    after = max((at for at, _, _ in session.said if at >= step.at), default=step.at)
    return (
        bool(named)
        and all(
            any(
                (name == file or file.endswith("/" + name)) and at > step.at
                for file, at in session.files.items()
            )
            for name in named
        )
        and (session.last_said > step.at or after == step.at)
    )


_RUNS = re.compile(r"\W*(?:re-?)?(?:run|execute|跑|运行|执行)")


def _is_dismissed(step: Step, session: Session, goal: Goal) -> bool:
    """Whether the person does not want the step any more, or did it themselves."""
    if any(covers(gone, step.text) or covers(step.text, gone) for gone in goal.given_up):
        return True
    if goal.given_up and not step.by_user and step.at < goal.since:
        return True
    for at, said in session.heard:
        if at > step.at:
            for piece in said:
                hit = words.find("dismiss", piece.shade)
                around = f"{piece.text[: hit.start()]} {piece.text[hit.end() :]}" if hit else ""
                rest = frozenset(terms(around))
                if (
                    hit
                    and rest
                    and rest & frozenset(terms(step.text))
                    and len(rest - frozenset(terms(step.text))) <= 2
                ):
                    return True
    return False
