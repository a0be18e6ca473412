"""What comes next: what was named as a step and not done since, and what was asked for and is open. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cam.continuity import words
from cam.continuity.asking import Ask, Asked, is_control, points
from cam.continuity.commands import kind_words
from cam.continuity.goals import Goal
from cam.continuity.said import (
    MAX_ITEMS_READ,
    Piece,
    bare,
    code,
    covers,
    distinct,
    enumerated,
    is_open_lead,
    is_small,
    parts,
    paths,
)
from cam.continuity.session import Session
from cam.formats.continuity_file import MAX_ITEMS, tidy
from cam.language.candidates import is_cjk, words_of
from cam.language.claims import terms
from cam.language.statements import shadow


@dataclass(frozen=True, slots=True)
class Step:
    """Something to be done.

    Attributes:
        text: in the words it was named with.
        at: position in the evidence.
        by_user: whether the person named it.
        is_weak: whether no word called it a step: it was only said to be open.
    """

    text: str
    at: int
    by_user: bool = False
    is_weak: bool = False


_MOST_LEANING, _MOST_POINTING_BACK = 6, 12  # words with content
_SHARE_OF_WEAK = 0.25
"""Part of its words that has to come up again before what was only said to be open counts as dealt with."""


def next_steps(session: Session, goal: Goal) -> tuple[list[str], bool]:
    """What is to be done, the person's first; whether it had to be inferred."""
    steps = [
        s
        for s in _proposed(session)
        if not (
            is_done(s, session)
            or _is_dismissed(s, session, goal)
            or _is_taken_up(s, session, goal)
            or (s.is_weak and _is_spoken_of(s, session, _SHARE_OF_WEAK))
        )
    ]
    asked, inferred = _asked_open(session, goal, steps)
    # the person's own words first, then the newest of the assistant's
    own = [s for s in (*reversed(asked), *steps) if s.by_user]
    others = sorted((s for s in steps if not s.by_user), key=lambda s: -s.at)
    return list(distinct([s.text for s in (*own, *others)]))[:MAX_ITEMS], inferred and not others


def _is_taken_up(step: Step, session: Session, goal: Goal) -> bool:
    """Whether the person then asked for that very step, and it was done: "do the page numbers now"."""
    if goal.asked is None or step.at >= goal.since or not _is_closed(session, goal.since):
        return False
    wanted = frozenset(terms(goal.asked.text)) - words.vocabulary("control")
    return len(wanted) >= 2 and wanted <= frozenset(terms(step.text))


def _proposed(session: Session) -> list[Step]:
    """Steps that were named, in order of the list they stand in, the latest list first."""
    found = [*_by_assistant(session), *_by_user(session)]
    found += [
        Step(tidy(text), at) for at, text, is_done in session.plan if not is_done and not is_small(text)
    ]
    return found[: 2 * MAX_ITEMS_READ]


def _by_assistant(session: Session) -> list[Step]:
    """What the assistant named or left open at the end of a turn."""
    found: list[Step] = []
    for at, said, ends in reversed(session.said):
        for n, piece in enumerate(said if ends and len(found) < MAX_ITEMS_READ else ()):
            steps = _named_in(piece)
            is_weak = not steps
            steps = steps or _open_in(piece, intends=at == session.last_said and not _is_answered(session))
            if len(steps) == 1 and n and not piece.is_item and _leans(steps[0]):
                steps, is_weak = [_with_before(said, n, steps[0])], True
                if found and steps[0].startswith(found[-1].text):
                    found.pop()  # it goes on with what leant on the same sentence
            found += [Step(step, at, is_weak=is_weak) for step in steps]
    return found


def _is_answered(session: Session) -> bool:
    """Whether the person had the last word: what the assistant was about to do may be settled."""
    return any(a.at > session.last_said and a.ask is not Ask.NOTHING for a in session.asked)


def _with_before(said: Sequence[Piece], n: int, step: str) -> str:
    """A step that leans on what was said before it, together with that."""
    first = n - 1
    while first and _leans(said[first].text):
        first -= 1
    before = " ".join(piece.text for piece in said[first:n])
    return tidy(f"{before} {step}") if len(terms(before)) >= 2 else step


