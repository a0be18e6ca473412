"""project.json: read back as written, harmless when broken; forms of one remote are one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.formats.project_file import KnownProject, parse_project, render_project, same_remote

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, TEXT, st.sets(TEXT), st.none() | TEXT, st.dictionaries(TEXT, TEXT), st.lists(TEXT, unique=True))
def test_what_is_written_reads_back(
    root: str, common: str, remotes: set[str], commit: str | None, worktrees: dict[str, str], names: list[str]
) -> None:
    project = KnownProject(
        "shop-1", root, common, tuple(sorted(remotes)), commit, worktrees, tuple(names), tuple(names)
    )
    assert parse_project(render_project(project), "shop-1") == project


@given(st.binary())
def test_any_bytes_are_a_project_or_none(data: bytes) -> None:
    parse_project(data, "shop-1")


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'"x"', b"null", b'{"root": 7}', b'{"remotes": 7}', b'{"worktrees": []}']
)
def test_a_broken_file_is_none(data: bytes) -> None:
    assert parse_project(data, "shop-1") is None


def test_one_repository_reached_in_many_ways() -> None:
    ways = [
        "git@example.org:acme/shop.git", "ssh://git@example.org/acme/shop",
        "https://Example.org/acme/shop.git/",
        "https://user:token@example.org:443/acme/shop", "git://example.org/acme/shop.git",
        "example.org:acme/shop",
    ]  # fmt: skip
    assert len({same_remote(way) for way in ways}) == 1


def test_other_repositories_stay_apart() -> None:
    ways = [
        "git@example.org:acme/shop.git", "git@example.org:acme/shop2.git", "git@example.com:acme/shop.git",
        "git@example.org:other/shop.git", "/srv/git/acme/shop.git", "../shop", "C:\\repos\\shop",
    ]  # fmt: skip
    assert len({same_remote(way) for way in ways}) == len(ways)
