"""What counts as use of a record, and what a person is told of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.core.candidates import Candidate
from cam.core.evidence import (
    Generation,
    Message,
    Provenance,
    RolloutEvidence,
    RolloutMeta,
    ToolCall,
)
from cam.core.records import MemoryScope
from cam.formats.receipts import InjectionReceipt, parse_receipts, render_receipt
from cam.render.stats import stats_data, stats_text
from cam.startup.frame import CLOSE, OPEN
from cam.startup.rebuild import receipt_from, record_finder
from cam.startup.stats import OFTEN, stats_of
from cam.startup.use import RecordUse, count_use, repeated_since, use_in
from cam.store.receipts import Repeat
from tests.property.strategies import any_text

PNPM = "project:workflow:pnpm-1"
TABS = "global:preferences:tabs-1"


def receipt(session: str, *refs: str, **more: object) -> InjectionReceipt:
    base = InjectionReceipt(session, "session-flag-hook", arrived=True, tokens=100, refs=refs)
    return replace(base, at=f"2026-11-0{session[-1]}T10:00:00.000Z", project="p", worktree="w", **more)  # type: ignore[arg-type]


def session(*items: Message | ToolCall) -> RolloutEvidence:
    return RolloutEvidence(RolloutMeta("s1", "/r", Generation.PAGINATED), items)


def test_counts_by_session_each_once() -> None:
    receipts = [receipt("s1", PNPM, TABS), receipt("s2", PNPM), receipt("s2", PNPM, source="resume")]
    repeats = [Repeat("s2", PNPM, "2026-11-02T11:00:00.000Z"), Repeat("s2", TABS, "2026-11-02T11:00:00.000Z")]
    use = count_use(receipts, repeats, "p", "w")
    assert use[PNPM] == RecordUse(
        2,
        repeated=1,
        last_shown="2026-11-02T10:00:00.000Z",
        last_used="2026-11-02T11:00:00.000Z",
        last_repeated="2026-11-02T11:00:00.000Z",
    )
    assert (use[TABS].shown, use[TABS].repeated) == (1, 0), "s2 had not been told it"
    assert repeated_since(use, "2026-11-01") == [PNPM]
    assert repeated_since(use, "2026-12-01") == []


def test_other_projects_count_for_global_records_alone() -> None:
    elsewhere = replace(receipt("s1", PNPM, TABS, "project-local:x:y"), project="other")
    assert set(count_use([elsewhere], [], "p", "w")) == {TABS}
    worktree = replace(receipt("s1", PNPM, "project-local:x:y"), worktree="w2")
    assert set(count_use([worktree], [], "p", "w")) == {PNPM}


def test_what_did_not_arrive_is_no_reproach() -> None:
    missed = InjectionReceipt("s1", "session-flag-hook", arrived=False, reason="untrusted", project="p")
    assert count_use([missed], [Repeat("s1", PNPM, "2026")], "p", "w") == {}


def test_asking_by_ref_is_recall_and_saying_it_again_is_citing() -> None:
    ref = "project:active:workflow:pnpm-1"
    found = session(
        ToolCall("exec_command", command=f"cam recall details {ref} project:active:x:other-2"),
        ToolCall("exec_command", command=f"grep -r {ref} ."),
        ToolCall("mcp__cam__memory_details", input='{"refs": ["global:active:preferences:tabs-1"]}'),
        Message(Provenance.ASSISTANT, "As you said: *use TABS, in all Go files*!"),
        Message(Provenance.USER, "Use pnpm everywhere please"),
    )
    lines = {TABS: "Use tabs in all Go files", PNPM: "Use pnpm everywhere please", "project:x:s": "Short"}
    assert use_in(found, lines) == ((PNPM, "project:x:other-2", TABS), (TABS,))


def test_a_receipt_from_the_rollout_alone() -> None:
    candidates = [
        Candidate(MemoryScope.PROJECT, "workflow", "pnpm-1", "Use pnpm", "2026"),
        Candidate(MemoryScope.PROJECT, "workflow", "other-1", "Other", "2026"),
    ]
    told = f"{OPEN}\nNotes\n- [project/workflow] Use pnpm\n- [project/workflow] Forgotten\n{CLOSE}"
    find = record_finder(candidates, lambda summary: summary)
    made = receipt_from(session(Message(Provenance.HARNESS, told, line=7)), find, "p", "w")
    assert made is not None
    assert (made.arrived, made.refs, made.line, made.strategy) == (True, (PNPM,), 7, "rollout")
    assert receipt_from(session(Message(Provenance.USER, told)), find, "p", "w") is None


def test_stats_name_what_helped_and_what_did_not() -> None:
    names = ("pnpm-1", "often-1", "never-1")
    held = [Candidate(MemoryScope.PROJECT, "workflow", name, f"Text {name}", "2026") for name in names]
    often = "project:workflow:often-1"
    receipts = [receipt(f"s{n}", PNPM, often, cited=(PNPM,)) for n in range(1, OFTEN + 1)]
    receipts.append(receipt("s9", arrived=False, tokens=0, reason="Codex did not call the hook"))
    use = count_use(receipts, [Repeat("s1", PNPM, "2026")], "p", "w")
    stats = stats_of(receipts, use, held, lambda c: c.summary)
    assert (stats.arrived, stats.missed, stats.tokens) == (5, (("Codex did not call the hook", 1),), 500)
    assert [u.text for u in stats.repeated] == [u.text for u in stats.useful] == ["Text pnpm-1"]
    assert [u.text for u in stats.unused] == ["Text often-1"]
    assert stats.never_told == ("project:active:workflow:never-1",)
    text = stats_text(stats)
    assert "at 5 of 6 starts" in text
    assert "It did not arrive: Codex did not call the hook (1x)" in text
    assert stats_data(stats)["repeated"][0]["repeated"] == 1


def test_nothing_told_yet() -> None:
    assert "No session was told anything here yet" in stats_text(stats_of([], {}, [], str))


texts = any_text.map(lambda t: t.encode("utf-8", "replace").decode())


@given(
    st.builds(
        InjectionReceipt,
        texts,
        texts,
        texts,
        st.none() | st.booleans(),
        st.integers(0, 10**6),
        st.lists(texts, max_size=3).map(tuple),
        st.integers(0, 10**6),
        texts,
    )
)
def test_a_receipt_reads_back_equal(written: InjectionReceipt) -> None:
    line = render_receipt(written).encode()
    assert b"\n" not in line
    assert list(parse_receipts([line])) == [written]


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"5", b"{}", b'{"session": "s", "strategy": "x", "arrived": 7}', b"\xff"]
)
def test_a_line_that_is_no_receipt_is_left_out(line: bytes) -> None:
    assert list(parse_receipts([line])) == []
