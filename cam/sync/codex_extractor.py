"""The extractor that asks the user's own Codex, and falls back to the one that asks no model, visibly.

Codex judges what the person said. What ran and succeeded, and a "yes, from now on" to a proposal, are read
as always: they need no judgement, and they are not in the question. What the other extractor would have kept
and Codex did not choose leaves a line, so that a person can still accept it.
"""

from collections.abc import Sequence
from dataclasses import replace

from cam.core.display import counted
from cam.core.evidence import RolloutEvidence
from cam.core.extraction import Candidate, Extraction, ForgetRequest, Rejection, SpeechAct
from cam.core.records import MemoryRecord
from cam.formats.structured_answer import BadAnswerError
from cam.sync.codex_answer import read_answer
from cam.sync.codex_prompt import Question, answer_schema, build_question
from cam.sync.heuristic import HeuristicExtractor
from cam.system.codex_exec import Asking, NoAnswerError, ask_codex

MAX_QUESTIONS = 25
"""Sessions for which one process asks: a first sync over years of sessions must not use up a quota."""
MAX_FAILURES = 2
"""Failures in a row after which Codex is not asked again by this process."""


class CodexExtractor:
    """Implements ``cam.core.seams.MemoryExtractor`` by asking Codex.

    Args:
        asking: which Codex, and how long; or why it cannot be asked at all.
    """

    name = "codex"

    def __init__(self, asking: Asking | str) -> None:
        self._asking = asking
        self._plain = HeuristicExtractor()
        self._questions = 0
        self._failures = 0
        self._last: tuple[tuple[str, int, int], Question, str] | None = None

    def extract(
        self, evidence: RolloutEvidence, records: Sequence[MemoryRecord], *, after: int = 0
    ) -> Extraction:
        """Find candidates in ``evidence`` (see ``MemoryExtractor``); nothing is locked meanwhile."""
        plain = self._plain.extract(evidence, records, after=after)
        if not evidence.meta.is_primary:
            return replace(plain, extractor=self.name)
        try:
            question, answer = self._answer(evidence, records, after)
            if question is None:
                return replace(plain, extractor=self.name)
            items, rejections = read_answer(answer, question.sentences, evidence.meta)
        except (NoAnswerError, BadAnswerError) as error:
            return replace(plain, fallback_reason=str(error))
        return _joined(plain, items, rejections, question)

    def _answer(
        self, evidence: RolloutEvidence, records: Sequence[MemoryRecord], after: int
    ) -> tuple[Question | None, str]:
        """What Codex says of this session; (None, "") where the person said nothing that is new.

        A plan that is made again, because the store changed meanwhile, does not ask again.
        """
        key = (evidence.meta.session, evidence.size, after)
        if self._last is not None and self._last[0] == key:
            return self._last[1], self._last[2]
        question = build_question(evidence, records, after)
        if not question.sentences:
            if question.left_out:
                raise NoAnswerError("Codex was not asked: the messages are too long for a question")
            return None, ""
        if isinstance(self._asking, str):
            raise NoAnswerError(self._asking)
        if self._failures >= MAX_FAILURES:
            raise NoAnswerError(
                f"Codex failed {MAX_FAILURES} times in a row and is not asked again in this sync"
            )
        if self._questions >= MAX_QUESTIONS:
            raise NoAnswerError(f"Codex is asked about {MAX_QUESTIONS} sessions in one sync at most")
        self._questions += 1
        self._failures += 1
        answer = ask_codex(self._asking, question.prompt, answer_schema())
        self._failures = 0
        self._last = (key, question, answer)
        return question, answer


def _joined(
    plain: Extraction,
    items: Sequence[Candidate | ForgetRequest],
    rejections: Sequence[Rejection],
    question: Question,
) -> Extraction:
    """Codex's findings in the messages it saw, and the other extractor's everywhere else."""
    chosen = {(q.ordinal, _rough(q.text)) for item in items for q in item.quotes}
    found: list[Candidate | ForgetRequest] = list(items)
    left: list[Rejection] = []
    for item in plain.items:
        is_read = item.source.ordinal in question.covered
        if not is_read or (
            isinstance(item, Candidate) and item.act in (SpeechAct.OBSERVATION, SpeechAct.CONFIRMATION)
        ):
            found.append(item)
        elif not any(_is_chosen(q.ordinal, q.text, chosen) for q in item.quotes):
            if isinstance(item, Candidate):
                left.append(Rejection(item.summary, "codex-left-out", item.quotes[-1], item))
            else:
                left.append(Rejection(item.target, "forget-left-out", item.quotes[-1]))
    kept = [r for r in plain.rejections if r.quote is None or r.quote.ordinal not in question.covered]
    note = ""
    if question.left_out:
        many = counted(question.left_out, "message")
        note = f"read without Codex, as there is no room for more in one question: {many}"
    order = sorted(found, key=lambda i: (i.at, i.source.ordinal or 0))
    return Extraction(tuple(order), (*rejections, *left, *kept), CodexExtractor.name, note)


def _is_chosen(ordinal: int | None, text: str, chosen: set[tuple[int | None, str]]) -> bool:
    rough = _rough(text)
    return any(o == ordinal and (rough in c or c in rough) for o, c in chosen)


def _rough(text: str) -> str:
    return " ".join(text.lower().split())
