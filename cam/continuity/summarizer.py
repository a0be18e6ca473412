"""Who says where a session stopped: the built-in summary, or the user's own Codex over it.

Codex judges what was wanted, left open, given up and decided. Commands and files are facts and are read as
always. Anything wrong with its answer falls back to the built-in summary, visibly.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cam.continuity.said import distinct
from cam.continuity.session import read_session
from cam.continuity.summary import Summary, summarize
from cam.core.evidence import RolloutEvidence
from cam.core.settings import Settings
from cam.system.environment import Environment

if TYPE_CHECKING:
    from cam.continuity.codex_answer import Answer
    from cam.system.codex_exec import Asking

Summarizer = Callable[[RolloutEvidence, str | None], Summary]
"""From one session's evidence and the worktree's folder to what the next session must know."""

LOW_SIGNAL = "Codex's answer says less than the session shows"


def asks_codex(settings: Settings) -> bool:
    """Whether a summary may take as long as a model takes."""
    return bool(settings["extractor"] == "codex")


def choose_summarizer(settings: Settings, environment: Environment) -> Summarizer:
    """The summarizer that the settings ask for."""
    if not asks_codex(settings):
        return summarize
    from cam.system.codex_exec import asking_for  # noqa: PLC0415 - processes are seldom needed here

    return codex_summarizer(asking_for(settings, environment))


def codex_summarizer(asking: "Asking | str") -> Summarizer:
    """A summarizer that asks Codex.

    Args:
        asking: which Codex, and how long; or why it cannot be asked at all.
    """

    def summary_of(evidence: RolloutEvidence, root: str | None) -> Summary:
        from cam.continuity.codex_answer import read_answer  # noqa: PLC0415
        from cam.continuity.codex_question import answer_schema, build_question  # noqa: PLC0415
        from cam.formats.structured_answer import BadAnswerError  # noqa: PLC0415
        from cam.system.codex_exec import NoAnswerError, ask_codex  # noqa: PLC0415

        plain = summarize(evidence, root)
        question = build_question(read_session(evidence.items, root or evidence.meta.cwd))
        if not question.lines:
            return plain
        try:
            if isinstance(asking, str):
                raise NoAnswerError(asking)
            answer = read_answer(ask_codex(asking, question.prompt, answer_schema()), question.lines)
        except (NoAnswerError, BadAnswerError) as error:
            return _fallen_back(plain, str(error))
        if not answer.goal and not any(answer.lists.values()) and not plain.state.is_empty:
            return _fallen_back(plain, LOW_SIGNAL)
        return _joined(plain, answer)

    return summary_of


def _fallen_back(plain: Summary, reason: str) -> Summary:
    return replace(plain, fallback_reason=reason, warnings=(*plain.warnings, reason), confidence="low")


def _joined(plain: Summary, answer: "Answer") -> Summary:
    """Codex's words over the facts of the session."""
    state, lists = plain.state, answer.lists
    commands = [item for item in state.failed if item.startswith("Command ")]
    facts = [item for item in state.notes if not item.startswith("Decision: ")]
    joined = replace(
        state,
        goal=answer.goal or state.goal,
        next_steps=distinct(lists["next_steps"]),
        untried=distinct(lists["untried"]),
        failed=distinct([*commands, *lists["failed"]]),
        notes=distinct([*(f"Decision: {d}" for d in lists["decisions"]), *facts]),
    )
    warnings = [] if answer.goal else ["Codex named no goal; the built-in one stands"]
    if answer.rejected:
        warnings.append(
            f"{answer.rejected} of Codex's texts are not borne out by the session and were left out"
        )
    counts = plain.counts | {"next_steps": len(joined.next_steps), "untried": len(joined.untried)}
    confidence = "medium" if warnings else "high"
    return replace(
        plain, state=joined, warnings=tuple(warnings), confidence=confidence, counts=counts, extractor="codex"
    )
