"""Rollout files on disk: found, opened in either form, read in bounded memory."""

import errno
import os
import tracemalloc

import pytest
import zstandard

from cam.core.lines import MAX_LINE, SkippedLine
from cam.system.rollout_files import list_rollouts, other_form, read_first_line, read_lines

ID = "01a22ce8-906d-7751-8244-3a9e2626d1f9"


def name(number: int = 0, ending: str = ".jsonl") -> str:
    return f"rollout-2026-11-30T10-{number:02d}-00-{ID[:-2]}{number:02d}{ending}"


def put(path: str, data: bytes = b"{}\n") -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def found(home: str) -> list[str]:
    return [os.path.relpath(f.path, home) for f in list_rollouts(home).files]


def test_lists_live_and_archived_files_oldest_name_first(tmp_path):
    home = str(tmp_path)
    put(f"{home}/sessions/2026/12/01/{name(3)}")
    put(f"{home}/sessions/2026/11/30/{name(1)}", b"12345")
    put(f"{home}/archived_sessions/{name(2)}")
    put(f"{home}/sessions/2026/11/30/notes.jsonl")
    listing = list_rollouts(home)
    assert found(home) == [
        f"sessions/2026/11/30/{name(1)}",
        f"archived_sessions/{name(2)}",
        f"sessions/2026/12/01/{name(3)}",
    ]
    assert [f.archived for f in listing.files] == [False, True, False]
    assert listing.files[0].size == 5
    assert listing.problems == ()


def test_a_plain_file_wins_over_its_compressed_sibling(tmp_path):
    home = str(tmp_path)
    put(f"{home}/sessions/{name(1)}")
    put(f"{home}/sessions/{name(1, '.jsonl.zst')}")
    put(f"{home}/sessions/{name(2, '.jsonl.zst')}")
    assert found(home) == [f"sessions/{name(1)}", f"sessions/{name(2, '.jsonl.zst')}"]


def test_a_home_without_sessions_has_none(tmp_path):
    assert list_rollouts(str(tmp_path / "missing")).files == ()
    assert list_rollouts(str(tmp_path / "missing")).problems == ()