def _by_user(session: Session) -> list[Step]:
    """What the person named, or put off when it was offered."""
    found: list[Step] = []
    tasks = {a.at: a.text for a in session.asked if a.ask is Ask.TASK}
    for at, said in reversed(session.heard):
        steps = [s for piece in said for s in _asked_for_later(piece)]
        task = tasks.get(at, "")
        steps = [s for s in steps if _is_put_off(s) or not covers(s, task)]
        if not steps and any(_is_put_off(piece.text) for piece in said):
            steps = _offered(session, at)
        found += [Step(s, at, by_user=True) for s in steps]
    return found


def _offered(session: Session, before: int) -> list[str]:
    """What the assistant had offered when the person answered "yes, but later"."""
    said = next((said for at, said, ends in reversed(session.said) if ends and at < before), ())
    for piece in reversed(said):
        hit = words.find("offer", piece.shade)
        if hit is not None:
            text = piece.text[hit.end() :].rstrip(" ?？")
            return _listed([text]) if _says_what(text) and not points(text) else []
    return []


def steps_in(piece: Piece) -> list[str]:
    """The steps that one piece of the assistant's names, or leaves open."""
    return _named_in(piece) or _open_in(piece, intends=False)


def _named_in(piece: Piece) -> list[str]:
    """Steps that are called so: under a title, after a word like "next", in a list of open things."""
    if _is_no_step(piece):
        return []
    if is_open_lead(piece.lead) or piece.checked is False:
        return _whole(piece)
    if marked := _MARKED.findall(piece.text):
        return _listed(marked)
    if hit := words.find("open_mark", piece.shade):
        return _listed([piece.text[: hit.start()]])
    return [] if _is_talk(piece) else _after_cue(piece)


def _asked_for_later(piece: Piece) -> list[str]:
    """Steps that the person names."""
    if _is_no_step(piece) or _is_talk(piece):
        return []
    if is_open_lead(piece.lead) or piece.checked is False:
        return _whole(piece)
    if steps := _after_cue(piece):
        return steps
    # "add it to orders, and later also to invoices": what is put off is a part of the sentence
    for text in (*_CLAUSE.split(piece.text), piece.text):
        hit = words.find("deferred", shadow(text))
        if hit is not None and _says_what(f"{text[: hit.start()]} {text[hit.end() :]}"):
            return _listed([text])
    return []


def _is_put_off(text: str) -> bool:
    return words.find("deferred", shadow(text)) is not None


def _open_in(piece: Piece, *, intends: bool) -> list[str]:
    """What is only said to be open.

    Args:
        piece: a sentence or an item.
        intends: whether it stands in the last words of all, where what is about to be done was not done.
    """
    if _is_no_step(piece) or _is_talk(piece) or words.find("failed", piece.shade):
        return []
    if words.find("describes", shadow(piece.lead)):
        return []
    if _is_open(piece):
        told = words.find("told_to", piece.shade)
        return _listed([piece.text[told.end() :] if told else piece.text])
    return _intended(piece) if intends else []


def _after_cue(piece: Piece) -> list[str]:
    """What stands after "remaining:", "next I'll", "we still have to"."""
    lead, colon, rest = _after_colon(piece.text)
    if colon and is_open_lead(lead):
        named = enumerated(rest)
        if any(words.find("goes_on", name) for name in named[1:]):
            named = [rest]  # "the reconciliation depends on the old lock, must be rebuilt first"
        return _whole(piece) if _leans(rest) else _listed(named)
    hit = words.find("next_inline", piece.shade)
    if hit is None or not hit["step"].strip():
        return []
    if _has_subject(piece.text[: hit.start("step")], piece.shade[hit.start() : hit.start("step")]):
        return _whole(piece)
    return _listed(parts(piece.text[hit.start("step") : hit.end("step")]))


def _is_talk(piece: Piece) -> bool:
    """Whether it is an idea, an offer, or somebody else's words."""
    return any(words.find(group, piece.shade) for group in ("untried", "offer", "told"))


