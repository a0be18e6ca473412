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

from dataclasses import dataclass, field

from cam.continuity.asking import Ask
from cam.continuity.commands import Run
from cam.continuity.findings import (
    approaches,
    decisions,
    environment,
    failures,
    files_changed,
    last_of_kind,
    untried,
)
from cam.continuity.goals import find_goal
from cam.continuity.said import distinct, same
from cam.continuity.session import read_session
from cam.continuity.steps import next_steps
from cam.core.evidence import Provenance, RolloutEvidence
from cam.formats.continuity_file import ContinuityState


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
        extractor: who summarized it: ``heuristic`` or ``codex``.
        fallback_reason: why Codex did not, though it was asked for.
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
    extractor: str = "heuristic"
    fallback_reason: str = ""


def summarize(evidence: RolloutEvidence, root: str | None = None) -> Summary:
    """What the session leaves for the next one.

    Args:
        evidence: one session; turns of other projects taken out.
        root: the worktree's folder, to which files are named relatively; else the session's folder.
    """
    # What a sub-agent was told counts when that sub-agent's own session is looked at.
    asking = Provenance.USER if evidence.meta.is_primary else Provenance.SUBAGENT
    session = read_session(evidence.items, root or evidence.meta.cwd, asking)
    goal = find_goal(session.asked, frozenset(session.edited))
    done = tuple(text for _, text in session.done)
    steps, inferred = next_steps(session, goal)
    runs = tuple(session.runs)
    ideas = [t for t in untried(session) if not any(same(t, s) for s in steps)]
    decided = decisions(session)
    state = ContinuityState(
        goal.text,
        working=distinct(f"Command succeeded: `{r.shown}`" for r in last_of_kind(runs) if r.passed),
        failed=distinct([*failures(runs), *approaches(session)]),
        untried=distinct(ideas),
        next_steps=distinct(steps),
        notes=distinct(
            [
                *files_changed(session),
                *(f"Decision: {d}" for d in decided),
                *environment(session, decided),
            ]
        ),
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
        "untried": len(ideas),
    }
    is_task = goal.asked is not None and goal.asked.ask is Ask.TASK
    is_aside = not is_task and not (session.files or runs or steps)
    return Summary(state, tuple(warnings), confidence, counts, runs, done, goal.given_up, is_aside)
