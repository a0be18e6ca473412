"""The law of undo: as many undos as changes give the same Markdown, byte for byte, whatever it held."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.memory import edits
from cam.memory.flow import change, forget, remember, undo
from cam.memory.result import Changed
from cam.memory.wish import Wish
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from tests.property.strategies import lines

GOLDEN = Path(__file__).parents[1] / "golden/ts-store/home/.codex-auto-memory"
PROJECT = "shop-a064ce9bbf9b"

PERSON = {
    "projects/{p}/project/patterns.md": (
        b"# Patterns of ours\n\nRead this first.\n\n\n## Naming\nservices end in -svc\n\n\n"
        b"- libraries do not\n\n## Naming\nthe second section of that name\n## Tight\n\n"
        b"```\n## no section\n```\n\n\n"
    ),
    "projects/{p}/project/reference.md": (
        b"prose in front\r\n\r\n## Windows line ends\r\n- one\r\n- two\r\n\r\n## Last\r\n* star\r\n"
    ),
    "projects/{p}/project/open-end.md": b"## First\ntext\n\n## Without a final newline\n- it ends here",
    "projects/{p}/project/archive/patterns.md": b"\xef\xbb\xbf# Archived: Patterns\n## Old way\nno longer",
    "global/preferences.md": (
        b"# Preferences\n\n## Answer in German\n"
        b'<!-- cam:record {"id": "answer", "created": "2026-11-01T10:00:00.000Z", "pinned": true} -->\n'
        b"- in chats\n\n\n\n## Mine \xff\nnot all of it is UTF-8\n"
    ),
    "global/MEMORY.md": (
        b"My own words.\n<!-- cam:topics -->\n- [wrong](wrong.md): 7 records\n<!-- /cam:topics -->\nEnd"
    ),
}


@contextmanager
def stores(*, person: bool, predecessor: bool) -> Iterator[MarkdownStore]:
    """A store with what people and the predecessor wrote."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        if predecessor:
            shutil.copytree(GOLDEN, root)
        for name, data in PERSON.items() if person else ():
            path = root / name.format(p=PROJECT)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield MarkdownStore(StoreLayout(str(root), PROJECT, PROJECT))


def markdown(store: MarkdownStore) -> dict[str, bytes]:
    root = Path(store.layout.root)
    found = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.md")}
    return {name: data for name, data in found.items() if not name.startswith(("cache/", "backup-"))}


number = st.integers(0, 99)
text = st.sampled_from(
    ["Use pnpm", "Use npm", "API on 3000", "API on 4100", "提交用中文", "Deploy on Mondays"]
)
scope = st.sampled_from(MemoryScope)
topic = st.sampled_from(["workflow", "patterns", "open-end", "reference", "brand-new"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), text | lines, scope, topic),
        st.tuples(st.just("forget"), number, st.booleans()),
        st.tuples(st.just("edit"), number, st.none() | text | lines, st.none() | st.lists(lines, max_size=3)),
        st.tuples(st.just("move"), number, st.none() | scope, st.none() | topic),
        st.tuples(st.just("pin"), number, st.booleans()),
        st.tuples(st.just("link"), number, number),
        st.tuples(st.just("unlink"), number, number),
        st.tuples(st.just("merge"), number, number),
        st.tuples(st.just("archive"), number),
        st.tuples(st.just("restore"), number),
    ),
    max_size=10,
)
Walk = list[tuple[object, ...]]


def do(store: MarkdownStore, step: tuple[object, ...]) -> bool:
    """One operation; whether it changed anything."""
    from cam.core.errors import CamError

    known = sorted(store.snapshot().records, key=lambda r: str(r.ref))
    kind, *rest = step
    try:
        if kind == "remember":
            said, where, about = rest
            return remember(store, str(said), (), MemoryScope(str(where)), str(about)).is_new
        if not known:
            return False
        one = known[int(str(rest[0])) % len(known)].ref
        if kind == "forget":
            return bool(forget(store, [one], delete=bool(rest[1])).changed)
        edit: Callable[..., Changed] = getattr(edits, str(kind))
        named = [one]
        if kind in ("link", "unlink", "merge"):
            named.append(known[int(str(rest[1])) % len(known)].ref)
        elif kind == "edit":
            details = None if rest[2] is None else tuple(map(str, list(rest[2])))  # type: ignore[call-overload]
            summary = None if rest[1] is None else str(rest[1])
            edit = partial(edit, wish=Wish(summary, details, valid_until="2030-01-01"))
        elif kind == "move":
            edit = partial(edit, scope=rest[1], topic=rest[2])
        elif kind == "pin":
            edit = partial(edit, pinned=rest[1])
        return bool(change(store, str(kind), edit, *named).plan.changes)
    except CamError:
        return False


