from dataclasses import replace

import pytest

from cam.core.errors import InvalidInputError
from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, RecordType, Source
from cam.core.tokens import estimate_tokens
from cam.recall.result import Card
from cam.render.answer import success, to_json
from cam.render.recall import card_data, search_data, search_text
from tests.unit.recall.ask import search

PROJECT = MemoryScope.PROJECT


def record(name: str, summary: str, *details: str, topic: str = "commands", **more: object) -> MemoryRecord:
    return replace(MemoryRecord(PROJECT, topic, name, summary, details), **more)  # type: ignore[arg-type]


RECORDS = (
    record("tests-1", "Run the tests with make test", "they need docker"),
    record("port-1", "The API listens on port 4100", topic="reference"),
    record("port-2", "The API listens on port 3000", topic="reference", state=MemoryState.ARCHIVED),
    record("old-1", "The legacy importer is called sling", state=MemoryState.ARCHIVED),
    record("idea-1", "Try property tests for the parser", topic="patterns", type=RecordType.IDEA),
    record("global-1", "Prefers short commit messages", topic="preferences", scope=MemoryScope.GLOBAL),
)


def refs(query: str, **options: object) -> list[str]:
    return [card.ref.id for card in search(RECORDS, query, **options).cards]  # type: ignore[arg-type]


def test_a_card_says_what_and_why_and_never_details() -> None:
    said = Source("session", session="s-1", ordinal=2, digest="abc")
    known = replace(RECORDS[0], sources=(Source("person"), said), updated_at="2026-01-02T00:00:00.000Z")
    (card,) = search([known], "docker tests", path_of=lambda r: f"project/{r.topic}.md").cards
    assert str(card.ref) == "project:active:commands:tests-1"
    assert (card.scope, card.state, card.topic) == (PROJECT, MemoryState.ACTIVE, "commands")
    assert card.summary == "Run the tests with make test"
    assert card.fields == ("summary", "details", "id")
    assert card.terms == ("docker", "tests")
    assert (card.provenance.source, card.provenance.session) == ("session", "s-1")
    assert card.provenance.path == "project/commands.md"
    assert card.est_tokens == estimate_tokens(known.text)
    assert card.updated_at == "2026-01-02T00:00:00.000Z"
    assert "details" not in Card._fields
    assert "they need" not in repr(card)


def test_auto_is_active_and_archived_only_without_a_match() -> None:
    assert refs("port") == ["port-1"]
    result = search(RECORDS, "sling")
    assert [card.ref.id for card in result.cards] == ["old-1"]
    assert result.state == "archived"
    assert refs("sling", state="active") == []
    assert refs("port", state="archived") == ["port-2"]
    assert sorted(refs("port", state="all")) == ["port-1", "port-2"]
    assert search(RECORDS, "zebra").total == 0


def test_filters() -> None:
    assert refs("tests", type=RecordType.IDEA) == ["idea-1"]
    assert refs("tests", topic="commands") == ["tests-1"]
    assert refs("commit messages", scope=MemoryScope.GLOBAL) == ["global-1"]
    assert refs("commit messages", scope=PROJECT) == []
    said = replace(
        RECORDS[0], sources=(Source("session", session="s-1"),), created_at="2026-03-04T05:06:07.000Z"
    )
    for asked, count in [
        ({"session": "s-1"}, 1),
        ({"session": "S-1"}, 0),
        ({"source": "session"}, 1),
        ({"source": "person"}, 0),
        ({"until": "2026-03-04"}, 1),
        ({"until": "2026-03-03"}, 0),
        ({"since": "2026-03-04"}, 1),
        ({"since": "2026-03-05"}, 0),
        ({"since": "2026-03-05", "until": "2026-03-01"}, 0),
    ]:
        assert search([said], "tests", **asked).total == count


