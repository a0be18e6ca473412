"""One session through the extractor."""

import json
import os
from collections.abc import Callable

import pytest

from cam.core.evidence import Generation, RolloutEvidence, RolloutMeta
from cam.core.extraction import Candidate, SpeechAct
from cam.core.records import MemoryRecord, MemoryScope
from cam.sync.heuristic import HeuristicExtractor
from tests.unit.sync.conftest import call, extract, session

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "data", "extraction")
with open(os.path.join(DATA, "poison.json"), encoding="utf-8") as _file:
    POISON = json.load(_file)


def test_there_is_poison_enough() -> None:
    assert len(POISON) >= 40


@pytest.mark.parametrize("document", POISON, ids=lambda d: f"{d['who']}-{d['name']}")
def test_nothing_that_is_shown_becomes_memory(document: dict[str, str]) -> None:
    if document["who"] == "tool":
        items = (*session("show me").items, call("cat FILE", output=document["text"]))
        evidence = RolloutEvidence(session("x").meta, items)
    else:
        evidence = session((document["who"], document["text"]), ("assistant", "ok"), "thanks")
    assert HeuristicExtractor().extract(evidence, ()).items == ()


def test_a_subagents_session_holds_nobodys_words() -> None:
    meta = RolloutMeta("s", "/r", Generation.PAGINATED, is_primary=False)
    evidence = RolloutEvidence(meta, session("remember that we use pnpm").items)
    assert HeuristicExtractor().extract(evidence, ()).items == ()


def test_every_quote_is_in_the_evidence() -> None:
    said = (
        "Remember that  the suite is `make e2e`.",
        "Scratch that, it is `make e2e-ci` now.",
        "以后用中文回答，简洁一点",
    )
    for candidate in extract(*said).items:
        assert candidate.quotes
        assert all(any(q.text in text for text in said) for q in candidate.quotes)


def test_scratch_that_takes_the_subject_from_before() -> None:
    found = extract(
        "Remember that the end-to-end suite is started with `make e2e`.",
        ("assistant", "ok"),
        "Scratch that, it is `make e2e-ci` now.",
    )
    last = found.items[-1]
    assert isinstance(last, Candidate)
    assert (last.summary, last.denies, len(last.quotes)) == (
        "the end-to-end suite is started with `make e2e-ci`",
        ("make e2e",),
        2,
    )


def test_a_bare_value_corrects_the_one_record_that_has_such_a_value() -> None:
    known = MemoryRecord(MemoryScope.PROJECT, "architecture", "api", "The API server listens on port 3000.")
    found = extract(("assistant", "It is on 3000."), "No, port 4100", records=[known])
    assert [c.summary for c in found.items if isinstance(c, Candidate)] == [
        "The API server listens on port 4100."
    ]
    assert extract("No, port 4100").items == ()


def test_agreement_takes_the_words_of_the_proposal() -> None:
    proposal = ("assistant", "Done. Should I always run `make fmt` before committing?")
    (found,) = extract(proposal, "yes, every time").items
    assert isinstance(found, Candidate)
    assert (found.summary, found.act) == ("run `make fmt` before committing", SpeechAct.CONFIRMATION)
    (asked_for_good,) = extract(proposal, "yes").items  # "always" stands in the question
    assert isinstance(asked_for_good, Candidate)
    assert asked_for_good.summary == found.summary
    once = ("assistant", "Done. Should I run `make fmt` before committing?")
    assert extract(once, "yes").items == ()
    assert extract(proposal, "hmm").items == ()


def test_keep_that_in_mind_reaches_back(facts: Callable[..., list[str]]) -> None:
    assert facts("Our CI budget is 10 minutes per PR, keep that in mind in general.") == [
        "Our CI budget is 10 minutes per PR"
    ]


def test_just_thinking_out_loud_takes_it_back(facts: Callable[..., list[str]]) -> None:
    assert facts("We use Kafka for the event bus. Just thinking out loud.") == []


def test_a_secret_is_masked_and_the_fact_around_it_kept() -> None:
    found = extract(
        "Remember that the metrics API lives at https://metrics.example.com "
        "and api_key: EXAMPLE123 is in vault."
    )
    assert "EXAMPLE123" not in repr(found)
    assert "metrics.example.com" in repr(found.items)
    only = extract("Remember that the staging database password is Tr0ub4dor-and-3.")
    assert only.items == ()
    assert "Tr0ub4dor" not in repr(only)


def test_private_spans_are_not_read() -> None:
    assert extract("<private>remember that we use npm</private>").items == ()


def test_what_was_read_before_is_context_only() -> None:
    evidence = session("Remember that the suite is `make e2e`.", "Scratch that, it is `make e2e-ci` now.")
    found = HeuristicExtractor().extract(evidence, (), after=1)
    assert [c.summary for c in found.items if isinstance(c, Candidate)] == ["the suite is `make e2e-ci`"]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Remember that in all my repos I want conventional commits.", "global"),
        ("In this worktree only, the API runs on port 5001.", "project-local"),
        ("Remember that the gateway has to run locally through docker compose.", "project"),
        ("我本地的 mysql 端口是 3307", "project-local"),
        ("所有项目都用 4 个空格缩进", "global"),
    ],
)
def test_scope_is_what_the_words_say(text: str, scope: str) -> None:
    (found,) = extract(text).items
    assert isinstance(found, Candidate)
    assert found.scope == scope


def test_the_statement_names_its_source() -> None:
    (found,) = extract("ok", "We use pnpm, not npm.").items
    assert (found.source.session, found.source.ordinal, len(found.source.digest or "")) == ("s1", 2, 12)
    assert found.at == "2026-11-30T11:00:01.000Z"