def refs(records: tuple[MemoryRecord, ...]) -> list[str]:
    return sorted(str(r.ref) for r in records)


@given(steps, st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_as_many_undos_as_changes_give_the_same_bytes(walk: Walk, person: bool, predecessor: bool) -> None:
    with stores(person=person, predecessor=predecessor) as store:
        states = [markdown(store)]
        for step in walk:
            if do(store, step):
                states.append(markdown(store))
            else:
                assert markdown(store) == states[-1]
        for state in states[-2::-1]:
            (done,) = undo(store)
            assert not done.kept
            assert markdown(store) == state
        assert store.snapshot().has_edits is False


@given(steps, st.data())
@settings(max_examples=30, deadline=None)
def test_an_undo_that_is_taken_back_gives_the_same_bytes(walk: Walk, data: st.DataObject) -> None:
    with stores(person=True, predecessor=True) as store:
        count = sum(do(store, step) for step in walk)
        after = markdown(store)
        back = data.draw(st.integers(0, count))
        names = [undo(store)[0].transaction for _ in range(back)]
        for name in reversed(names):
            undo(store, name)
        assert markdown(store) == after
        if count:
            names = [undo(store)[0].transaction]  # what was redone can be undone again
            undo(store, names[0])
            assert markdown(store) == after


@given(steps, st.data())
@settings(max_examples=30, deadline=None)
def test_any_change_can_be_taken_back_alone(walk: Walk, data: st.DataObject) -> None:
    """Out of order nothing is exact, but nothing breaks, and what was not touched keeps its bytes."""
    with stores(person=True, predecessor=True) as store:
        for step in walk:
            do(store, step)
        names = {
            e.transaction: None for s in MemoryScope for e in store.history(s) if e.applied and e.transaction
        }
        if not names:
            return
        name = data.draw(st.sampled_from(list(names)))
        before = markdown(store)
        done = undo(store, name)[0]
        snapshot = store.snapshot()
        assert not snapshot.has_edits
        touched = {(c.before or c.after).topic for c in done.changes if (c.before or c.after)}  # type: ignore[union-attr]
        after = markdown(store)
        for path, content in before.items():
            stem = Path(path).stem
            if stem not in touched and stem not in ("MEMORY", "ARCHIVE"):
                assert after[path] == content
        if done.changes and not done.kept:
            undo(store, done.transaction)
            known = {r.key: r for r in store.snapshot().records}
            for change_ in done.changes:
                record = change_.before or change_.after
                assert record is not None
                assert known.get(record.key) == change_.before


def test_a_deleted_section_comes_back_at_its_place_among_later_changes() -> None:
    with stores(person=True, predecessor=True) as store:
        path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "commands"))
        before = path.read_bytes()
        first = next(r for r in store.snapshot().records if r.id == "pnpm-build")
        forget(store, [first.ref], delete=True)
        gone = [e.transaction for e in store.history(MemoryScope.PROJECT)][-1]
        remember(store, "Run the server with make serve", (), MemoryScope.PROJECT, "commands")
        undo(store, gone)
        now = path.read_bytes()
        section = before[before.index(b"## pnpm-build") : before.index(b"## run-pnpm")]
        assert section in now
        assert now.index(b"## pnpm-build") < now.index(b"## run-pnpm") < now.index(b"## Run the server")


def test_an_updated_section_of_a_person_gets_its_form_back_among_later_changes() -> None:
    with stores(person=True, predecessor=False) as store:
        path = Path(store.layout.topic_file(MemoryScope.PROJECT, MemoryState.ACTIVE, "reference"))
        before = path.read_bytes()
        record = next(r for r in store.snapshot().records if r.summary == "Windows line ends")
        done = change(store, "edit", partial(edits.edit, wish=Wish("Line ends")), record.ref)
        remember(store, "The glossary is docs/words.md", (), MemoryScope.PROJECT, "reference")
        undo(store, done.transaction)
        now = path.read_bytes()
        assert now.startswith(before)
        assert b"\n" not in now.replace(b"\r\n", b"")