def test_what_does_not_hold_now_is_not_found() -> None:
    gone = record("a-1", "freeze until May", valid_until="2026-05-01T00:00:00.000Z")
    assert search([gone], "freeze", now="2026-04-30T23:59:59.999Z").total == 1
    assert search([gone], "freeze", now="2026-05-01T00:00:00.000Z").total == 0


def test_pages_and_totals() -> None:
    many = [record(f"n-{i:03}", f"the same words, number {i}") for i in range(20)]
    first = search(many, "same words")
    assert (len(first.cards), first.total, first.page_size) == (8, 20, 8)
    third = search(many, "same words", page=3)
    assert [card.ref.id for card in third.cards] == ["n-016", "n-017", "n-018", "n-019"]
    past = search(many, "same words", page=9)
    assert (past.cards, past.total) == ((), 20)
    assert len(search(many, "same words", page_size=100).cards) == 20


def test_all_words_or_any() -> None:
    assert "tests-1" in refs("tests docker")
    assert refs("tests docker", match="all") == ["tests-1"]
    assert refs("tests zebra", match="all") == []


def test_recency_reorders() -> None:
    old = record("a-1", "port 1", updated_at="2025-01-01T00:00:00.000Z")
    new = record("b-1", "port 2", updated_at="2026-01-01T00:00:00.000Z")
    now = "2026-01-02T00:00:00.000Z"
    assert [c.ref.id for c in search([old, new], "port").cards] == ["a-1", "b-1"]
    assert [c.ref.id for c in search([old, new], "port", recency=1, now=now).cards] == ["b-1", "a-1"]


def test_nothing_private_or_secret_comes_out() -> None:
    hidden = record(
        "a-1", "The vault <private>code is 4711</private> is upstairs", "and <private>so", "is the key"
    )
    assert search([hidden], "4711").total == 0
    assert search([hidden], "key").total == 0
    result = search([hidden], "vault")
    assert result.cards[0].summary == "The vault  is upstairs"
    assert result.cut == 2
    secret = record("b-1", "staging runs with password=hunter2 for now")
    result = search([secret], "staging hunter2")
    assert "hunter2" not in result.cards[0].summary
    assert result.masked == 1
    only = record("note-1", "<private>all of it</private>")
    assert search([only], "commands").cards[0].summary == "[private]"


def test_problems_are_handed_on() -> None:
    problem = Problem("project/commands.md", 3, "no end")
    assert search(RECORDS, "port", problems=(problem,)).problems == (problem,)


@pytest.mark.parametrize("query", ["", "  ", "?!", "--", "x " * 65, "x" * 2049, "🚀" * 1025])
def test_a_query_out_of_bounds_is_refused(query: str) -> None:
    with pytest.raises(InvalidInputError):
        search(RECORDS, query)


@pytest.mark.parametrize("query", ["x", "x " * 64, "x" * 2048, "测" * 2048, "the"])
def test_a_query_within_bounds_is_answered(query: str) -> None:
    assert search(RECORDS, query).problems == ()


@pytest.mark.parametrize(
    "options",
    [
        {"page_size": 0},
        {"page_size": 101},
        {"page": 0},
        {"page": -1},
        {"state": "gone"},
        {"match": "some"},
        {"recency": -1.0},
        {"recency": float("inf")},
        {"recency": float("nan")},
    ],
)
def test_options_out_of_bounds_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        search(RECORDS, "port", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 1, 8, 100])
def test_an_answer_costs_at_most_120_tokens_beyond_its_cards(count: int) -> None:
    many = [record(f"port-{n}", f"Service {n} listens on port {4100 + n}", "a detail") for n in range(count)]
    found = search(many, "which port does the service listen on", page_size=100)
    data = search_data(found)
    assert len(data["items"]) == count
    cards = sum(estimate_tokens(to_json(card_data(card))) for card in found.cards)
    assert estimate_tokens(to_json(success("recall.search", data))) - cards <= 120
    lines = sum(estimate_tokens(search_text(found._replace(cards=(card,), total=1))) for card in found.cards)
    assert estimate_tokens(search_text(found)) - lines <= 120
