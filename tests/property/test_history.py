"""History lines: what is taken from one in passing is what the whole line says."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cam.core.operations import Change, MemoryOperation, OperationKind
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.history import Passage, event_of, noop_event, parse_history, passage, render_event
from tests.property.strategies import any_text, records, stamps

AT = "2026-11-30T10:00:00.000Z"
EITHER = st.builds(
    lambda record, state: replace(record, state=state), records(), st.sampled_from(MemoryState)
)


def summary_of(record: MemoryRecord | None) -> str | None:
    return record.summary if record is not None and record.state is MemoryState.ACTIVE else None


@given(EITHER, st.none() | EITHER, st.sampled_from(OperationKind), stamps, any_text, st.booleans())
def test_what_holds_before_and_after(
    record: MemoryRecord, other: MemoryRecord | None, kind: OperationKind, at: str, reason: str, named: bool
) -> None:
    machine, operation = "one" if named else "", MemoryOperation(kind, record, reason)
    for before, after in ((None, record), (record, other)):
        event = event_of(Change(operation, before, after), "t", at, machine=machine)
        line = render_event(event if event.applied else noop_event(operation, "t", at, machine))
        (whole,) = parse_history([line])
        found = passage(line)
        assert whole is not None
        assert found is not None
        assert (found.at, found.gone, found.here) == (at, summary_of(whole.before), summary_of(whole.after))
        assert found.gone is None or found.gone_at == (whole.after.updated_at if whole.after else at)


def test_other_lines() -> None:
    record = MemoryRecord(MemoryScope.PROJECT, "commands", "x", "x")
    added = Change(MemoryOperation(OperationKind.ADD, record, ""), None, record)
    line = render_event(event_of(added, "t", AT))
    assert [passage(text) for text in ("", "{", line[:-30])] == [None, None, None]
    predecessors = f'{{"action":"add","at":"{AT}","ref":"project:active:commands:x","summary":"x"}}'
    assert passage(predecessors) == Passage(AT, None, AT, None)
