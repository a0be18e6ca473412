"""Small sessions, as the rollout reader gives them."""

from collections.abc import Callable, Sequence

import pytest

from cam.core.evidence import Generation, Message, Provenance, RolloutEvidence, RolloutMeta, ToolCall
from cam.core.extraction import Candidate, Extraction
from cam.core.records import MemoryRecord
from cam.sync.heuristic import HeuristicExtractor

Said = tuple[str, str] | str


def session(*said: Said, name: str = "s1", at: str = "2026-11-30T11:00:0{}.000Z") -> RolloutEvidence:
    """A session of messages: a text is the person's, a pair ``(who, text)`` anyone's."""
    items = []
    ordinal = 0
    for n, what in enumerate(said):
        who, text = what if isinstance(what, tuple) else ("user", what)
        ordinal += who == "user"
        items.append(Message(Provenance(who), text, ordinal, n + 1, f"t{n}", "/repo", at.format(n)))
    meta = RolloutMeta(name, "/rollout.jsonl", Generation.PAGINATED, "/repo", at.format(0))
    return RolloutEvidence(meta, tuple(items))


def call(command: str, exit_code: int | None = 0, output: str = "ok", cwd: str = "/repo") -> ToolCall:
    """A command that ran."""
    return ToolCall("exec_command", command, output=output, exit_code=exit_code, cwd=cwd, ordinal=1)


def extract(*said: Said, records: Sequence[MemoryRecord] = (), after: int = 0) -> Extraction:
    return HeuristicExtractor().extract(session(*said), records, after=after)


@pytest.fixture
def facts() -> Callable[..., list[str]]:
    """The summaries found in messages."""

    def found(*said: Said) -> list[str]:
        return [c.summary for c in extract(*said).items if isinstance(c, Candidate)]

    return found
