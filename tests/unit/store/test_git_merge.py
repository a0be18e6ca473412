"""Two states of a file as one: whatever is changed wherever, and however often, no text is lost."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.topic_file import apply_to_topic_file, new_topic_file, parse_topic_file, render_topic_file
from cam.store.git_merge import merge_file

SCOPE, STATE, TOPIC = MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow"
PATH = f"projects/p/project/{TOPIC}.md"
TEXTS = st.sampled_from(("Use pnpm", "Use yarn", "Use bun", "Use deno", "Use npm"))


def record(name: str, text: str, second: int = 0) -> MemoryRecord:
    return MemoryRecord(SCOPE, TOPIC, name, text, updated_at=f"2026-11-30T10:00:{second:02d}.000Z")


def written(*records: MemoryRecord) -> bytes:
    file = new_topic_file(SCOPE, STATE, TOPIC)
    return render_topic_file(apply_to_topic_file(file, {r.id: r for r in records}))


def read(data: bytes) -> dict[str, MemoryRecord]:
    file = parse_topic_file(data, path=PATH, scope=SCOPE, state=STATE, topic=TOPIC)
    return {r.id: r for r in file.records}


def merged(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    both = [merge_file(PATH, base, *sides) for sides in ((ours, theirs), (theirs, ours))]
    one, other = (read(data or b"") for data in both)
    assert one == other  # whichever side merges
    return both[0] or b""


def texts(data: bytes) -> set[str]:
    return {r.text for r in read(data).values()}


def test_a_second_conflict_on_one_record_keeps_all_texts() -> None:
    base, kept = written(record("tool", "Use npm")), {"Use npm"}
    for second, pair in enumerate((("Use pnpm", "Use yarn"), ("Use bun", "Use deno")), 1):
        sides = []
        for text in pair:
            known = read(base)
            known["tool"] = replace(
                known["tool"], summary=text, updated_at=record("x", "x", second).updated_at
            )
            sides.append(written(*known.values()))
        kept = texts(base) - {read(base)["tool"].text} | set(pair)
        base = merged(base, *sides)
        assert texts(base) == kept


@given(st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6))
def test_no_text_is_lost_over_repeated_conflicts(rounds: list[tuple[str, str, int, int]]) -> None:
    base = written(record("tool", "Use make"), record("tool-2", "Use just"))
    for here, there, which_here, which_there in rounds:
        sides, wanted = [], set()
        for text, which in ((here, which_here), (there, which_there)):
            known = read(base)
            name = sorted(known)[which % len(known)]
            new = replace(known[name], summary=text, updated_at=record("x", "x", which).updated_at)
            wanted |= {text} if new != known[name] else set()
            known[name] = new
            sides.append(written(*known.values()))
        untouched = {r.text for n, r in read(base).items() if all(read(s)[n] == r for s in sides)}
        base = merged(base, *sides)
        assert wanted | untouched <= texts(base)
