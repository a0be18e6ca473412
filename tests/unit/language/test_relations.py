"""What two sentences are to each other."""

import pytest

from cam.language.relations import contradicts


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
        ("The port of service 1 is 4101", "The port of service 0 is 4100"),
        ("The API listens on port 4100", "The worker listens on port 3000"),
        ("Use npm in the docs folder", "Use pnpm in the web folder"),
        ("Deploys run on Tuesdays", "Run the tests with make check"),
    ],
)
def test_beside_each_other(text: str, known: str) -> None:
    assert contradicts(text, [known]) == []
