"""What a person does to records: each change through one plan, undoable, wrong input refused by name."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.errors import CamError, InvalidInputError, NotFoundError, WriteRefusedError
from cam.core.operations import Change, MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState, RecordType, Source
from cam.core.tombstones import tombstone_key
from cam.memory import edits
from cam.memory.dates import moment
from cam.memory.edits import editable, read_edited
from cam.memory.flow import change, forget, remember, undo
from cam.memory.lookup import find
from cam.memory.result import Changed, Edit
from cam.memory.wish import Wish
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.tombstones import read_tombstones

PROJECT, GLOBAL = MemoryScope.PROJECT, MemoryScope.GLOBAL
NOW = "2026-11-30T10:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(tmp_path / "store"), "shop-1", "shop-1"))


def say(store: MarkdownStore, text: str, *details: str, topic: str = "workflow") -> MemoryRecord:
    return remember(store, text, details, PROJECT, topic).record


def edit(store: MarkdownStore, ref: MemoryRef, wish: Wish) -> Changed:
    return change(store, "edit", partial(edits.edit, wish=wish), ref)


def now(store: MarkdownStore, ref: MemoryRef) -> MemoryRecord:
    return find(store.snapshot().records, ref)


def test_an_edit_keeps_the_id_and_what_it_does_not_name(store: MarkdownStore) -> None:
    record = say(store, "Deploys run on Tuesdays", "after lunch")
    done = edit(store, record.ref, Wish(summary="Deploys run on Thursdays"))
    after = now(store, record.ref)
    assert (after.summary, after.details, after.ref) == (
        "Deploys run on Thursdays",
        ("after lunch",),
        record.ref,
    )
    assert after.created_at == record.created_at
    assert done.records == (after,)
    assert [e.quotes[0].text for e in store.history(PROJECT)][-1] == "Deploys run on Thursdays"
    undo(store)
    assert now(store, record.ref) == record


def test_details_are_replaced_and_cleared(store: MarkdownStore) -> None:
    record = say(store, "Deploys run on Tuesdays", "after lunch")
    edit(store, record.ref, Wish(details=("one", "two")))
    assert now(store, record.ref).details == ("one", "two")
    edit(store, record.ref, Wish(details=("",)))
    assert now(store, record.ref).details == ()


def test_type_and_window(store: MarkdownStore) -> None:
    record = say(store, "The freeze is on")
    edit(store, record.ref, Wish(type=RecordType.IDEA, valid_from="2026-11-01", valid_until="2026-11-30"))
    after = now(store, record.ref)
    assert (after.type, after.valid_from, after.valid_until) == (
        RecordType.IDEA, "2026-11-01T00:00:00.000Z", "2026-11-30T23:59:59.999Z",
    )  # fmt: skip
    assert after.sources == record.sources  # nobody said anything new
    edit(store, record.ref, Wish(valid_from="", valid_until=""))
    assert (now(store, record.ref).valid_from, now(store, record.ref).valid_until) == (None, None)
    for wish in (Wish(valid_from="2026-12-01", valid_until="2026-11-30"), Wish(valid_until="2026-13-45")):
        with pytest.raises(InvalidInputError):
            edit(store, record.ref, wish)


def test_an_edit_that_changes_nothing_is_a_noop(store: MarkdownStore) -> None:
    record = say(store, "Deploys run on Tuesdays", "after lunch")
    done = edit(store, record.ref, Wish("Deploys run on Tuesdays", ("after lunch",)))
    assert not done.plan.changes
    assert "stays as it is" in done.plan.noops[0].reason
    assert now(store, record.ref) == record


def test_secrets_and_private_spans_never_get_in(store: MarkdownStore) -> None:
    record = say(store, "The deploy bot logs in")
    token = "glpat-" + "aB3dE6gH9jK2mN5pQ8s"
    done = edit(store, record.ref, Wish(details=(f"with {token}", "<private>or with mine</private>")))
    assert len(done.warnings) == 2
    assert not [
        p for p in Path(store.layout.root).rglob("*") if p.is_file() and token.encode() in p.read_bytes()
    ]
    with pytest.raises(WriteRefusedError):
        edit(store, record.ref, Wish("<private>all</private>", ()))


def test_a_text_that_changed_while_it_was_edited_is_not_overwritten(store: MarkdownStore) -> None:
    record = say(store, "Deploys run on Tuesdays")
    edit(store, record.ref, Wish("Deploys run on Fridays"))
    with pytest.raises(WriteRefusedError, match="was changed while you edited it"):
        edit(store, record.ref, Wish("Deploys run on Mondays", seen=record))


def test_an_edit_says_what_it_contradicts(store: MarkdownStore) -> None:
    say(store, "The API server listens on port 3000")
    other = say(store, "The API server has a port")
    done = edit(store, other.ref, Wish("The API server listens on port 4100"))
    assert "it contradicts: The API server listens on port 3000" in done.warnings[0]


lines = (
    st.text(min_size=1)
    .map(lambda t: " ".join(t.split()))
    .filter(lambda t: bool(t.strip()) and t.isprintable())
)


@given(lines, st.lists(lines, max_size=4))
def test_what_an_editor_gets_reads_back(summary: str, details: list[str]) -> None:
    record = MemoryRecord(PROJECT, "workflow", "x", summary, tuple(details))
    assert read_edited(editable(record), record) == Wish(seen=record)
    text = editable(record).replace("<!-- cam:edit", "- more\r\n<!-- cam:edit", 1)
    wish = read_edited(text, record)
    if "<!-- cam:edit" not in "".join((summary, *details)):
        assert (wish.summary, wish.details) == (summary, (*details, "more"))


def test_an_empty_text_changes_nothing() -> None:
    record = MemoryRecord(PROJECT, "workflow", "x", "Deploys run on Tuesdays")
    with pytest.raises(InvalidInputError, match="nothing was changed"):
        read_edited("\n\n", record)


def test_a_move_takes_links_along_and_is_no_deletion(store: MarkdownStore) -> None:
    one, two = say(store, "Use pnpm"), say(store, "Lockfiles are committed")
    change(store, "link", edits.link, one.ref, two.ref)
    done = change(store, "move", partial(edits.move, scope=GLOBAL, topic="preferences"), one.ref)
    moved = done.records[0]
    assert (moved.scope, moved.topic, moved.id, moved.summary) == (GLOBAL, "preferences", one.id, one.summary)
    assert now(store, two.ref).related == (f"preferences:{one.id}",)
    with pytest.raises(NotFoundError):
        now(store, one.ref)
    assert tombstone_key("Use pnpm") not in read_tombstones(store)
    change(store, "move", partial(edits.move, scope=PROJECT, topic="workflow"), moved.ref)
    assert tombstone_key("Use pnpm") not in read_tombstones(store)
    undo(store, 2)
    assert now(store, one.ref).related == (f"workflow:{two.id}",)
    assert tombstone_key("Use pnpm") not in read_tombstones(store)


def test_a_move_onto_a_taken_id_gets_its_own(store: MarkdownStore) -> None:
    one, two = say(store, "Use pnpm", topic="workflow"), say(store, "Use pnpm", topic="commands")
    assert one.id == two.id
    done = change(store, "move", partial(edits.move, scope=None, topic="commands"), one.ref)
    assert done.records[0].id == f"{one.id}-2"
    assert len(store.snapshot().records) == 2


def test_links_go_both_ways(store: MarkdownStore) -> None:
    one, two = say(store, "Use pnpm"), say(store, "Lockfiles are committed")
    both = one.ref, two.ref
    assert len(change(store, "link", edits.link, *both).plan.changes) == 2
    assert not change(store, "link", edits.link, *both).plan.changes
    assert now(store, one.ref).related == (f"workflow:{two.id}",)
    change(store, "unlink", edits.unlink, *both)
    assert (now(store, one.ref), now(store, two.ref)) == (one, two)
    assert not change(store, "unlink", edits.unlink, *both).plan.changes
    with pytest.raises(InvalidInputError, match="both refs name"):
        change(store, "link", edits.link, one.ref, one.ref)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_what_a_change_looks_at_is_enough(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """The topic files that it concerns, or all of them: the same plan, the same words."""
    store = MarkdownStore(StoreLayout(str(tmp_path_factory.mktemp("store")), "shop-1", "shop-1"))
    texts = ("Use pnpm", "Use npm", "The API listens on port 3000", "The API listens on port 4100")
    keys = [(scope, topic, name) for scope in MemoryScope for topic in "abc" for name in ("x", "y--z")]
    known = data.draw(st.lists(st.sampled_from(keys), min_size=2, max_size=10, unique=True))
    names = [f"{topic}:{name}" for _, topic, name in known]
    links = st.lists(st.sampled_from(names), max_size=3, unique=True)
    records = [
        MemoryRecord(
            *key, data.draw(st.sampled_from(texts)), state=data.draw(st.sampled_from(MemoryState)),
            related=tuple(data.draw(links)),
        )
        for key in known
    ]  # fmt: skip
    adds = [MemoryOperation(OperationKind.ADD, record, "said") for record in records]
    store.commit(build_plan(adds, ()))
    steps: list[tuple[Edit, int]] = [
        (partial(edits.edit, wish=Wish(data.draw(st.sampled_from(texts)))), 1),
        (partial(edits.move, scope=data.draw(st.sampled_from(MemoryScope)), topic="b"), 1),
        (partial(edits.pin, pinned=True), 1), (edits.archive, 1), (edits.restore, 1),
        (edits.link, 2), (edits.unlink, 2), (edits.merge, 2),
    ]  # fmt: skip
    step, count = data.draw(st.sampled_from(steps))
    refs = [data.draw(st.sampled_from(records)).ref for _ in range(count)]
    try:
        whole = step(store.snapshot().records, NOW, *refs)
    except CamError as error:
        with pytest.raises(type(error)):
            change(store, "x", step, *refs)
        return
    done = change(store, "x", step, *refs)
    assert done.warnings == whole.warnings
    assert [_told(c) for c in done.plan.changes] == [_told(c) for c in whole.plan.changes]
    assert [noop.reason for noop in done.plan.noops] == [noop.reason for noop in whole.plan.noops]


def _told(change: Change) -> tuple[object, ...]:
    after = change.after and replace(change.after, updated_at=NOW)
    return change.operation.kind, change.operation.reason, change.operation.replaced_by, change.before, after


def test_links_follow_out_of_a_file_that_an_editor_saved_over(store: MarkdownStore) -> None:
    one, two = say(store, "Use pnpm"), say(store, "Lockfiles are committed", topic="commands")
    file = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "commands"))
    opened = file.read_bytes()
    change(store, "link", edits.link, one.ref, two.ref)
    file.write_bytes(opened)  # as the editor had it: the link is not in there
    change(store, "move", partial(edits.move, scope=None, topic="debugging"), one.ref)
    assert now(store, two.ref).related == (f"debugging:{one.id}",)


def test_pin_archive_restore_and_their_noops(store: MarkdownStore) -> None:
    record = say(store, "Use pnpm")
    walk = [
        (partial(edits.pin, pinned=True), OperationKind.PIN),
        (partial(edits.pin, pinned=False), OperationKind.PIN),
        (edits.archive, OperationKind.ARCHIVE),
        (edits.restore, OperationKind.RESTORE),
    ]
    for step, kind in walk:
        done = change(store, "x", step, record.ref)
        assert [c.operation.kind for c in done.plan.changes] == [kind]
        again = change(store, "x", step, record.ref)  # the ref as it was: its state is a hint
        assert "already" in again.plan.noops[0].reason
    assert now(store, record.ref).state is MemoryState.ACTIVE


def test_restore_says_what_contradicts(store: MarkdownStore) -> None:
    old = say(store, "The API server listens on port 3000")
    say(store, "The API server listens on port 4100")
    done = change(store, "restore", edits.restore, old.ref)
    assert "it contradicts: The API server listens on port 4100" in done.warnings[0]


def test_merge(store: MarkdownStore) -> None:
    one = say(store, "Use pnpm", "version 9")
    two = say(store, "pnpm it is", "version 9", "never npm")
    three = say(store, "Lockfiles are committed")
    change(store, "link", edits.link, two.ref, three.ref)
    done = change(store, "merge", edits.merge, one.ref, two.ref)
    merged, gone = now(store, one.ref), now(store, two.ref)
    assert (merged.ref, merged.details) == (one.ref, ("version 9", "never npm"))
    assert merged.related == (f"workflow:{three.id}",)
    assert now(store, three.ref).related == (f"workflow:{one.id}",)
    assert gone.state is MemoryState.ARCHIVED
    archived = next(e for e in store.history(PROJECT) if e.kind is OperationKind.ARCHIVE)
    assert archived.replaced_by == f"workflow:{one.id}"
    assert done.records == (merged, gone)
    with pytest.raises(InvalidInputError, match="is archived"):
        change(store, "merge", edits.merge, two.ref, one.ref)
    undo(store)
    assert now(store, one.ref) == one


def test_merge_takes_the_sources() -> None:
    session = Source("session", "s1", 3)
    one = MemoryRecord(PROJECT, "workflow", "one", "Use pnpm", sources=(Source("person"),))
    two = MemoryRecord(PROJECT, "workflow", "two", "pnpm", sources=(Source("person"), session))
    done = edits.merge([one, two], NOW, one.ref, two.ref)
    assert done.records[0].sources == (Source("person"), session)


def test_each_leaves_one_audit_line_that_names_its_transaction(store: MarkdownStore) -> None:
    import json

    record = say(store, "Use pnpm")
    done = change(store, "pin", partial(edits.pin, pinned=True), record.ref)
    last = json.loads(Path(store.layout.audit_file).read_text().splitlines()[-1])
    assert (last["kind"], last["actor"], last["tx"]) == ("pin", "user", done.transaction)


def test_undo_by_name_redo_and_what_was_undone_already(store: MarkdownStore) -> None:
    record = say(store, "Use pnpm")
    done = change(store, "pin", partial(edits.pin, pinned=True), record.ref)
    edit(store, record.ref, Wish("Use pnpm 9"))
    (step,) = undo(store, done.transaction)  # out of order: only what it did goes back
    assert (now(store, record.ref).pinned, now(store, record.ref).summary) == (False, "Use pnpm 9")
    with pytest.raises(InvalidInputError, match=f"cam undo {step.transaction}"):
        undo(store, done.transaction)
    undo(store, step.transaction)
    assert now(store, record.ref).pinned
    undo(store)
    assert (now(store, record.ref).pinned, now(store, record.ref).summary) == (True, "Use pnpm")
    with pytest.raises(NotFoundError, match="there is no change"):
        undo(store, "20260101T000000-deadbeef")


def test_an_undo_that_finds_everything_changed_is_passed_by_the_next(store: MarkdownStore) -> None:
    first = say(store, "Use pnpm")
    say(store, "Lockfiles are committed")
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text(path.read_text().replace("Lockfiles are committed", "Lockfiles are in git"))
    passed, step = undo(store)
    assert (passed.changes, len(passed.kept)) == ((), 1)
    # The hand edit is the person's own and is not taken back unasked.
    assert [str(c.ref) for c in step.changes] == [str(first.ref)]
    assert [r.summary for r in store.snapshot().records] == ["Lockfiles are in git"]


def test_a_hand_edit_can_be_taken_back_by_name(store: MarkdownStore) -> None:
    record = say(store, "Use pnpm")
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "workflow"))
    path.write_text(path.read_text().replace("Use pnpm", "Use npm"))
    store.note_edits()
    by_hand = next(e for e in store.history(PROJECT) if e.actor == "file")
    undo(store, by_hand.transaction)
    assert now(store, record.ref).summary == "Use pnpm"


@pytest.mark.parametrize(
    ("text", "end_of_day", "expected"),
    [
        ("2026-11-30", False, "2026-11-30T00:00:00.000Z"),
        ("2026-11-30", True, "2026-11-30T23:59:59.999Z"),
        ("2026-11-30T18:00:00Z", True, "2026-11-30T18:00:00.000Z"),
        ("2026-11-30T18:00:00+02:00", True, "2026-11-30T16:00:00.000Z"),
        (" 2026-11-30 18:00 ", False, "2026-11-30T18:00:00.000Z"),
        ("7d", False, "2026-11-23T10:00:00.000Z"),
        ("12h", False, "2026-11-29T22:00:00.000Z"),
        ("2w", False, "2026-11-16T10:00:00.000Z"),
    ],
)
def test_dates(text: str, end_of_day: bool, expected: str) -> None:
    assert moment(text, now=NOW, end_of_day=end_of_day) == expected


@given(st.text(max_size=12) | st.from_regex(r"\d{1,6}[dhwmy]", fullmatch=True))
@settings(max_examples=200)
def test_any_text_is_a_date_or_refused(text: str) -> None:
    try:
        stamp = moment(text, now=NOW)
    except InvalidInputError:
        return
    MemoryRecord(PROJECT, "workflow", "x", "x", created_at=stamp, updated_at=stamp)


def test_a_section_of_two_with_one_heading_can_be_deleted(store: MarkdownStore) -> None:
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "patterns"))
    path.parent.mkdir(parents=True)
    path.write_text("## Naming\nfirst\n\n## Naming\nsecond\n")
    first, second = store.snapshot().records
    forget(store, [first.ref], delete=True)
    assert [r.ref for r in store.snapshot().records] == [second.ref]
    undo(store)
    assert path.read_text() == "## Naming\nfirst\n\n## Naming\nsecond\n"
