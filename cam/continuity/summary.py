"""From one session's evidence to what the next session must know. Pure; every step linear in the evidence.

goal       the last real task of the person's, with what they added to it
working    the last successful command of each kind
failed     commands whose kind did not succeed later, approaches given up
untried    what was proposed and not tried since
next_steps what the person asked for and is not finished, what the assistant left open and did not do since
notes      files changed, decisions, what the environment needs

Later beats earlier and the person beats the assistant. Nothing that was injected counts, secrets are masked
and private spans cut before a text is looked at. What names files, the branch or the worktree belongs to the
worktree, the rest to the project.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from cam.continuity import words
from cam.continuity.commands import Run, kind_words, run_of
from cam.continuity.goals import Ask, Asked, Goal, find_goal, is_control, read_message
from cam.continuity.said import Piece, clean, code, covers, is_small, parts, paths, pieces, same
from cam.core.evidence import EvidenceItem, Message, Provenance, RolloutEvidence, ToolCall
from cam.formats.continuity_file import LISTS, MAX_ITEMS, ContinuityState, tidy
from cam.language.claims import terms
from cam.language.relations import contradicts
from cam.language.statements import shadow

MAX_DECISIONS, MAX_ENVIRONMENT = 4, 3
_MAX_FILES = 12
_MAX_STEPS = 40  # that are looked at, the newest
_ABORTED = "turn_aborted"


@dataclass(frozen=True, slots=True)
class Summary:
    """What one session leaves.

    Attributes:
        state: all of it.
        warnings: doubts, one line each; never part of a file or of the start block.
        confidence: ``high``, ``medium`` or ``low``.
        counts: evidence by kind.
        runs: commands that ended, for what they clear in older states.
        done: what the session says is done, for the same.
        given_up: what the person turned away from.
        is_aside: whether the goal is taken from a question and nothing was done about it: no reason to give
            up the goal that stood before.
    """

    state: ContinuityState
    warnings: tuple[str, ...] = ()
    confidence: str = "low"
    counts: dict[str, int] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()
    done: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class Layers:
    """A state by layer.

    Attributes:
        project: what holds for every worktree.
        local: what names files, the branch or the worktree.
    """

    project: ContinuityState
    local: ContinuityState


@dataclass(frozen=True, slots=True)
class _Step:
    """Something to be done."""

    text: str
    at: int
    by_user: bool = False
    weak: bool = False


@dataclass(slots=True)
class _Session:
    """The evidence, read once."""

    asked: list[Asked] = field(default_factory=list)
    said: list[tuple[int, tuple[Piece, ...], bool]] = field(default_factory=list)  # at, pieces, ends its turn
    heard: list[tuple[int, tuple[Piece, ...]]] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    edited: set[int] = field(default_factory=set)
    plan: list[tuple[int, str, bool]] = field(default_factory=list)
    last_said: int = -1
    last_call: int = -1
    aborted: int = -1
    done: list[tuple[int, str]] = field(default_factory=list)


def summarize(evidence: RolloutEvidence, root: str | None = None) -> Summary:
    """What the session leaves for the next one.

    Args:
        evidence: one session; turns of other projects taken out.
        root: the worktree's folder, to which files are named relatively; else the session's folder.
    """
    # What a sub-agent was told counts when that sub-agent's own session is looked at.
    asking = Provenance.USER if evidence.meta.is_primary else Provenance.SUBAGENT
    session = _read(evidence.items, root or evidence.meta.cwd, asking)
    goal = find_goal(session.asked, frozenset(session.edited))
    done = tuple(text for _, text in session.done)
    steps, inferred = _next_steps(session, goal)
    runs = tuple(session.runs)
    working = [f"Command succeeded: `{r.command}`" for r in _last_of_kind(runs) if r.passed]
    failed = [*_failures(runs), *_approaches(session)]
    untried = [t for t in _untried(session) if not any(same(t, s) for s in steps)]
    decisions = _decisions(session)
    environment = _environment(session, decisions)
    notes = [*_files(session), *(f"Decision: {d}" for d in decisions), *environment]
    state = ContinuityState(
        goal.text,
        _distinct(working),
        _distinct(failed),
        _distinct(untried),
        _distinct(steps),
        _distinct(notes),
    )
    warnings = list(goal.doubts)
    if goal.asked is not None and goal.asked.ask is Ask.PROBLEM and not goal.doubts:
        warnings.append("the goal is taken from a question or a problem")
    warnings += ["no task of the person's was found"] if not goal.text else []
    warnings += ["the next step is inferred from what was asked and not finished"] if inferred else []
    confidence = "low" if not goal.text else "medium" if warnings else "high"
    counts = {
        "user_messages": len(session.asked),
        "successful_commands": sum(r.passed for r in runs),
        "failed_commands": sum(not r.passed for r in runs),
        "file_writes": len(session.files),
        "next_steps": len(steps),
        "untried": len(untried),
    }
    is_task = goal.asked is not None and goal.asked.ask is Ask.TASK
    is_aside = not is_task and not (session.files or runs or steps)
    return Summary(state, tuple(warnings), confidence, counts, runs, done, goal.given_up, is_aside)


def split(state: ContinuityState, branch: str | None = None) -> Layers:
    """Which layer each item belongs to; the goal stands in one of them."""
    lists: dict[str, tuple[list[str], list[str]]] = {key: ([], []) for key in LISTS}
    for key in LISTS:
        for item in state.items(key):
            lists[key][is_local(item, branch)].append(item)
    local_goal = bool(state.goal) and is_local(state.goal, branch)
    project = ContinuityState("" if local_goal else state.goal, **{k: tuple(v[0]) for k, v in lists.items()})
    local = ContinuityState(state.goal if local_goal else "", **{k: tuple(v[1]) for k, v in lists.items()})
    return Layers(project, local)


def is_local(text: str, branch: str | None = None) -> bool:
    """Whether ``text`` names files, the branch or the worktree; a command says what it runs on and stays."""
    if text.startswith("Command "):
        return False
    if branch and branch not in ("main", "master") and branch in text:
        return True
    return bool(paths(text)) or words.find("local", shadow(text)) is not None


def merge(new: ContinuityState, old: ContinuityState, summary: Summary) -> ContinuityState:
    """New before old, nothing twice; of the old what the new session did, cleared or contradicts is gone."""
    kept: dict[str, tuple[str, ...]] = {}
    for key in LISTS:
        before = [item for item in old.items(key) if _still_holds(key, item, summary)]
        kept[key] = _distinct([*new.items(key), *before])[:MAX_ITEMS]
    return ContinuityState(new.goal or old.goal, **kept)


# -- reading ------------------------------------------------------------------------------------------------


def _read(items: Sequence[EvidenceItem], root: str | None, asking: Provenance = Provenance.USER) -> _Session:
    found = _Session()
    turn_ends = _turn_ends(items, asking)
    for at, item in enumerate(items):
        if isinstance(item, ToolCall):
            found.last_call = at
            _read_call(found, item, at, root)
        elif item.who is asking:
            found.asked.append(read_message(item, at))
            found.heard.append((at, pieces(found.asked[-1].said)))
        elif item.who is Provenance.ASSISTANT:
            found.said.append((at, pieces(clean(item.text)), at in turn_ends))
            found.last_said = at
        elif item.kind == "notice" and _ABORTED in item.text:
            found.aborted = at
    found.done = _done_parts(found)
    return found


def _turn_ends(items: Sequence[EvidenceItem], asking: Provenance) -> frozenset[int]:
    """Positions of the assistant's last words before the person speaks again, and at the end."""
    ends = set()
    last = -1
    for at, item in enumerate(items):
        if isinstance(item, Message) and item.who is asking:
            ends.add(last)
            last = -1
        elif isinstance(item, Message) and item.who is Provenance.ASSISTANT:
            last = at
        elif isinstance(item, ToolCall) and not _is_plan(item):
            last = -1 if last >= 0 and at > last else last
    # words before a last call of a session that was cut off are its last words all the same
    final = max(
        (n for n, i in enumerate(items) if isinstance(i, Message) and i.who is Provenance.ASSISTANT),
        default=-1,
    )
    return frozenset({*ends, last, final} - {-1})


