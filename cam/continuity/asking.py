"""What one message of the person's asks for, and which of it is the task. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from cam.continuity import words
from cam.continuity.said import Piece, bare, clean, enumerated, parts, paths, pieces, prose
from cam.core.evidence import Message
from cam.formats.continuity_file import MAX_GOAL, tidy
from cam.language.candidates import is_cjk, words_of
from cam.language.claims import terms
from cam.language.statements import Clause, take_apart

_FEWEST_NAMED = 3  # things in a row that are parts of the task
_CALLED = re.compile(r"^.{0,120}[:：]\s*(?=\S)")
_CONTEXT = 160  # characters before a task that may belong to it
_STANDING = 4  # level of a cue that says how long: always, never, from now on
_TASK_RULES = ("task-first", "polite-task", "creating", "asks-help", "task", "ui-change")
_FACT = 2  # level of a fact mentioned in passing
_YES = re.compile(r"^\W*(?:yes|yeah|yep|sure)\b\W*")


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
        chores = words.vocabulary("chores")
        is_chore = not chores.isdisjoint(words_of(whole.casefold())) or any(
            word in whole for word in chores if not word.isascii()
        )
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
    if Ask.NOTHING < best < Ask.TASK and turns_away and words.find("replaces", shade):
        best = Ask.TASK  # "forget date-fns, use luxon instead"
    listed = [p.text for p in pieces(said) if p.is_item and words.find("imperative", p.shade)]
    if best < Ask.TASK and len(listed) >= 2:  # "please do the following:" and a list
        return replace(base, ask=Ask.TASK, items=tuple(map(tidy, listed)))
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
        or (best is Ask.TASK and not points(text) and words.find("instead", shade) is not None),
        text=text,
        items=items,
        is_addition=words.find("add_on", clauses[start].shadow) is not None
        or words.find("add_on", shade) is not None,
        is_aside=words.find("aside", shade) is not None,
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


def deictic() -> frozenset[str]:
    """Words that point at what was said before."""
    return words.vocabulary("deictic")


def points(text: str) -> bool:
    """Whether ``text`` points at what was said before."""
    return bool(set(words_of(text.lower())) & deictic()) or any(
        w in text for w in ("这个", "那个", "它", "上面")
    )


def _ask(clause: Clause) -> Ask:  # noqa: C901, PLR0911 - one question a line, in order
    """What one clause asks for."""
    shade = clause.shadow
    if is_control(clause.text):
        return Ask.NOTHING
    if words.find("add_on", shade):
        shade = _YES.sub("", shade)  # "yes please add a staging variant as well"
    if words.find("state_question", shade) or words.find("later", shade):
        return Ask.NOTHING
    if words.find("lookup", shade):
        return Ask.LOOK
    if words.find("takes_up", shade) and clause.mark != "?":
        return Ask.TASK if _substance(clause) else Ask.NOTHING
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
        for rule in lang.vetoes.of(clause.shadow)
        if rule.name in names
    )


def _is_for_good(clause: Clause, least: int | None = None) -> bool:
    """Whether a clause states a rule, or with ``_FACT`` anything that holds beyond the task."""
    least = _STANDING if least is None else least
    return any(
        rule.matches(clause.shadow, clause.text)
        for lang in clause.languages
        for rule in lang.cues.of(clause.shadow)
        if rule.level >= least
    )


def _substance(clause: Clause) -> bool:
    """Whether a task says on what: "fix it" does not."""
    if sum(is_cjk(char) for char in clause.text) >= 4:
        return True
    known = (words.vocabulary("control") - words.vocabulary("things")) | deictic()
    return len({word for word in words_of(clause.text.lower()) if word not in known}) >= 2


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
    found = [term for term in terms(text) if term not in deictic()]
    begins = text.split(" ", 1)[0].lower() in words.vocabulary("verbs")
    return _is_specific(text) or (begins and len(found) >= 2 and not _is_vague(text))


def _is_specific(text: str) -> bool:
    """Whether a part of a task can be understood by itself: "fix what you find" cannot."""
    return len([t for t in terms(text) if t not in deictic()]) >= 2 and not _is_vague(text)


def _is_vague(text: str) -> bool:
    if paths(text):
        return False  # "document it in openapi.yaml"
    return bool(set(words_of(text.lower())) & (deictic() | words.vocabulary("vague")))
