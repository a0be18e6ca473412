"""A receipt made later, from the rollout alone: for sessions whose receipt was lost. Pure."""

from collections.abc import Callable, Iterable

from cam.core.candidates import Candidate
from cam.core.evidence import Message, Provenance, RolloutEvidence
from cam.core.tokens import estimate_tokens
from cam.formats.receipts import InjectionReceipt
from cam.startup.frame import CLOSE, OPEN, record_line
from cam.startup.use import use_in

FindRecord = Callable[[str], Candidate | None]
"""The record that a line of a payload stands for, None where it is not remembered so any more."""


def record_finder(candidates: Iterable[Candidate], line_of: Callable[[str], str]) -> FindRecord:
    """Finds records by their line.

    Args:
        candidates: what is remembered now.
        line_of: a summary as it is told; asked for only of topics that lines are about.
    """
    by_start: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_start.setdefault(record_line(candidate.scope, candidate.topic, ""), []).append(candidate)
    known: dict[str, dict[str, Candidate]] = {}

    def find(line: str) -> Candidate | None:
        start = line[: line.find("] ") + 2]
        if start not in known:
            known[start] = {start + line_of(c.summary): c for c in by_start.get(start, ())}
        return known[start].get(line)

    return find


def receipt_from(
    evidence: RolloutEvidence, find: FindRecord, project: str, worktree: str
) -> InjectionReceipt | None:
    """What the session was told, by what stands in its rollout; None where it was told nothing."""
    lines: dict[str, str] = {}
    tokens, place, at = 0, 0, evidence.meta.started_at
    for item in evidence.items:
        if isinstance(item, Message) and item.who is Provenance.HARNESS and OPEN in item.text:
            told = item.text.partition(OPEN)[2].partition(CLOSE)[0]
            tokens += estimate_tokens(told)
            place, at = place or item.line, item.at or at
            for line in told.split("\n"):
                record = find(line) if line.startswith("- [") else None
                if record is not None:
                    lines[record.key] = line.partition("] ")[2]
    if not place:
        return None
    recalled, cited = use_in(evidence, lines)
    return InjectionReceipt(
        evidence.meta.session, "rollout", arrived=True, tokens=tokens, refs=tuple(lines), line=place,
        recalled=recalled, cited=cited, at=at, project=project, worktree=worktree,
        codex=evidence.meta.cli_version,
    )  # fmt: skip
