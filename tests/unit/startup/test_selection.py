"""Which records are told first, and which say the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.core.candidates import Candidate
from cam.core.records import MemoryScope
from cam.startup.meaning import meaning_of
from cam.startup.selection import FIRST_OF_EACH, NOTHING_KNOWN, Hints, put_in_order
from tests.unit.startup.test_compile import compiled, fact, reasons, told

NOW = "2026-12-01T00:00:00.000Z"


def candidate(name: str, scope: MemoryScope = MemoryScope.PROJECT, day: int = 1) -> Candidate:
    return Candidate(scope, "workflow", name, name, f"2026-11-{day:02}T10:00:00.000Z")


def order(*some: Candidate, hints: Hints = NOTHING_KNOWN) -> list[str]:
    return [c.id for c in put_in_order(some, NOW, hints)[0]]


def test_what_fits_the_prompt_comes_before_what_is_new() -> None:
    some = [candidate(f"n{day}", day=day) for day in range(1, 20)]
    hints = Hints(relevant=("project:workflow:n2", "project:workflow:n7", "project:workflow:gone"))
    assert order(*some, hints=hints)[:3] == ["n2", "n7", "n19"]


def test_a_pinned_record_comes_before_what_fits() -> None:
    pinned = candidate("p")._replace(pinned=True)
    assert order(candidate("a"), pinned, hints=Hints(relevant=("project:workflow:a",))) == ["p", "a"]


def test_what_had_to_be_repeated_stands_high_and_use_keeps_a_record_new() -> None:
    some = [candidate(f"n{day}", day=day) for day in range(1, 9)]
    hints = Hints(
        repeated=frozenset({"project:workflow:n1"}),
        used_at={"project:workflow:n2": "2026-11-29T10:00:00.000Z"},
    )
    assert order(*some, hints=hints)[:3] == ["n1", "n2", "n8"]


def test_what_agents_noted_never_takes_the_place_of_what_a_person_said() -> None:
    notes = [candidate(f"a{day}", day=day)._replace(is_agents=True) for day in range(20, 29)]
    said = [candidate(f"n{day}", day=day) for day in range(1, 9)]
    hints = Hints(relevant=("project:workflow:a20", "project:workflow:n1"))
    found = order(*notes, *said, hints=hints)
    assert found[:3] == ["n1", "n8", "n7"]
    assert found[len(said) :] == [f"a{day}" for day in range(28, 19, -1)]
    pinned = notes[0]._replace(pinned=True)  # by a person: it is theirs
    assert order(*said, *notes[1:], pinned)[0] == "a20"


def test_no_scope_starves() -> None:
    many = [candidate(f"n{n}", day=20) for n in range(300)]
    few = [candidate(f"g{n}", MemoryScope.GLOBAL) for n in range(9)]
    assert order(*many, *few)[FIRST_OF_EACH : 2 * FIRST_OF_EACH] == [f"g{n}" for n in range(FIRST_OF_EACH)]


def test_a_bound_that_cannot_be_read_is_no_bound_to_rely_on() -> None:
    payload = compiled(
        fact("a", name="a", valid_until="next week"), fact("b", name="b", valid_from="2026-13")
    )
    assert told(payload) == []
    assert reasons(payload) == {"a": "unreadable_bound", "b": "unreadable_bound"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm for installs", "Always use pnpm for installs."),
        ("Never push to main", "Please don't push to main!"),
        ("In Go files use tabs", "Use tabs in Go files"),
        ("Run the tests before a commit", "Before commits, run the test"),
        ("提交信息用中文", "提交信息用中文。"),
    ],
)
def test_the_same_is_told_once(one: str, other: str) -> None:
    assert len(told(compiled(fact(one, name="x"), fact(other, name="y")))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use npm instead of pnpm", "Use pnpm instead of npm"),
        ("Push to main", "Never push to main"),
        ("The API depends on the DB", "The DB depends on the API"),
        ("Copy from staging to production", "Copy from production to staging"),
        ("The port is 8080", "The port is 8081"),
        ("Use C", "Use C++"),
        ("部署到 staging", "部署到 production"),
        ("Run tests after builds", "Run builds after tests"),
    ],
)
def test_what_differs_is_told_twice(one: str, other: str) -> None:
    assert len(told(compiled(fact(one, name="x"), fact(other, name="y")))) == 2


@given(st.text(max_size=200))
def test_meaning_is_there_for_any_text_and_stable(text: str) -> None:
    assert meaning_of(text) == meaning_of(text)
    assert meaning_of(text)


def test_many_records_leave_out_by_name_and_reason() -> None:
    payload = compiled(*(fact(f"Fact number {n}", name=f"f{n}") for n in range(500)))
    assert len(payload.entries) + len(payload.omissions) == 500
    assert set(reasons(payload).values()) <= {"token_budget", "line_budget"}
    assert len({o.what for o in payload.omissions}) == len(payload.omissions)


def test_candidates_are_told_whatever_their_order_on_disk() -> None:
    facts = [
        fact(f"Fact number {n}", name=f"f{n}", updated_at=f"2026-11-{n + 1:02}T00:00:00.000Z")
        for n in range(9)
    ]
    assert told(compiled(*facts)) == told(compiled(*facts[::-1]))
