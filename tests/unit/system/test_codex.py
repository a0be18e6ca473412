"""Finding Codex and asking it which release it is, with small programs in its place."""

import json
import os
from pathlib import Path

import pytest

from cam.system.codex import CodexProgram, codex_version, find_codex


def program(path: Path, says: str = "codex-cli 0.171.0", *, mode: int = 0o755) -> Path:
    """A program that prints ``says`` and leaves a mark for every start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho x >> {path.parent}/starts\necho '{says}'\n")
    path.chmod(mode)
    return path


def starts(path: Path) -> int:
    mark = path.parent / "starts"
    return len(mark.read_text().split()) if mark.exists() else 0


def test_the_first_that_can_be_started(tmp_path: Path) -> None:
    refused = program(tmp_path / "a" / "codex", mode=0o644)
    good = program(tmp_path / "b" / "codex")
    (tmp_path / "c" / "codex").mkdir(parents=True)
    path = os.pathsep.join(str(tmp_path / name) for name in "cab")
    assert find_codex("codex", path, "/") == CodexProgram(str(good), executable=True)
    assert find_codex("codex", str(tmp_path / "a"), "/") == CodexProgram(str(refused), executable=False)
    assert find_codex("codex", str(tmp_path / "c"), "/") is None
    assert find_codex("codex", "", str(tmp_path / "b")) == CodexProgram(str(good), executable=True)


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    good = program(tmp_path / "x" / "my-codex")
    link = tmp_path / "link"
    link.symlink_to(good)
    assert find_codex("x/my-codex", "", str(tmp_path)) == CodexProgram(str(good), executable=True)
    assert find_codex(str(link), "", "/") == CodexProgram(str(link), executable=True)
    assert find_codex("./my-codex", str(tmp_path / "x"), str(tmp_path)) is None
    assert find_codex(str(tmp_path / "x"), "", "/") == CodexProgram(str(tmp_path / "x"), executable=False)


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ("codex-cli 0.171.0", (0, 171, 0)),
        ("codex-cli-exec 1.2.34-alpha.5", (1, 2, 34)),
        ("no number", None),
    ],
)
def test_the_release(tmp_path: Path, says: str, version: tuple[int, int, int] | None) -> None:
    assert codex_version(str(program(tmp_path / "codex", says)), str(tmp_path / "cache.json")) == version


def test_it_is_asked_once_for_each_state(tmp_path: Path) -> None:
    package = tmp_path / "codex"
    script = program(package / "bin" / "codex.js")
    (package / "package.json").write_text('{"version": "0.171.0"}')
    link = tmp_path / "codex-link"
    link.symlink_to(script)
    cache = str(tmp_path / "cache" / "codex.json")
    for _ in range(3):
        assert codex_version(str(link), cache) == (0, 171, 0)
    assert starts(script) == 1
    (package / "package.json").write_text('{"version": "0.172.10"}')
    assert codex_version(str(link), cache) == (0, 171, 0)
    assert starts(script) == 2
    os.utime(script, ns=(0, 0))
    assert codex_version(str(link), cache) == (0, 171, 0)
    assert starts(script) == 3
    assert os.stat(cache).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "[]", "{", '{"PATH": 1}', '{"PATH": {"state": [], "version": "x"}}'])
def test_a_broken_cache_costs_one_question(tmp_path: Path, content: str) -> None:
    script = program(tmp_path / "bin" / "codex")
    cache = tmp_path / "cache.json"
    cache.write_text(content.replace("PATH", str(script)))
    assert codex_version(str(script), str(cache)) == (0, 171, 0)
    assert str(script) in json.loads(cache.read_text())


def test_a_cache_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    script = program(tmp_path / "codex")
    assert codex_version(str(script), str(tmp_path / "file" / "cache.json")) == (0, 171, 0)


def test_a_program_that_fails_says_nothing(tmp_path: Path) -> None:
    assert codex_version(str(tmp_path / "none"), str(tmp_path / "c")) is None
    assert codex_version(str(program(tmp_path / "codex", mode=0o644)), str(tmp_path / "c")) is None