def _says_what(text: str) -> bool:
    """Whether what is put off is named: "let's do those tomorrow" leaves it to what was said before."""
    known = words.vocabulary("control") | words.vocabulary("pointing")
    own = [word for word in words_of(text.lower()) if word not in known]
    return len(own) >= 2 or sum(is_cjk(char) for char in text) >= 6


def _is_no_step(piece: Piece) -> bool:
    return (
        piece.checked is True
        or is_control(piece.text)
        or _says_nothing(piece.text)
        or piece.text.endswith(("?", "？"))
        or words.find("no_step", piece.shade) is not None
    )


def _is_open(piece: Piece) -> bool:
    """Whether a sentence says of something that it is not done, or that it ought to be."""
    if len(terms(piece.text)) < 2 and not _leans(piece.text):
        return False
    if any(words.find(group, piece.shade) for group in ("unfinished", "advice", "unable")):
        return True
    return words.find("needs", piece.shade) is not None and not words.find("environment", piece.shade)


def _intended(piece: Piece) -> list[str]:
    """What was about to be done, or is left to the person, in the last words of a session."""
    if (hit := words.find("intend", piece.shade)) and not words.find("waiting", piece.shade):
        return _listed(parts(piece.text[hit.end() :].strip(" ,:：，")))
    if not piece.is_item and not piece.lead and words.find("step_imperative", piece.shade):
        return _listed(parts(piece.text))
    return []


def _whole(piece: Piece) -> list[str]:
    return _listed([piece.text])


def _listed(texts: Iterable[str]) -> list[str]:
    return [
        tidy(bare(text)) for text in texts if not (is_small(text) or is_control(text) or _says_nothing(text))
    ]


_MARKED = re.compile(r"([^，,、;；:：✅✔✓☑❌✘✗⏳🚧⬜☐]{1,80}?)\s*[❌✘✗⏳🚧⬜☐]")
_COLON = re.compile(r":\s+(?=\S)|：\s*(?=\S)")


def _after_colon(text: str) -> tuple[str, str, str]:
    hit = _COLON.search(text)
    return (text[: hit.start()], ":", text[hit.end() :]) if hit else (text, "", "")


def _has_subject(before: str, cue: str) -> bool:
    """Whether what stands before a step's words says what it is about: "for `invoices` I need to …"."""
    return bool(set(terms(before)) - set(terms(cue)))


def _leans(step: str) -> bool:
    """Whether a step is understood only with the sentence before it."""
    low, said = step.lower(), len(terms(step))
    if words.find("points_back", low):
        return said <= _MOST_POINTING_BACK
    return said <= _MOST_LEANING and words.find("leans", low) is not None


def _says_nothing(text: str) -> bool:
    return words.find("says_nothing", text.strip().lower()) is not None


def _asked_open(session: Session, goal: Goal, steps: Sequence[Step]) -> tuple[list[Step], bool]:
    """What the person asked for and is not finished; whether that is a guess."""
    if goal.asked is None:
        return [], False
    found: list[Step] = []
    closed = _is_closed(session, goal.since)
    for one in (goal.asked, *goal.additions):
        found += _open_parts(session, goal, one)
    for waiting in goal.waiting:
        step = Step(waiting.text, waiting.at, by_user=True)
        if not is_done(step, session) and not _is_dismissed(step, session, goal):
            found.append(step)
    found = [f for f in found if not any(covers(f.text, s.text) or covers(s.text, f.text) for s in steps)]
    if found or steps or closed:
        return found, False
    if goal.asked.ask < Ask.WAY:
        return [], False  # nothing was asked for that could be finished
    last = session.asked[-1]
    is_unanswered = last.at > session.last_said and (last.ask is Ask.CHORE or _says_what(last.text))
    is_unanswered = is_unanswered and not covers(last.text, goal.text)
    text = last.text if is_unanswered and last.ask is not Ask.NOTHING else goal.text
    return [Step(text, goal.since, by_user=True)], True


def _open_parts(session: Session, goal: Goal, one: Asked) -> list[Step]:
    """Parts of a task that nothing was said of; what stands before one that was done is taken for done."""
    if _all_done(session, one.at):
        return []
    found = [Step(item, one.at, by_user=True) for item in one.items]
    done = [n for n, s in enumerate(found) if is_done(s, session) or _is_spoken_of(s, session, 0.5)]
    if not done:  # nothing is said of any single part: the words about the whole decide
        if _is_closed(session, goal.since):
            return [s for s in found[1:] if _is_untouched(s, session)]
        return [] if _are_names(one.items) else found
    return [s for s in found[done[-1] + 1 :] if not _is_dismissed(s, session, goal)]