def _read_call(found: _Session, call: ToolCall, at: int, root: str | None) -> None:
    if _is_plan(call):
        found.plan = _plan(call, at) or found.plan
        return
    if call.files and call.exit_code in (0, None):
        for name in call.files:
            path = _relative(name, call.cwd, root)
            found.files.pop(path, None)
            found.files[path] = at
        found.edited.add(call.ordinal)
        return
    run = run_of(call, at)
    if run is not None:
        found.runs.append(replace(run, command=clean(run.command), says=clean(run.says)))


def _is_plan(call: ToolCall) -> bool:
    return call.name.rsplit(".", 1)[-1].rsplit("__", 1)[-1] in ("update_plan", "todo_write", "TodoWrite")


def _plan(call: ToolCall, at: int) -> list[tuple[int, str, bool]]:
    try:
        given = json.loads(call.input)
        rows = given.get("plan") or given.get("todos") or []
        return [
            (at, clean(str(r.get("step") or r.get("content") or "")), r.get("status") == "completed")
            for r in rows
        ]
    except (ValueError, AttributeError):
        return []


def _relative(name: str, cwd: str | None, root: str | None) -> str:
    path = name if name.startswith("/") or not cwd else os.path.normpath(f"{cwd}/{name}")
    if root and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return clean(path if path.startswith("/") or not name.startswith("/") else name)


