"""Rollouts cut, doubled, mixed and corrupted anywhere: no exception, nothing invented, the rest intact."""

import os
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.evidence import Provenance, RolloutEvidence
from cam.formats.rollout import parse_rollout

DATA = os.path.join(os.path.dirname(__file__), "..", "data", "rollouts")
FILES = sorted(
    os.path.join(release, name)
    for release in os.listdir(DATA)
    if os.path.isdir(os.path.join(DATA, release))
    for name in os.listdir(os.path.join(DATA, release))
)
RAW: dict[str, bytes] = {}


def raw(name: str) -> bytes:
    if name not in RAW:
        with open(os.path.join(DATA, name), "rb") as file:
            RAW[name] = file.read()
    return RAW[name]


def split(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    return [*lines[:-1], lines[-1][:-1]] if lines[-1] != b"\n" else lines[:-1]


def parse(data: bytes, name: str) -> RolloutEvidence:
    return parse_rollout(split(data), f"/x/rollout-2026-11-30T14-42-48-{name[-8:]}.jsonl")


def typed(evidence: RolloutEvidence) -> list[str]:
    return [m.text for m in evidence.user_messages]


def check_numbers(evidence: RolloutEvidence) -> None:
    ordinals = [m.ordinal for m in evidence.user_messages]
    assert ordinals == list(range(ordinals[0], ordinals[0] + len(ordinals))) if ordinals else True


def untouched(name: str, start: int, end: int) -> list[str]:
    """What is said in lines that lie wholly outside the damage (the header counts as outside)."""
    data = raw(name)
    at, kept = 0, []
    for number, line in enumerate(split(data)):
        if at + len(line) <= start or at >= end or number == 0:
            kept.append(line)
        at += len(line)
    return typed(parse_rollout(kept, name))


files = st.sampled_from(FILES)
places = st.floats(0, 1, exclude_max=True)


def pick(name: str, place: float) -> int:
    """A byte behind the header."""
    data = raw(name)
    first = data.index(b"\n") + 1
    return first + int(place * (len(data) - first))


@settings(max_examples=150, deadline=None)
@given(files, places)
def test_cut_anywhere(name: str, place: float) -> None:
    cut = pick(name, place)
    evidence = parse(raw(name)[:cut], name)
    whole = typed(parse(raw(name), name))
    assert typed(evidence) == whole[: len(typed(evidence))]
    lines = raw(name)[:cut].rpartition(b"\n")[0] + b"\n"
    assert typed(parse(lines, name)) == typed(evidence)[: len(typed(parse(lines, name)))]
    check_numbers(evidence)


@settings(max_examples=200, deadline=None)
@given(files, places, st.binary(min_size=0, max_size=40), st.integers(0, 60))
def test_corrupt_anywhere(name: str, place: float, junk: bytes, width: int) -> None:
    start = pick(name, place)
    end = min(start + width, len(raw(name)))
    evidence = parse(raw(name)[:start] + junk + raw(name)[end:], name)
    safe = Counter(untouched(name, start, max(end, start + 1)))
    found = Counter(typed(evidence))
    other = sum((found - Counter(typed(parse(raw(name), name)))).values())
    assert other <= 1, "statements are invented"  # a letter of one may be another now
    assert sum((safe - found).values()) <= other, "a statement outside the damage is lost"
    if not evidence.meta.is_primary:
        assert not found
    check_numbers(evidence)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), files)
def test_any_bytes_in_place_of_the_header(head: bytes, name: str) -> None:
    body = raw(name).split(b"\n", 1)[1]
    evidence = parse(head.replace(b"\n", b"") + b"\n" + body, name)
    whole = typed(parse(raw(name), name))
    assert typed(evidence) in (whole, [])


@settings(max_examples=100, deadline=None)
@given(files, places, places)
def test_doubled_lines_count_once(name: str, one: float, other: float) -> None:
    lines = split(raw(name))
    start, end = sorted((1 + int(one * (len(lines) - 1)), 1 + int(other * (len(lines) - 1))))
    if lines[0].startswith(b'{"timestamp"'):
        doubled = [*lines[:end], *lines[start:]]  # a stretch written again, as after a crash
    else:
        doubled = [*lines[: end + 1], *lines[end:]]  # without times only a line directly behind itself
    assert typed(parse_rollout(doubled, name)) == typed(parse_rollout(lines, name))


@settings(max_examples=100, deadline=None)
@given(files, places, places)
def test_half_a_line_and_then_the_whole_one(name: str, one: float, part: float) -> None:
    lines = split(raw(name))
    at = 1 + int(one * (len(lines) - 1))
    half = lines[at][: int(part * (len(lines[at]) - 1))]
    whole = typed(parse_rollout(lines, name))
    assert typed(parse_rollout([*lines[:at], half + b"\n", *lines[at:]], name)) == whole
    assert typed(parse_rollout([*lines[:at], half + lines[at], *lines[at + 1 :]], name)) == whole


@settings(max_examples=60, deadline=None)
@given(files, st.randoms(use_true_random=False))
def test_neighbours_in_another_order_say_the_same(name: str, random) -> None:
    """Two writers interleave: order may suffer, nothing is lost or doubled."""
    lines = split(raw(name))
    mixed = list(lines)
    for at in range(1, len(mixed) - 1):
        if random.random() < 0.3:
            mixed[at], mixed[at + 1] = mixed[at + 1], mixed[at]
    if name.split(".")[1] in ("20", "29"):
        return
    assert Counter(typed(parse_rollout(mixed, name))) == Counter(typed(parse_rollout(lines, name)))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=20))
def test_any_bytes_at_all(lines: list[bytes]) -> None:
    evidence = parse_rollout(lines, "/x/rollout-y.jsonl")
    assert not [i for i in evidence.items if getattr(i, "who", None) is Provenance.USER]