_DOCUMENT = re.compile(r"\b(?:readme|changelog|contributing)\b", re.IGNORECASE)


def _is_untouched(step: Step, session: Session) -> bool:
    """Whether a part names a file that was neither changed nor spoken of."""
    named = {name.lower() for name in (*paths(step.text), *_DOCUMENT.findall(step.text))}
    told = " ".join(p.text for at, said, _ in session.said if at > step.at for p in said).lower()
    changed = [file.lower() for file, at in session.files.items() if at > step.at]
    return bool(named) and not any(name in told or any(name in file for file in changed) for name in named)


def _are_names(items: Sequence[str]) -> bool:
    return all(len(item.split()) <= 2 for item in items)


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
    ended = any(
        (words.find("done", p.shade) and not words.find("undone", p.shade))
        or words.find("went_back", p.shade)
        for p in final
    )
    if failing and not ended:
        return False
    return not any(
        p.text.rstrip().endswith(("?", "？")) and not words.find("offer", p.shade) for p in final[-1:]
    )


def _all_done(session: Session, since: int) -> bool:
    """Whether the assistant's last words say that all of it is done."""
    for at, said, ends in reversed(session.said):
        if ends and at > since:
            return any(words.find("all_done", p.shade) for p in said) and not any(steps_in(p) for p in said)
    return False


def is_done(step: Step, session: Session) -> bool:
    """Whether a step was done after it was named."""
    if _all_done(session, step.at):
        return True
    names = frozenset(code(step.text))
    if any(
        at > step.at and (covers(step.text, text, 0.5) or (names and names <= frozenset(code(text))))
        for at, text in session.done
    ):
        return True
    for at, text, is_done in session.plan:
        if is_done and at > step.at and covers(step.text, text):
            return True
    return _is_done_by_deed(step, session)


def _is_spoken_of(step: Step, session: Session, share: float) -> bool:
    """Whether there were words about it later that do not leave it open, or the person took it up."""
    wanted = frozenset(terms(step.text))
    later = [p for at, said, _ in session.said if at > step.at for p in said if not steps_in(p)]
    if step.is_weak:
        later += [p for at, said in session.heard if at > step.at for p in said]
    return any(len(wanted & frozenset(terms(p.text))) >= share * len(wanted) > 0 for p in later)


def _is_done_by_deed(step: Step, session: Session) -> bool:
    """Whether a later command or patch did it: the command it names, the file it names."""
    commands = [c for c in code(step.text) if " " in c or c.isalpha()]
    for run in session.runs:
        if run.at > step.at and run.passed:
            if any(c in run.command for c in commands):
                return True
            asked = frozenset(terms(step.text))
            if words.find("asks_to_run", step.text.lower()) and asked & kind_words(run.kind):
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


_CLAUSE = re.compile(r"[,;，；]\s*|\.\s+|\s+(?:and|but)\s+")


def _is_dismissed(step: Step, session: Session, goal: Goal) -> bool:
    """Whether the person does not want the step any more, or did it themselves."""
    if any(covers(gone, step.text) or covers(step.text, gone) for gone in goal.given_up):
        return True
    if goal.given_up and not step.by_user and step.at < goal.since:
        return True
    wanted = frozenset(terms(step.text))
    later = (piece for at, said in session.heard if at > step.at for piece in said)
    return any(_turns_away(clause, wanted) for piece in later for clause in _CLAUSE.split(piece.text))


def _turns_away(clause: str, wanted: frozenset[str]) -> bool:
    """Whether the person says of what is ``wanted``, and of little else, that it need not be done."""
    hit = words.find("dismiss", shadow(clause))
    if hit is None:
        return False
    rest = frozenset(terms(f"{clause[: hit.start()]} {clause[hit.end() :]}"))
    return bool(rest & wanted) and len(rest - wanted) <= 2
