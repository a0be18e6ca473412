"""What two sentences are to each other."""

import pytest

from cam.language.relations import CLOSEST, closest, contradicts


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("The API listens on port 4100", "The API listens on port 3000"),
        ("We use pnpm here", "We use npm here"),
        ("Never push to main", "Always push to main"),
        ("Node 1 listens on 9001", "Node 1 listens on 9000"),
    ],
)
def test_against_each_other(text: str, known: str) -> None:
    assert contradicts(text, [known]) == [0]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Node 2 listens on 9001", "Node 1 listens on 9000"),
        ("Writer 2 notes item 2", "Writer 1 notes item 1"),
        ("Writer 6 notes item 1", "Writer 2 notes item 2"),
        ("The port of service 1 is 4101", "The port of service 0 is 4100"),
        ("The API listens on port 4100", "The worker listens on port 3000"),
        ("Use npm in the docs folder", "Use pnpm in the web folder"),
        ("Deploys run on Tuesdays", "Run the tests with make check"),
    ],
)
def test_beside_each_other(text: str, known: str) -> None:
    assert contradicts(text, [known]) == []


def test_among_many_about_the_same_the_closest_are_found() -> None:
    known = [f"Deploys of team {n} need a ticket and a second pair of eyes" for n in range(3 * CLOSEST)]
    known.insert(2 * CLOSEST, "Deploys of the shop run on Mondays")
    assert contradicts("Deploys of the shop run on Tuesdays", known) == [2 * CLOSEST]


def test_closest_names_what_holds_a_word() -> None:
    texts = ["İstanbul\nserves npm", "", "nothing", "npm NPM", "the pnpm store", "yarn"]
    assert closest(frozenset({"npm"}), texts) == [0, 3, 4]
    assert closest(frozenset({"npm", "store"}), texts, most=2) == [3, 4]
    assert closest(frozenset({"npm"}), []) == []