# -- commands -----------------------------------------------------------------------------------------------


def _last_of_kind(runs: Iterable[Run]) -> list[Run]:
    """The last run of each kind, newest first."""
    last: dict[str, Run] = {}
    for run in runs:
        last.pop(run.kind, None)
        last[run.kind] = run
    return list(reversed(last.values()))


def _failures(runs: Sequence[Run]) -> list[str]:
    """Failures that no later success of the same kind cleared, newest first; one a command."""
    open_runs: list[Run] = []
    for run in runs:
        if run.passed:
            open_runs = [f for f in open_runs if not run.clears(f)]
        else:
            open_runs = [
                f for f in open_runs if f.command != run.command and not (f.kind == run.kind == "test")
            ]
            open_runs.append(run)
    return [
        f"Command failed: `{r.command}`" + (f" ({r.says})" if r.says else "") for r in reversed(open_runs)
    ]


# -- steps --------------------------------------------------------------------------------------------------


def _next_steps(session: _Session, goal: Goal) -> tuple[list[str], bool]:
    """What is to be done, the person's first; whether it had to be inferred."""
    steps = [
        s for s in _proposed(session) if not _is_done(s, session) and not _is_dismissed(s, session, goal)
    ]
    asked, inferred = _asked_open(session, goal, steps)
    # the person's own words first, then the newest of the assistant's
    own = [s for s in (*reversed(asked), *steps) if s.by_user]
    others = sorted((s for s in steps if not s.by_user), key=lambda s: -s.at)
    return list(_distinct([s.text for s in (*own, *others)]))[:MAX_ITEMS], inferred and not others


def _proposed(session: _Session) -> list[_Step]:
    """Steps that were named, in order of the list they stand in, the latest list first."""
    found: list[_Step] = []
    for at, said, ends in reversed(session.said):
        if not ends or len(found) >= _MAX_STEPS:
            continue
        is_last = at == session.last_said
        for n, piece in enumerate(said):
            steps = _steps_in(piece, intends=is_last)
            if len(steps) == 1 and n and _leans(steps[0]):
                first = n - 1
                while first and _leans(said[first].text):
                    first -= 1
                before = " ".join(p.text for p in said[first:n])
                steps = [tidy(f"{before} {steps[0]}")] if len(terms(before)) >= 2 else steps
            found += [_Step(step, at) for step in steps]
    tasks = {a.at: a.text for a in session.asked if a.ask is Ask.TASK}
    for at, said in reversed(session.heard):
        steps = [s for piece in said for s in _steps_in(piece, intends=False, user=True)]
        found += [_Step(s, at, by_user=True) for s in steps if not covers(s, tasks.get(at, ""))]
    found += [
        _Step(tidy(text), at) for at, text, is_done in session.plan if not is_done and not is_small(text)
    ]
    return found[: 2 * _MAX_STEPS]