def test_loops_are_not_followed_and_dead_links_are_reported(tmp_path):
    home = str(tmp_path / "home")
    put(f"{home}/sessions/a/{name(1)}")
    put(str(tmp_path / "elsewhere" / name(2)))
    os.symlink(f"{home}/sessions", f"{home}/sessions/a/loop")
    os.symlink("self", f"{home}/sessions/self")
    os.symlink("nowhere", f"{home}/sessions/{name(3)}")
    os.symlink("nowhere", f"{home}/sessions/old")
    os.symlink(tmp_path / "elsewhere", f"{home}/sessions/linked")
    listing = list_rollouts(home)
    assert {os.path.basename(f.path) for f in listing.files} == {name(1), name(2)}
    assert {os.path.basename(p.path) for p in listing.problems} == {"loop", "self", name(3), "old"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read_is_reported(tmp_path):
    home = str(tmp_path)
    put(f"{home}/sessions/a/{name(1)}")
    put(f"{home}/sessions/b/{name(2)}")
    os.chmod(f"{home}/sessions/a", 0)
    try:
        listing = list_rollouts(home)
    finally:
        os.chmod(f"{home}/sessions/a", 0o700)
    assert len(listing.files) == 1
    assert "permission denied" in listing.problems[0].reason


def test_a_file_where_the_folder_should_be_is_reported(tmp_path):
    put(f"{tmp_path}/sessions", b"")
    assert "cannot be read" in list_rollouts(str(tmp_path)).problems[0].reason


def test_pipes_are_passed_over(tmp_path):
    os.makedirs(tmp_path / "sessions")
    os.mkfifo(tmp_path / "sessions" / name(1))
    assert list_rollouts(str(tmp_path)).files == ()
    with pytest.raises(OSError, match="not a regular file"):
        next(read_lines(str(tmp_path / "sessions" / name(1))))


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.zst"])
def test_lines_end_at_line_feeds_alone(tmp_path, ending):
    data = "a\u2028b\r\n\nc\x85\x0c d\n{}".encode()
    packed = zstandard.ZstdCompressor().compress(data) if ending.endswith("zst") else data
    path = put(str(tmp_path / name(1, ending)), packed)
    assert list(read_lines(path)) == ["a\u2028b\r\n".encode(), b"\n", "c\x85\x0c d\n".encode(), b"{}"]
    assert list(read_lines(path, len("a\u2028b\r\n\n".encode()))) == ["c\x85\x0c d\n".encode(), b"{}"]
    assert read_first_line(path) == "a\u2028b\r\n".encode()


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.zst"])
def test_a_huge_line_is_passed_over_and_never_held(tmp_path, ending):
    huge = b"x" * (100 * 1024 * 1024) + b"\n"
    data = b"first\n" + huge + b"last\n"
    packed = zstandard.ZstdCompressor().compress(data) if ending.endswith("zst") else data
    path = put(str(tmp_path / name(1, ending)), packed)
    size = len(huge)
    del huge, data, packed
    tracemalloc.start()
    try:
        assert list(read_lines(path)) == [b"first\n", SkippedLine(size), b"last\n"]
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_LINE
    finally:
        tracemalloc.stop()


def test_a_line_of_just_the_bound_is_read(tmp_path):
    path = put(str(tmp_path / name()), b"x" * (MAX_LINE - 1) + b"\n" + b"y" * (MAX_LINE + 5))
    assert [len(x) if isinstance(x, bytes) else x for x in read_lines(path)] == [
        MAX_LINE,
        SkippedLine(MAX_LINE + 5),
    ]


def test_an_empty_file_has_no_first_line(tmp_path):
    path = put(str(tmp_path / name()), b"")
    assert read_first_line(path) is None
    assert list(read_lines(path)) == []


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_lines(str(tmp_path / name())))


def test_a_file_cut_while_it_is_read_is_an_error(tmp_path):
    path = put(str(tmp_path / name()), b"line\n" * 300_000)
    lines = read_lines(path)
    next(lines)
    os.truncate(path, 10)
    with pytest.raises(OSError, match="rewritten") as caught:
        list(lines)
    assert caught.value.errno == errno.ESTALE


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 40, 10_000])
@pytest.mark.parametrize("streamed", [True, False])
def test_compressed_data_that_are_cut_off_are_an_error(tmp_path, cut, streamed):
    data = os.urandom(200_000) + b"a" * 300_000 + b"\n"
    packer = zstandard.ZstdCompressor(write_checksum=streamed)
    stream = packer.compressobj()
    packed = stream.compress(data) + stream.flush() if streamed else packer.compress(data)
    two = zstandard.ZstdCompressor().compress(b"first\n") + packed
    path = put(str(tmp_path / name(1, ".jsonl.zst")), two)
    assert sum(map(len, (x for x in read_lines(path) if isinstance(x, bytes)))) == len(data) + 6
    put(path, two[:-cut])
    with pytest.raises(OSError, match="cut off") as caught:
        list(read_lines(path))
    assert caught.value.errno == errno.EIO


def test_damaged_compressed_data_are_an_error(tmp_path):
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(b"line\n" * 10_000)
    path = put(str(tmp_path / name(1, ".jsonl.zst")), packed[:-3] + b"\0\0\0")
    with pytest.raises(OSError, match="compressed data") as caught:
        list(read_lines(path))
    assert caught.value.errno == errno.EIO
    put(path, b"not compressed at all\n")
    with pytest.raises(OSError, match="compressed data"):
        list(read_lines(path))


def test_the_other_form():
    assert other_form("/a/x.jsonl") == "/a/x.jsonl.zst"
    assert other_form("/a/x.jsonl.zst") == "/a/x.jsonl"
