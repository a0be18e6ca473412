"""What the work is for: which of the person's tasks counts last, and what was added to it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cam.continuity import words
from cam.continuity.asking import Ask, Asked, deictic, points
from cam.continuity.said import covers, pieces
from cam.formats.continuity_file import MAX_GOAL, tidy
from cam.language.candidates import is_cjk, words_of
from cam.language.claims import terms

_FEW = 3  # CJK characters that name nothing


@dataclass(frozen=True, slots=True)
class Goal:
    """What the work is for.

    Attributes:
        text: one line, "" where nothing was asked.
        asked: the message it comes from.
        additions: messages that added to it.
        given_up: goals that were turned away from.
        waiting: goals that wait while something else is done.
        since: position in the evidence from which it counts.
    """

    text: str = ""
    asked: Asked | None = None
    additions: tuple[Asked, ...] = ()
    given_up: tuple[str, ...] = ()
    waiting: tuple[Asked, ...] = ()
    since: int = 0
    doubts: tuple[str, ...] = field(default=())


def find_goal(asked: Sequence[Asked], edited: frozenset[int] = frozenset()) -> Goal:
    """The last real task, and what was added to it.

    Args:
        asked: the person's messages in order.
        edited: ordinals of messages in whose turn files were changed.
    """
    goal = Goal()
    for one in asked:
        goal = _after(goal, one, edited)
    if goal.asked is None:
        goal = _makeshift(asked, goal, edited)
    if goal.asked is None:
        return goal
    extra = [a.text for a in goal.additions if not covers(a.text, goal.asked.text)]
    return replace(
        goal,
        text=tidy(
            "; ".join([goal.asked.text.rstrip(" .;。；"), *extra]) if extra else goal.asked.text, MAX_GOAL
        ),
    )


def _after(goal: Goal, one: Asked, edited: frozenset[int]) -> Goal:
    if one.turns_away and goal.asked is not None and one.ask < Ask.TASK:
        if _is_bare(one.said) or points(one.said) or covers(_subject(one.said), goal.asked.text):
            return _given_up(goal, one)
        return goal
    is_new = (
        one.ask is Ask.TASK
        or (one.ask is Ask.WAY and goal.asked is None)
        or (
            one.ask is Ask.PROBLEM
            and (
                goal.asked is None
                or (one.ordinal in edited and not _related(goal, one) and _is_full_problem(one))
            )
        )
    )
    back = _gone_back(goal, one)
    if not is_new and back is None:
        return goal
    if back is not None:
        return replace(
            goal, asked=back, additions=(), waiting=tuple(w for w in goal.waiting if w != back), since=one.at
        )
    if goal.asked is not None and not one.turns_away and (one.is_addition or _is_detail(one)):
        return replace(goal, additions=(*goal.additions, one))
    if goal.asked is None:
        return replace(goal, asked=one, additions=(), since=one.at)
    waiting, given_up = goal.waiting, goal.given_up
    if one.turns_away:
        given_up = (*given_up, goal.asked.text, *(a.text for a in goal.additions))
        waiting = ()
    elif one.is_aside:
        waiting = (*waiting, goal.asked)
    return replace(goal, asked=one, additions=(), waiting=waiting, given_up=given_up, since=one.at)


def _is_full_problem(one: Asked) -> bool:
    """Whether a problem stands for itself; "that feels slow, use 120" is about what is in hand."""
    said = one.said.lower()
    return len(terms(one.text)) >= 5 and not any(words.find("constrain", p.shade) for p in pieces(said))


def _given_up(goal: Goal, one: Asked) -> Goal:
    assert goal.asked is not None
    gone = (goal.asked.text, *(a.text for a in goal.additions))
    before = goal.waiting[-1] if goal.waiting else None
    return replace(
        goal,
        asked=before,
        additions=(),
        waiting=goal.waiting[:-1],
        given_up=(*goal.given_up, *gone),
        since=before.at if before else one.at,
    )


def _gone_back(goal: Goal, one: Asked) -> Asked | None:
    """The waiting task that a message goes back to."""
    if not words.find("go_back", one.said.lower()):
        return None
    for waiting in reversed(goal.waiting):
        if covers(one.text, waiting.text) or len(set(terms(one.text)) & set(terms(waiting.text))) >= 1:
            return waiting
    return None


def _makeshift(asked: Sequence[Asked], goal: Goal, edited: frozenset[int]) -> Goal:
    """The goal where nobody stated a task: a problem, else a request to look, else what was said first."""
    left = [a for a in asked if not any(covers(gone, a.text) for gone in goal.given_up)]
    for least, doubt in (
        (Ask.PROBLEM, "the goal is taken from a question"),
        (Ask.LOOK, "the goal is taken from a request to look at something"),
    ):
        found = [a for a in left if a.ask is least]
        if found:
            return replace(goal, asked=found[-1], since=found[-1].at, doubts=(doubt,))
    first = next((a for a in left if a.ask is Ask.STATEMENT), None)
    if first is None:  # what reads like a rule and led to changes in files was a task as well
        first = next((a for a in left if a.ordinal in edited and terms(a.text)), None)
    if first is None:
        return goal
    return replace(goal, asked=first, since=first.at, doubts=("the goal is what was said first",))


def _is_bare(text: str) -> bool:
    """Whether "never mind" is all that is said."""
    hit = words.find("turn_away", text.lower())
    if hit is not None and any(map(is_cjk, hit[0])):
        return sum(map(is_cjk, text[: hit.start()] + text[hit.end() :])) <= _FEW
    known = words.vocabulary("control") | words.vocabulary("turning")
    return not set(words_of(text.lower())) - known


def _subject(text: str) -> str:
    """What is turned away from: "forget about the cache" is about the cache."""
    return " ".join(t for t in terms(text) if t not in words.vocabulary("turning"))


def _is_detail(one: Asked) -> bool:
    """Whether a task points at the one before it: "add a test for that"."""
    low = one.text.lower()
    return points(low) and len([t for t in terms(one.text) if t not in deictic()]) <= 4


def _related(goal: Goal, one: Asked) -> bool:
    assert goal.asked is not None
    return bool(set(terms(goal.asked.said)) & set(terms(one.text)))