def _steps_in(  # noqa: PLR0911 - one question a line, in order
    piece: Piece, *, intends: bool, user: bool = False
) -> list[str]:
    """The steps that one piece names."""
    if piece.checked or is_control(piece.text):
        return []
    lead = shadow(piece.lead)
    if words.find("next_lead", lead) and not words.find("failed_lead", lead):
        if words.find("offer", piece.shade) or _says_nothing(piece.text):
            return []
        return [tidy(_bare(piece.text))]
    if piece.checked is False:
        return [tidy(_bare(piece.text))]
    if any(words.find(group, piece.shade) for group in ("untried", "offer", "told")):
        return []
    hit = words.find("next_inline", piece.shade)
    if hit is not None and hit["step"].strip():
        step = piece.text[hit.start("step") : hit.end("step")]
        return [
            tidy(_bare(p))
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
        return [tidy(_bare(piece.text))]
    if intends and (hit := words.find("intend", piece.shade)) and not words.find("waiting", piece.shade):
        step = piece.text[hit.end() :].strip(" ,:：，")
        return [tidy(_bare(p)) for p in parts(step) if not is_small(p)]
    return []


_LEANS = re.compile(
    r"(?:i|we|you)\b[^,;:]{0,40}(?:\b(?:it|that|this|those|them|here|there)\b|$)|(?:it|that|this|those|these|they|both)\b",
    re.IGNORECASE,
)


def _leans(step: str) -> bool:
    """Whether a step is understood only with the sentence before it."""
    return _LEANS.match(step) is not None and len(terms(step)) <= 6


_NOTHING = re.compile(r"(?:none|nothing|n/?a|no|无|没有|-+)\b.{0,40}$", re.IGNORECASE)
_TAIL = re.compile(r"[\s,;:，；：。.]+$")


def _says_nothing(text: str) -> bool:
    return _NOTHING.match(text.strip()) is not None


def _bare(text: str) -> str:
    text = text.strip(" -–—:：,，")
    return _TAIL.sub("", text) if not text.endswith(("...", "…")) else text


def _asked_open(session: _Session, goal: Goal, steps: Sequence[_Step]) -> tuple[list[_Step], bool]:
    """What the person asked for and is not finished; whether that is a guess."""
    if goal.asked is None:
        return [], False
    found: list[_Step] = []
    closed = _is_closed(session, goal.since)
    for one in (goal.asked, *goal.additions):
        for item in one.items:
            step = _Step(item, one.at, by_user=True)
            if (
                not _is_done(step, session)
                and not _is_dismissed(step, session, goal)
                and not _all_done(session, one.at)
            ):
                found.append(step)
        if one.items and len(found) >= len(one.items) and closed and one is goal.asked:
            found = []  # nothing is said of any single part: the words about the whole decide
    for waiting in goal.waiting:
        step = _Step(waiting.text, waiting.at, by_user=True)
        if not _is_done(step, session) and not _is_dismissed(step, session, goal):
            found.append(step)
    found = [f for f in found if not any(covers(f.text, s.text) or covers(s.text, f.text) for s in steps)]
    if found or steps or closed:
        return found, False
    last = session.asked[-1]
    text = last.text if last.ask is Ask.CHORE and last.at > session.last_said else goal.text
    return [_Step(text, goal.since, by_user=True)], True


def _is_closed(session: _Session, since: int) -> bool:
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


def _all_done(session: _Session, since: int) -> bool:
    """Whether the assistant's last words say that all of it is done."""
    for at, said, ends in reversed(session.said):
        if ends and at > since:
            return any(words.find("all_done", p.shade) for p in said) and not any(
                _steps_in(p, intends=False) for p in said
            )
    return False


def _done_parts(session: _Session) -> list[tuple[int, str]]:
    """What the assistant says is done, in order; of long sentences each part by itself."""
    pieces_of = ((at, piece) for at, said, _ in session.said for piece in said)
    found = (
        (at, replace(piece, text=part, shade=shadow(part)))
        for at, piece in pieces_of
        for part in (parts(piece.text) if len(piece.text) > 80 else (piece.text,))
    )
    return [(at, piece.text) for at, piece in found if _says_done(piece)]


def _says_done(piece: Piece) -> bool:
    if piece.checked is not None:
        return piece.checked
    if piece.is_item and words.find("done_lead", shadow(piece.lead)):
        return not words.find("undone", piece.shade)
    return words.find("done", piece.shade) is not None and words.find("undone", piece.shade) is None


def _is_done(step: _Step, session: _Session) -> bool:
    """Whether a step was done after it was named."""
    if _all_done(session, step.at):
        return True
    if any(at > step.at and covers(step.text, text) for at, text in session.done):
        return True
    for at, text, is_done in session.plan:
        if is_done and at > step.at and covers(step.text, text):
            return True
    return _is_done_by_deed(step, session)


def _is_done_by_deed(step: _Step, session: _Session) -> bool:
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


def _is_dismissed(step: _Step, session: _Session, goal: Goal) -> bool:
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


# -- approaches, decisions, environment ---------------------------------------------------------------------


def _approaches(session: _Session) -> list[str]:
    """Approaches that were tried and given up, newest first."""
    found: list[tuple[int, str]] = []
    for at, said in _everyone(session, all_of_it=True):
        for n, piece in enumerate(said):
            lead = shadow(piece.lead)
            is_failed = words.find("failed", piece.shade) is not None or (
                piece.is_item and words.find("failed_lead", lead) is not None
            )
            if not is_failed or words.find("next_inline", piece.shade):
                continue
            text = piece.text
            if len(terms(text)) < 4 and n and not piece.is_item:
                text = f"{said[n - 1].text} {text}"
            if len(terms(text)) >= 2:
                found.append((at, tidy(text)))
    newest = list(reversed(found))[:_MAX_STEPS]
    return [text for at, text in newest if not _works_later(text, at, session)]


def _works_later(text: str, at: int, session: _Session) -> bool:
    return any(
        later > at
        and any(
            words.find("works", p.shade)
            and not words.find("undone", p.shade)
            and _names_of(text) & _names_of(p.text)
            and covers(text, p.text)
            for p in said
        )
        for later, said, _ in session.said
    )


def _names_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _untried(session: _Session) -> list[str]:
    found: list[tuple[int, str]] = []
    for at, said in _everyone(session):
        for piece in said:
            is_lead = piece.is_item and words.find("untried_lead", shadow(piece.lead)) is not None
            if (
                piece.checked
                or not (is_lead or words.find("untried", piece.shade))
                or piece.text.endswith(("?", "？"))
            ):
                continue
            if len(terms(piece.text)) >= 2 and not words.find("failed", piece.shade):
                found.append((at, tidy(_bare(piece.text))))
    newest = list(reversed(found))[:_MAX_STEPS]
    return [text for at, text in newest if not _taken_up(text, at, session)]


def _taken_up(text: str, at: int, session: _Session) -> bool:
    """Whether an idea was tried since, by whoever."""
    step = _Step(text, at)
    if _is_done(step, session):
        return True
    later = [p for when, said in _everyone(session) if when > at for p in said]
    return any(
        (words.find("failed", p.shade) or words.find("tried", p.shade)) and covers(_idea(text), p.text)
        for p in later
    )


def _idea(text: str) -> str:
    """What an idea is about, without the words that call it one."""
    hit = words.find("untried", shadow(text))
    rest = text[hit.end() :] if hit else text
    return rest if len(terms(rest)) >= 2 else text


def _decisions(session: _Session) -> list[str]:
    """What was decided, newest first; a later one takes the place of what it contradicts."""
    found = [
        (at, True, tidy(_bare(piece.text)))
        for at, said in session.heard
        for piece in said
        if words.find("decided.user", piece.shade) and not _is_question(piece) and terms(piece.text)
    ]
    for at, said, ends in session.said:
        for piece in said:
            is_lead = piece.is_item and words.find("decided.lead", shadow(piece.lead)) is not None
            if (
                ends
                and (is_lead or words.find("decided.assistant", piece.shade))
                and len(terms(piece.text)) >= 2
            ):
                found.append((at, False, tidy(_bare(piece.text))))
    kept: list[tuple[int, bool, str]] = []
    for at, by_user, text in sorted(found, key=lambda f: f[0]):
        clash = set(contradicts(text, [k[2] for k in kept]))
        if not by_user and any(kept[n][1] for n in clash):
            continue
        kept = [k for n, k in enumerate(kept) if n not in clash and not same(k[2], text)]
        kept.append((at, by_user, text))
    return [text for _, _, text in reversed(kept)][:MAX_DECISIONS]


def _environment(session: _Session, decisions: Sequence[str]) -> list[str]:
    """What the work needs around it, newest first."""
    found = [
        tidy(_bare(piece.text))
        for _, said in _everyone(session)
        for piece in said
        if words.find("environment", piece.shade)
        and not _is_question(piece)
        and not words.find("hedge", piece.shade)
        and not _steps_in(piece, intends=False)
        and 3 <= len(terms(piece.text)) <= 40
    ]
    texts = [t for t in reversed(found) if not any(same(t, d) for d in decisions)]
    return list(_distinct(texts))[:MAX_ENVIRONMENT]


def _is_question(piece: Piece) -> bool:
    return piece.text.endswith(("?", "？"))


def _files(session: _Session) -> list[str]:
    """The files changed, newest first, in items that have room."""
    names = [f"`{name}`" for name in reversed(session.files)]
    more = len(names) - _MAX_FILES
    rows: list[str] = []
    row = "Files changed: "
    for name in names[:_MAX_FILES]:
        if len(row) + len(name) > 220 and row != "Files changed: ":
            rows.append(row.rstrip(", "))
            row = "Files changed: "
        row += f"{name}, "
    if names:
        rows.append(row.rstrip(", ") + (f" and {more} more" if more > 0 else ""))
    return rows


def _everyone(session: _Session, *, all_of_it: bool = False) -> list[tuple[int, tuple[Piece, ...]]]:
    """What both said, in order; of the assistant the words that end a turn, or all."""
    theirs = ((at, said) for at, said, ends in session.said if ends or all_of_it)
    return sorted([*theirs, *session.heard], key=lambda pair: pair[0])


# -- lists --------------------------------------------------------------------------------------------------


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts that do not say the same, the first of each."""
    kept: list[str] = []
    for text in map(tidy, texts):
        is_command = text.startswith("Command ")
        if (
            len(kept) < _MAX_STEPS
            and text
            and not any(
                text == k or (not is_command and not k.startswith("Command ") and same(text, k)) for k in kept
            )
        ):
            kept.append(text)
    return tuple(kept)


_COMMAND = re.compile(r"Command (succeeded|failed): `([^`]+)`")


def _still_holds(key: str, item: str, summary: Summary) -> bool:
    """Whether an item of an older state still stands after a session."""
    hit = _COMMAND.match(item)
    if hit is not None:
        old = run_of(ToolCall("shell", hit[2], exit_code=0 if hit[1] == "succeeded" else 1), 0)
        if old is None:
            return True
        return not any(
            r.kind == old.kind and (old.passed or (r.passed and r.clears(old))) for r in summary.runs
        )
    if key in ("next_steps", "untried"):
        return not any(covers(item, gone) for gone in (*summary.done, *summary.given_up))
    if key == "failed":
        return not any(covers(item, d) and words.find("works", shadow(d)) for d in summary.done)
    if key == "notes" and item.startswith("Decision: "):
        newer = [n.removeprefix("Decision: ") for n in summary.state.notes if n.startswith("Decision: ")]
        return not any(contradicts(n, [item.removeprefix("Decision: ")]) for n in newer)
    return True
