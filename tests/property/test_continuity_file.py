"""Properties of active.md: no byte is lost, what is put in reads back, what people add stays."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cam.formats.continuity_file import (
    LISTS,
    MAX_GOAL,
    PLACEHOLDERS,
    SECTIONS,
    ContinuityState,
    Front,
    digest,
    new_file,
    parse,
    put,
    render,
    theirs,
    tidy,
)

FRONT = Front("project", "shop-1", "shop-2", "2026-11-30T10:00:00.000Z", "s-1")
GOLDEN = Path(__file__).parent.parent / "golden" / "ts-store"

texts = st.text(max_size=60).map(tidy).filter(lambda t: t and t not in PLACEHOLDERS.values())
lists = st.lists(texts, max_size=4, unique=True).map(tuple)
states = st.builds(ContinuityState, st.one_of(st.just(""), texts), lists, lists, lists, lists, lists)
headings = st.sampled_from(
    [f"## {t}\n" for t in SECTIONS.values()] + ["## Mine\n", "# T\n", "---\n", "```\n"]
)
scraps = st.one_of(
    headings, st.sampled_from(["\n", "- x\n", "| y\n", "text\n", "  more\n", "k: v\n"]), st.text(max_size=20)
)
files = st.one_of(
    st.binary(max_size=200),
    st.lists(scraps, max_size=20).map(lambda p: "".join(p).encode("utf-8", "surrogatepass")),
)


def written(state: ContinuityState) -> set[str]:
    return {digest(key, item) for key in LISTS for item in state.items(key)}


@given(files)
def test_no_byte_is_lost(data: bytes) -> None:
    assert render(parse(data)) == data


@given(states)
def test_what_is_put_into_a_new_file_reads_back(state: ContinuityState) -> None:
    data = render(put(new_file(), state, FRONT))
    assert parse(data).state == state
    assert parse(data).fields["sourceSessionId"] == "s-1"


@given(states, states)
def test_one_state_takes_the_place_of_another(first: ContinuityState, second: ContinuityState) -> None:
    file = put(put(new_file(), first, FRONT), second, FRONT, written(first))
    assert render(file) == render(put(new_file(), second, FRONT))


@given(files, states)
def test_what_people_wrote_stays(data: bytes, state: ContinuityState) -> None:
    before = parse(data)
    after = parse(render(put(before, state, FRONT, written=())))
    kept = iter(line for s in after.sections for line in (s.heading, *s.lines))
    for section in before.sections:
        if section.key is None:
            for line in (section.heading, *section.lines):
                assert any(other.rstrip("\n") == line.rstrip("\n") for other in kept)
    for key in LISTS:
        assert set(before.state.items(key)) <= set(after.state.items(key))
        assert set(state.items(key)) <= set(after.state.items(key))


def test_a_persons_additions_survive_every_save() -> None:
    first = ContinuityState("Old goal", next_steps=("cam's step",))
    text = render(put(new_file(), first, FRONT)).decode()
    edited = text.replace("- cam's step\n", "- cam's step\n  a line of mine\n- my own step\n")
    edited = (
        edited.replace("status: active\n", "status: paused\nowner: me\n") + "\n## Demo\n\nFriday at ten.\n"
    )
    file = parse(edited.encode())
    assert theirs(file, written(first)).next_steps == ("my own step",)
    after = render(put(file, ContinuityState("New goal"), FRONT, written(first))).decode()
    assert "## Incomplete / Next\n  a line of mine\n- my own step\n" in after
    assert after.endswith("\n## Demo\n\nFriday at ten.\n")
    assert "owner: me\n" in after
    assert "| New goal\n" in after
    assert "Old goal" not in after
    assert parse(after.encode()).additions == (("Demo", ("Friday at ten.",)),)


def test_the_predecessors_files_read_and_render_as_they_are() -> None:
    for path in GOLDEN.rglob("active.md"):
        data = path.read_bytes()
        file = parse(data)
        assert render(file) == data
        fields = file.fields
        front = Front(
            fields["scope"],
            fields["projectId"],
            fields["worktreeId"],
            fields["updatedAt"],
            fields["sourceSessionId"],
        )
        assert render(put(file, file.state, front)) == data
    assert len(list(GOLDEN.rglob("active.md"))) == 2


def test_fences_hide_headings_and_items() -> None:
    data = b"## Incomplete / Next\n```\n## Goal\n- no item\n```\n- an item\n## Goal\nwritten by hand\n"
    state = parse(data).state
    assert state.next_steps == ("an item",)
    assert state.goal == "written by hand"


def test_items_are_tidied() -> None:
    assert tidy("a\n b\x1b[31m") == "a b [31m"
    assert len(tidy("x" * 900, MAX_GOAL)) == MAX_GOAL
