"""One way in: whoever said it and however it came, no consumer sees a private span."""

import json
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.core.capture import CaptureEnvelope, envelope_from_data, ingest
from cam.core.errors import InvalidInputError
from cam.core.evidence import Generation, Message, Provenance, RolloutEvidence, RolloutMeta, ToolCall
from cam.core.private import strip
from cam.sync.capture import captured

CASES = sorted((Path(__file__).parents[2] / "data" / "capture").glob("*.json"))
NOW = "2026-11-30T10:00:00.000Z"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_host_s_words_come_in_without_private_spans(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    seen: list[CaptureEnvelope] = []
    ingest(envelope_from_data(case["envelope"]), seen.append)
    (envelope,) = seen
    assert envelope.content == case["seen"]
    assert envelope.cut == case["cut"]
    assert "hunter2" not in repr(envelope)
    assert "4711" not in repr(envelope)
    again: list[CaptureEnvelope] = []
    ingest(envelope, again.append)
    assert again == seen


@given(
    st.lists(
        st.sampled_from(["<private>", "</private>", "<", ">", "a", "secret ", "private", "/", "\n"]),
        max_size=30,
    )
)
def test_what_a_consumer_sees_has_nothing_left_to_cut(parts: list[str]) -> None:
    text = "".join(parts)
    seen = ingest(CaptureEnvelope("codex", "rollout", NOW, text), lambda envelope: envelope)
    assert seen.content == strip(text).text
    assert strip(seen.content).count == 0


@pytest.mark.parametrize(
    "change",
    [
        {"source": " "}, {"channel": ""}, {"captured_at": "yesterday"}, {"captured_at": "2026-11-30T10:00"},
        {"source_at": "2026-13-01"}, {"valid_from": "2026-12-01", "valid_until": "2026-12-01"},
        {"content": 5}, {"cut": 3}, {"source": None}, {"speed": "1"},
    ],
)  # fmt: skip
def test_an_envelope_is_closed_and_checked(change: dict[str, Any]) -> None:
    data = {"source": "codex", "channel": "rollout", "captured_at": NOW, "content": "x"}
    with pytest.raises(InvalidInputError):
        envelope_from_data({**data, **change})


def test_an_envelope_needs_its_texts_and_is_frozen() -> None:
    with pytest.raises(InvalidInputError, match="content"):
        envelope_from_data({"source": "codex", "channel": "rollout", "captured_at": NOW})
    with pytest.raises(FrozenInstanceError):
        CaptureEnvelope("codex", "rollout", NOW, "x").content = "y"  # type: ignore[misc]


def test_sync_takes_what_a_person_says_in_this_way() -> None:
    meta = RolloutMeta("s", "/r.jsonl", Generation.PAGINATED, started_at="odd")
    message = Message(Provenance.USER, "Use pnpm <private>hunter2</private> here", 1)
    told = Message(Provenance.ASSISTANT, "I will. <private>hunter2", 1, at="2026-11-30T09:00:00Z")
    call = ToolCall("exec_command", "ls")
    evidence = captured(RolloutEvidence(meta, (message, told, call), 10), NOW)
    assert evidence.items == (replace(message, text="Use pnpm  here"), told, call)
    assert evidence.size == 10
