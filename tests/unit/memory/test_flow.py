"""A person edits memory: verbatim, never a secret, never the wrong record, always with a way back."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.display import without_escapes
from cam.core.errors import InvalidInputError, NotFoundError, WriteRefusedError
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState
from cam.memory.edits import edit
from cam.memory.flow import change, forget, matches, remember, undo
from cam.memory.lookup import find
from cam.memory.screen import MAX_TEXT
from cam.memory.wish import Wish
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from tests.property.strategies import lines

PROJECT = MemoryScope.PROJECT


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))


def say(
    store: MarkdownStore, text: str, scope: MemoryScope = PROJECT, topic: str = "workflow"
) -> MemoryRecord:
    return remember(store, text, (), scope, topic).record


def active(store: MarkdownStore) -> list[str]:
    return [r.summary for r in store.snapshot().records if r.state is MemoryState.ACTIVE]


def markdown(store: MarkdownStore) -> dict[str, bytes]:
    root = Path(store.layout.root)
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.md")}


@given(lines.filter(lambda text: bool(without_escapes(text).strip())))
@settings(max_examples=40)
def test_what_is_remembered_reads_back_verbatim(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    store = MarkdownStore(StoreLayout(str(tmp_path_factory.mktemp("any") / "store"), "shop-1", "shop-1"))
    try:
        record = say(store, text)
    except WriteRefusedError:
        assert "<" in text  # only a private span leaves nothing
        return
    assert find(store.snapshot().records, record.ref).summary == record.summary
    if "<" not in text:
        assert record.summary == without_escapes(text).strip()


def test_lines_after_the_first_are_details(store: MarkdownStore) -> None:
    done = remember(store, "Run make check\n\nit takes two minutes\r\n", ("on the VPN",), PROJECT, "commands")
    assert (done.record.summary, done.record.details) == (
        "Run make check", ("it takes two minutes", "on the VPN"),
    )  # fmt: skip


def test_known_text_is_a_noop_with_its_ref(store: MarkdownStore) -> None:
    first = say(store, "Never push to main")
    again = remember(store, "never push to `main`.", (), PROJECT, "workflow")
    assert (again.is_new, again.record.ref) == (False, first.ref)
    assert active(store) == ["Never push to main"]


def test_texts_without_ascii_have_ids_of_their_own(store: MarkdownStore) -> None:
    refs = {
        say(store, text).id
        for text in ("提交信息用中文", "注释写英文", "コミットは英語で", "не трогай legacy")
    }
    assert len(refs) == 4


def test_a_long_shared_beginning_is_no_collision(store: MarkdownStore) -> None:
    start = "the billing service owns the invoices table and other services read it through " * 3
    assert say(store, start + "its API").id != say(store, start + "the queue").id
    assert len(active(store)) == 2


def test_what_it_contradicts_is_archived_with_a_warning(store: MarkdownStore) -> None:
    old = say(store, "The API server listens on port 3000")
    done = remember(store, "The API server listens on port 4100", (), PROJECT, "workflow")
    assert active(store) == ["The API server listens on port 4100"]
    assert "it contradicts: The API server listens on port 3000" in done.warnings[0]
    archived = find(store.snapshot().records, old.ref)
    assert archived.state is MemoryState.ARCHIVED
    assert done.record.id in archived.reason
    undo(store)
    assert active(store) == ["The API server listens on port 3000"]


def test_another_scope_is_nobodys_contradiction(store: MarkdownStore) -> None:
    say(store, "The API server listens on port 3000", MemoryScope.PROJECT)
    say(store, "The API server listens on port 4100", MemoryScope.PROJECT_LOCAL)
    assert len(active(store)) == 2


def test_secrets_are_masked_and_said(store: MarkdownStore) -> None:
    token = "glpat-" + "aB3dE6gH9jK2mN5pQ8s"
    done = remember(store, f"The deploy bot logs in with {token}", (f"again {token}",), PROJECT, "workflow")
    assert "2 secrets were masked" in done.warnings[0]
    assert not [
        p for p in Path(store.layout.root).rglob("*") if p.is_file() and token.encode() in p.read_bytes()
    ]


@pytest.mark.parametrize(
    "text", ["password: hunter2EXAMPLE", "the password is hunter2EXAMPLE", "<private>all of it</private>"]
)
def test_nothing_but_a_secret_is_refused(store: MarkdownStore, text: str) -> None:
    with pytest.raises(WriteRefusedError):
        say(store, text)
    assert not Path(store.layout.root).exists() or markdown(store) == {}


def test_bounds(store: MarkdownStore) -> None:
    with pytest.raises(InvalidInputError):
        say(store, " \n ")
    with pytest.raises(InvalidInputError):
        say(store, "x" * (MAX_TEXT + 1))
    with pytest.raises(InvalidInputError, match="there is no project here"):
        say(MarkdownStore(StoreLayout(store.layout.root)), "x")


def test_a_query_means_every_word_and_only_active_records(store: MarkdownStore) -> None:
    say(store, "Run the tests with make check")
    say(store, "Start the server with make serve")
    gone = say(store, "Tests were run with tox")
    forget(store, [gone.ref], delete=False)
    records = store.snapshot().records
    assert [r.summary for r in matches(records, "testing make")] == ["Run the tests with make check"]
    assert len(matches(records, "make")) == 2
    assert matches(records, "art") == ()  # a part of "start" is not the word
    assert matches(records, "make", MemoryScope.GLOBAL) == ()


def test_forget_archives_or_deletes(store: MarkdownStore) -> None:
    one, two = say(store, "One thing"), say(store, "Another matter")
    forget(store, [one.ref], delete=False)
    forget(store, [two.ref], delete=True)
    assert [(r.summary, str(r.state)) for r in store.snapshot().records] == [("One thing", "archived")]
    forget(
        store, [MemoryRef(PROJECT, MemoryState.ACTIVE, "workflow", one.id)], delete=True
    )  # the state is a hint
    assert store.snapshot().records == ()
    with pytest.raises(NotFoundError):
        forget(store, [one.ref, two.ref], delete=False)


def test_undo_leaves_alone_what_was_changed_since(store: MarkdownStore) -> None:
    record = say(store, "Never push to main")
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text(path.read_text().replace("Never push to main", "Never push to main or next"))
    (step,) = undo(store)
    assert step.kept == (str(record.ref),)
    assert active(store) == ["Never push to main or next"]


texts = st.sampled_from(
    ["Use pnpm", "Use tabs", "API on 3000", "API on 4100", "提交用中文", "Deploy on Mondays"]
)
steps = st.lists(
    st.tuples(st.just("remember"), texts)
    | st.tuples(st.just("forget"), st.integers(0, 9))
    | st.tuples(st.just("delete"), st.integers(0, 9)),
    max_size=8,
)


@given(steps)
@settings(max_examples=25)
def test_as_many_undos_as_changes_give_the_same_records(
    tmp_path_factory: pytest.TempPathFactory, walk: list[tuple[str, str | int]]
) -> None:
    store = MarkdownStore(StoreLayout(str(tmp_path_factory.mktemp("u") / "store"), "shop-1", "shop-1"))
    say(store, "Always there")
    before = sorted(store.snapshot().records, key=str)
    changes = 0
    for kind, what in walk:
        if kind == "remember":
            changes += remember(store, str(what), (), PROJECT, "workflow").is_new
            continue
        known = [r for r in store.snapshot().records if r.summary != "Always there"]
        if known:
            target = known[int(what) % len(known)]
            changes += bool(forget(store, [target.ref], delete=kind == "delete").changed)
    for _ in range(changes):
        undo(store)
    assert sorted(store.snapshot().records, key=str) == before


def test_undo_takes_back_what_was_done_here(store: MarkdownStore) -> None:
    other = MarkdownStore(StoreLayout(store.layout.root, "other-2", "other-2"))
    say(store, "Deploys run on Tuesdays")
    say(store, "Answer in German", MemoryScope.GLOBAL)
    theirs = remember(other, "Never force-push", (), MemoryScope.GLOBAL, "workflow")
    (done,) = undo(store)
    assert [c.before.summary for c in done.changes if c.before] == ["Answer in German"]
    assert done.passed == ((theirs.transaction, f"other-2 changed {theirs.record.ref}"),)
    assert [len(d.passed) for d in undo(store)] == [1]
    with pytest.raises(NotFoundError, match=f"other-2 changed .*cam undo {theirs.transaction}"):
        undo(store)
    assert active(store) == ["Never force-push"]
    undo(store, theirs.transaction)
    assert active(store) == []


def test_at_home_every_global_change_is_the_persons(store: MarkdownStore) -> None:
    home = MarkdownStore(StoreLayout(store.layout.root))
    say(store, "Answer in German", MemoryScope.GLOBAL)
    undo(home)
    assert active(store) == []


def test_what_a_terminal_coloured_is_remembered_without_the_colours(store: MarkdownStore) -> None:
    done = remember(store, "\x1b[31mUse pnpm\x1b[0m\u202e", [], MemoryScope.PROJECT, "workflow")
    assert done.record.summary == "Use pnpm"
    assert "31m" not in done.record.id


def by_hand(store: MarkdownStore, old: str, new: str) -> None:
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text(path.read_text().replace(old, new))


def test_a_step_that_takes_nothing_back_does_not_count(store: MarkdownStore) -> None:
    say(store, "Deploys run on Tuesdays")
    record = say(store, "Never push to main")
    by_hand(store, "Never push to main", "Never push to main or next")
    idle, done = undo(store)
    assert (idle.transaction, idle.kept, idle.gone) == ("", (str(record.ref),), ())
    assert active(store) == ["Never push to main or next"]
    written = Path(store.layout.root, "projects/shop-1/project/memory-history.jsonl").read_bytes()
    (again,) = undo(store, 3)  # nothing else is left: the same answer, and nothing is written
    assert again == idle
    assert Path(store.layout.root, "projects/shop-1/project/memory-history.jsonl").read_bytes() == written
    undo(store, done.transaction)
    by_hand(store, "Never push to main or next", "Never push to main")
    assert undo(store)[0].transaction  # as it was again, it can be taken back after all
    assert active(store) == ["Deploys run on Tuesdays"]


def test_what_is_gone_already_is_said(store: MarkdownStore) -> None:
    record = say(store, "Never push to main")
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text("# workflow\n\n## Ask Ada first\n")
    (idle,) = undo(store)
    assert (idle.transaction, idle.same, idle.gone) == ("", (str(record.ref),), (str(record.ref),))


def test_a_correction_of_what_was_deleted_since_stays_deleted(store: MarkdownStore) -> None:
    record = say(store, "Never push to main")
    change(store, "edit", partial(edit, wish=Wish("Push to main on Fridays")), record.ref)
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text("# workflow\n\n## Ask Ada first\n")
    first, second = undo(store)
    assert (first.kept, first.gone, second.same) == ((str(record.ref),),) * 3
    assert active(store) == ["Ask Ada first"]
