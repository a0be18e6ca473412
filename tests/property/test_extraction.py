"""Extraction of any text: it ends, it quotes, and reading twice changes nothing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.core.evidence import Generation, Message, Provenance, RolloutEvidence, RolloutMeta
from cam.core.extraction import Candidate
from cam.core.operations import build_plan
from cam.core.records import MemoryRecord
from cam.core.times import stamp
from cam.language.statements import shadow, take_apart
from cam.sync.heuristic import HeuristicExtractor
from cam.sync.review import review

WORDS = (
    "we use pnpm not npm remember that always never the port is 4100 , . ? ! : ; - ` \" ' ( ) \n from now on "
    "`make test` https://x.example/a tests live in spec/ stop adding comments if maybe 以后 不要 提交信息 "
    "用中文 ， 。 记住 これから 必ず immer nie a partir de ahora désormais forget the note about it"
).split(" ")
prose = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
anything = st.one_of(prose, st.text(max_size=400))


def session(texts: list[str]) -> RolloutEvidence:
    items = tuple(
        Message(Provenance.USER, text, n, n, None, "/repo", f"2026-11-30T10:00:{n % 60:02}Z")
        for n, text in enumerate(texts, 1)
    )
    return RolloutEvidence(
        RolloutMeta("s", "/r.jsonl", Generation.PAGINATED, "/repo", "2026-11-30T10:00:00Z"), items
    )


def carried_out(evidence: RolloutEvidence, records: list[MemoryRecord]) -> list[MemoryRecord]:
    decided = review(HeuristicExtractor().extract(evidence, records), records)
    state = {r.key: r for r in records}
    for change in build_plan(decided.operations, records).changes:
        assert change.after is not None
        state[change.after.key] = change.after
    return list(state.values())


@given(st.lists(anything, max_size=6))
def test_a_second_reading_changes_nothing(texts: list[str]) -> None:
    evidence = session(texts)
    first = carried_out(evidence, [])
    assert carried_out(evidence, first) == first


@given(st.lists(prose, max_size=4))
def test_quotes_are_verbatim(texts: list[str]) -> None:
    for item in HeuristicExtractor().extract(session(texts), ()).items:
        if isinstance(item, Candidate):
            assert item.quotes
            assert all(any(quote.text in text for text in texts) for quote in item.quotes)


@given(anything)
def test_clauses_are_slices_and_shadows_fit(text: str) -> None:
    assert len(shadow(text)) == len(text)
    for clause in take_apart(text).clauses:
        assert clause.text in text
        assert len(clause.shadow) == len(clause.text)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        " ",
        "`",
        '"',
        "we use pnpm and never npm, ",
        "if ",
        "，",
        "以后提交信息用中文，",
        "x/",
        "not ",
        "> ",
        "- ",
        "\n",
        "we use pnpm\n",
        "(",
        "never ",
    ],
)
@pytest.mark.parametrize("size", [5_900, 1_000_000])
def test_no_text_hangs(piece: str, size: int) -> None:
    text = piece * (size // len(piece))
    began = time.perf_counter()
    HeuristicExtractor().extract(session([text]), ())
    assert time.perf_counter() - began < 5


@given(st.text(max_size=40))
def test_any_time_becomes_a_stamp(text: str) -> None:
    assert len(stamp(text)) == len("2026-11-30T10:00:00.000Z")


def test_times() -> None:
    assert stamp("2026-11-30T10:00:00Z") == "2026-11-30T10:00:00.000Z"
    assert stamp("2026-11-30T10:00:00.123456Z") == "2026-11-30T10:00:00.123Z"
    assert stamp("2026-11-30T12:00:00+02:00") == "2026-11-30T10:00:00.000Z"
    assert stamp("") == "1970-01-01T00:00:00.000Z"
