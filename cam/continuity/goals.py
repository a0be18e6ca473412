"""What the person asked for, message by message: which of it is a task, and which task counts last. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from cam.continuity import words
from cam.continuity.said import Piece, bare, clean, covers, enumerated, parts, pieces, prose
from cam.core.evidence import Message
from cam.formats.continuity_file import MAX_GOAL, tidy
from cam.language.candidates import is_cjk, words_of
from cam.language.claims import terms
from cam.language.statements import Clause, take_apart


class Ask(IntEnum):
    """What a message asks for; the higher, the more it is a task."""

    NOTHING = 0  # thanks, going on, a question about the state, a way to do it
    CHORE = 1  # run the tests, commit
    STATEMENT = 2  # says something, asks for nothing
    LOOK = 3  # show, explain
    WAY = 4  # a way to do it; a task where nothing was asked before
    PROBLEM = 5  # a question or a problem of substance
    TASK = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """One message of the person's.

    Attributes:
        ask: what it asks for.
        text: the task in its own words, one line.
        ordinal: of the message.
        at: its position in the evidence.
        items: the task's parts, where the message lists them.
        is_addition: whether it adds to the task before.
        is_aside: whether the task before only waits.
        turns_away: whether the task before is given up.
        said: the whole message, clean.
    """

    ask: Ask
    text: str
    ordinal: int
    at: int
    items: tuple[str, ...] = ()
    is_addition: bool = False
    is_aside: bool = False
    turns_away: bool = False
    said: str = ""


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


def read_message(message: Message, at: int) -> Asked:
    """What one message asks for."""
    said = clean(message.text)
    clauses = take_apart(said).clauses
    whole = " ".join(said.split())
    shade = " ".join(c.shadow for c in clauses)
    turns_away = any(words.find("turn_away", c.shadow) for c in clauses)
    base = Asked(
        Ask.NOTHING, tidy(prose(said), MAX_GOAL), message.ordinal, at, turns_away=turns_away, said=said
    )
    if not clauses:
        return base
    if is_control(whole):
        is_chore = bool(set(words_of(whole.casefold())) & _CHORES) or "测试" in whole or "提交" in whole
        return replace(base, ask=Ask.CHORE if is_chore else Ask.NOTHING)
    best, start = Ask.NOTHING, 0
    sentences: dict[int, str] = {}
    for clause in clauses:
        sentences[clause.sentence] = f"{sentences.get(clause.sentence, '')} {clause.shadow}".strip()
    for n, clause in enumerate(clauses):
        asks_state = words.find("state_question", sentences[clause.sentence]) is not None
        ask = Ask.NOTHING if asks_state else _ask(clause)
        if ask > best:
            best, start = ask, n
    if best is Ask.NOTHING:
        shows = "```" in said or "~~~" in said  # a log with "please fix" is a problem
        return replace(base, ask=Ask.PROBLEM) if shows and terms(base.text) else base
    if best is Ask.TASK and start and clauses[start].lead >= 0:
        start = clauses[start].lead
    else:
        start = _with_context(clauses, start)
    text, items = _task_text(said, clauses, start)
    return replace(
        base,
        ask=best,
        turns_away=turns_away
        or (best is Ask.TASK and not _points(text) and words.find("instead", shade) is not None),
        text=text,
        items=items,
        is_addition=words.find("add_on", clauses[start].shadow) is not None
        or words.find("add_on", shade) is not None,
        is_aside=words.find("aside", shade) is not None,
    )


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
        goal = _makeshift(asked, goal)
    if goal.asked is None:
        return goal
    extra = [a.text for a in goal.additions if not covers(a.text, goal.asked.text)]
    return replace(
        goal,
        text=tidy(
            "; ".join([goal.asked.text.rstrip(" .;。；"), *extra]) if extra else goal.asked.text, MAX_GOAL
        ),
    )


def is_control(text: str) -> bool:
    """Whether ``text`` is nothing but thanks, agreement, going on, or a chore."""
    low = text.casefold().strip(" .!?,~:;。！？，、…\"'")
    if not low or words.find("control_cjk", "".join(c for c in low if c.isalnum())):
        return True
    known = words.vocabulary("control")
    found = low.replace("’", "'").split()
    return len(found) <= 14 and all(
        w.strip(" .!?,~:;()…\"'-–—。！，👍🙏🎉🚀❤️✅😀😊🙂") in known
        or not w.strip(".,!?-–—👍🙏🎉🚀❤️✅😀😊🙂")
        for w in found
    )


_CHORES = frozenset(
    "run rerun re-run check checks commit push merge test tests build lint format retry try pr".split()
)
_THINGS = frozenset("test tests testing build lint linter formatter suite pr changes".split())
_TURNING = frozenset(
    "never mind nevermind forget about scrap drop cancel abandon skip bother scratch change plan".split()
)
_DEICTIC = frozenset("it that this them those these thing things one ones same there here again".split())
_FEWEST_NAMED = 3  # things in a row that are parts of the task
_CALLED = re.compile(r"^.{0,120}[:：]\s*(?=\S)")
_FEW = 3  # CJK characters that name nothing
_CONTEXT = 160  # characters before a task that may belong to it
_STANDING = 4  # level of a cue that says how long: always, never, from now on
_TASK_RULES = ("task-first", "polite-task", "creating", "asks-help", "task", "ui-change")
_FACT = 2  # level of a fact mentioned in passing


def _after(goal: Goal, one: Asked, edited: frozenset[int]) -> Goal:
    if one.turns_away and goal.asked is not None and one.ask < Ask.TASK:
        if _is_bare(one.said) or _points(one.said) or covers(_subject(one.said), goal.asked.text):
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


def _makeshift(asked: Sequence[Asked], goal: Goal) -> Goal:
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
    if first is None:
        return goal
    return replace(goal, asked=first, since=first.at, doubts=("the goal is what was said first",))


def _ask(clause: Clause) -> Ask:  # noqa: PLR0911 - one question a line, in order
    """What one clause asks for."""
    shade = clause.shadow
    if is_control(clause.text):
        return Ask.NOTHING
    if words.find("state_question", shade) or words.find("later", shade):
        return Ask.NOTHING
    if words.find("lookup", shade):
        return Ask.LOOK
    if words.find("constrain", shade):
        return Ask.WAY if _substance(clause) and not _is_for_good(clause, _FACT) else Ask.NOTHING
    if words.find("imperative", shade) or words.find("want", shade) or _asks(clause, *_TASK_RULES):
        if _is_for_good(clause):
            return Ask.NOTHING
        return Ask.TASK if _substance(clause) else Ask.NOTHING
    if clause.mark == "?" or _asks(clause, "question") or words.find("problem", shade):
        return Ask.PROBLEM if len(terms(clause.text)) >= 2 else Ask.NOTHING
    if _is_for_good(clause, _FACT):
        return Ask.NOTHING
    return Ask.STATEMENT if len(terms(clause.text)) >= 3 else Ask.NOTHING


def _asks(clause: Clause, *names: str) -> bool:
    """Whether one of the rules that say what is not for good (so named) holds for a clause."""
    return any(
        rule.matches(clause.shadow, clause.text)
        for lang in clause.languages
        for rule in lang.vetoes
        if rule.name in names
    )


def _is_for_good(clause: Clause, least: int | None = None) -> bool:
    """Whether a clause states a rule, or with ``_FACT`` anything that holds beyond the task."""
    least = _STANDING if least is None else least
    return any(
        rule.matches(clause.shadow, clause.text)
        for lang in clause.languages
        for rule in lang.cues
        if rule.level >= least
    )


def _substance(clause: Clause) -> bool:
    """Whether a task says on what: "fix it" does not."""
    if sum(is_cjk(char) for char in clause.text) >= 4:
        return True
    known = (words.vocabulary("control") - _THINGS) | _DEICTIC
    return len({word for word in words_of(clause.text.lower()) if word not in known}) >= 2


def _is_bare(text: str) -> bool:
    """Whether "never mind" is all that is said."""
    hit = words.find("turn_away", text.lower())
    if hit is not None and any(map(is_cjk, hit[0])):
        return sum(map(is_cjk, text[: hit.start()] + text[hit.end() :])) <= _FEW
    known = words.vocabulary("control") | _TURNING
    return not set(words_of(text.lower())) - known


def _subject(text: str) -> str:
    """What is turned away from: "forget about the cache" is about the cache."""
    return " ".join(t for t in terms(text) if t not in _TURNING)


def _is_specific(text: str) -> bool:
    """Whether a part of a task can be understood by itself: "fix what you find" cannot."""
    return len([t for t in terms(text) if t not in _DEICTIC]) >= 2 and not _is_vague(text)


def _is_vague(text: str) -> bool:
    return bool(set(words_of(text.lower())) & (_DEICTIC | {"what", "whatever", "anything", "everything"}))


def _is_detail(one: Asked) -> bool:
    """Whether a task points at the one before it: "add a test for that"."""
    low = one.text.lower()
    return _points(low) and len([t for t in terms(one.text) if t not in _DEICTIC]) <= 4


def _points(text: str) -> bool:
    return bool(set(words_of(text.lower())) & _DEICTIC) or any(
        w in text for w in ("这个", "那个", "它", "上面")
    )


def _related(goal: Goal, one: Asked) -> bool:
    assert goal.asked is not None
    return bool(set(terms(goal.asked.said)) & set(terms(one.text)))


def _with_context(clauses: Sequence[Clause], start: int) -> int:
    """The clause from which the task is told: what is said just before it often names its subject."""
    begin = start
    room = _CONTEXT
    for n in range(start - 1, -1, -1):
        clause = clauses[n]
        room -= len(clause.text)
        if (
            room < 0
            or is_control(clause.text)
            or _is_for_good(clause)
            or words.find("turn_away", clause.shadow)
        ):
            break
        if words.find("constrain", clause.shadow) or words.find("state_question", clause.shadow):
            break
        begin = n
    return begin


def _task_text(said: str, clauses: Sequence[Clause], start: int) -> tuple[str, tuple[str, ...]]:
    """The task as it was said, from its first clause on, and its parts."""
    position, first = 0, 0
    ends: list[int] = []
    for n, clause in enumerate(clauses):
        found = said.find(clause.text, position)
        if found < 0:
            continue
        if n == start:
            first = found
        position = found + len(clause.text)
        if n >= start:
            ends.append(position)
    body = said[first:]
    # as many whole clauses as have room; always the first one
    room = [end for end in ends if end - first <= MAX_GOAL] or ends[:1]
    last = room[-1] if room else len(said)
    tail = said[last : last + 2]
    last += len(tail) - len(tail.lstrip('.!?。！？`)"”'))
    text = " ".join(line.strip() for line in said[first:last].split("\n") if line.strip())
    return tidy(text, MAX_GOAL), tuple(map(tidy, _parts_of(pieces(body), text)))


def _parts_of(said: Sequence[Piece], text: str) -> list[str]:
    """The parts of a task, where it is told in a list, in a row of steps, or as "these three: a, b, c"."""
    listed = [piece.text for piece in said if piece.is_item]
    if len(listed) >= 2:
        return listed
    for piece in said:
        if piece.text not in text:
            break  # what follows the task is not part of it
        steps = [bare(step) for step in parts(piece.text)]
        if len(steps) >= 2 and all(map(_is_step, steps)):
            return steps
        named = enumerated(_CALLED.sub("", piece.text))
        if len(named) >= _FEWEST_NAMED:
            return named
    steps = parts(text)
    return steps if len(steps) >= 2 and all(map(_is_specific, steps)) else []


def _is_step(text: str) -> bool:
    """Whether a part of a task can stand by itself."""
    found = [term for term in terms(text) if term not in _DEICTIC]
    begins = text.split(" ", 1)[0].lower() in words.vocabulary("verbs")
    return _is_specific(text) or (begins and len(found) >= 2 and not _is_vague(text))
