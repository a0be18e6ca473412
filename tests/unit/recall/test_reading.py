"""What is read and what is refused: notes, limits, links, strictness, status, and reading it all twice."""

import json
import os
import shutil
from array import array
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from cam.core.errors import IntegrityError, InvalidInputError, NotFoundError
from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.recall.flow import Recall
from cam.recall.rebuild import digest
from cam.recall.request import Expansion, Filters, SearchRequest, TimelineRequest
from cam.recall.result import SearchResult
from cam.store import limits, sidecar_part
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from tests.unit.recall.ask import request

NOW = "2026-12-01T00:00:00.000Z"
AT = "2026-11-01T00:00:00.000Z"
PROJECT = MemoryScope.PROJECT


def fact(
    name: str, text: str, *related: str, scope: MemoryScope = PROJECT, topic: str = "commands"
) -> MemoryRecord:
    return MemoryRecord(scope, topic, name, text, related=related, created_at=AT, updated_at=AT)


@pytest.fixture
def store(tmp_path: Path) -> MarkdownStore:
    store = MarkdownStore(StoreLayout(str(tmp_path / "store"), "p", "p"))
    records = [
        fact("a", "alpha begins", "commands:b", "commands:a", "commands:none", "commands:old"),
        fact("b", "beta follows", "commands:c", "commands:a", "reference:g"),
        fact("c", "gamma ends", "commands:b"),
        fact("g", "global help", scope=MemoryScope.GLOBAL, topic="reference"),
        replace(fact("old", "old news"), valid_until="2026-11-02"),
        fact("gone", "archived words").archived("replaced", AT),
    ]
    operations = [MemoryOperation(OperationKind.ADD, r, "said") for r in records]
    transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))
    return store


def recall(store: MarkdownStore, *, strict: bool = False, use_index: bool = True) -> Recall:
    return Recall(store.layout, now=NOW, strict=strict, use_index=use_index)


def linked(store: MarkdownStore, name: str, **budgets: int) -> tuple[list[str], int, bool]:
    asked = SearchRequest("zebra", expansion=Expansion(f"project:active:commands:{name}", **budgets))
    found = recall(store).search(asked).expanded
    assert found is not None
    return [card.ref.id for card in found.cards], found.est_tokens, found.is_cut


# --- links ---


def test_links_are_followed_breadth_first_each_once(store: MarkdownStore) -> None:
    assert linked(store, "a") == (["a", "b", "c", "g"], 3 + 3 + 3 + 3, False)
    assert linked(store, "c")[0] == ["c", "b", "a", "g"]


def test_budgets_cut_and_say_so(store: MarkdownStore) -> None:
    assert linked(store, "a", max_nodes=4) == (["a", "b", "c", "g"], 12, False)
    assert linked(store, "a", max_nodes=3) == (["a", "b", "c"], 9, True)
    assert linked(store, "a", max_tokens=12)[2] is False
    assert linked(store, "a", max_tokens=8) == (["a", "b"], 6, True)
    assert linked(store, "a", max_tokens=1) == ([], 0, True)


@pytest.mark.parametrize("name", ["none", "old"])
def test_links_start_from_what_holds(store: MarkdownStore, name: str) -> None:
    with pytest.raises(NotFoundError):
        linked(store, name)


@pytest.mark.parametrize(
    "budgets", [{"max_nodes": 0}, {"max_nodes": 101}, {"max_tokens": 0}, {"max_tokens": 50_001}]
)
def test_budgets_out_of_bounds_are_refused(store: MarkdownStore, budgets: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError):
        linked(store, "a", **budgets)


# --- the person's own text ---


def write_notes(store: MarkdownStore, text: str) -> Path:
    path = Path(store.layout.index_file(PROJECT))
    path.write_text(path.read_text() + text)
    return path


def cards(store: MarkdownStore, query: str, **options: object) -> SearchResult:
    return recall(store).search(request(query, **options))


def test_what_a_person_wrote_in_memory_md_is_found(store: MarkdownStore) -> None:
    write_notes(
        store,
        "\n# Deploying\n\n- Never deploy on Fridays\n  unless Ada says so\n- Ask for 部署 first\n\n"
        "Plain words too.\n",
    )
    (card,) = cards(store, "fridays").cards
    assert (card.topic, card.summary, card.provenance.path) == (
        "memory",
        "Never deploy on Fridays",
        "projects/p/project/MEMORY.md",
    )
    assert cards(store, "Ada").cards[0].ref == card.ref
    assert {c.summary for c in cards(store, "deploying", topic="memory").cards} >= {"Never deploy on Fridays"}
    assert cards(store, "部署").cards[0].summary == "Ask for 部署 first"
    assert cards(store, "plain words").cards[0].summary == "Plain words too."
    (item,) = recall(store).details([str(card.ref)]).items
    assert item.record.details == ("unless Ada says so", "Deploying")
    assert recall(store).timeline(TimelineRequest(str(card.ref))).ref == str(card.ref)
    assert cards(store, "alpha", topic="memory").total == 0


def test_the_managed_block_is_no_note(store: MarkdownStore) -> None:
    assert recall(store).status().notes == 0
    write_notes(store, "\nOne.\n\nTwo.\n")
    assert recall(store).status().notes == 2


# --- limits ---


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MAX_FILES", 1, "files"),
        ("MAX_FILE_BYTES", 10, r"\.md has"),
        ("MAX_BYTES", 400, "together"),
        ("MAX_RECORDS", 2, "records"),
    ],
)
def test_a_limit_is_named(
    store: MarkdownStore, monkeypatch: pytest.MonkeyPatch, name: str, value: int, says: str
) -> None:
    monkeypatch.setattr(limits, name, value)
    for use_index in (True, False):
        with pytest.raises(IntegrityError, match=says):
            recall(store, use_index=use_index).search(request("alpha"))


def test_sizes_are_looked_at_before_anything_is_read(store: MarkdownStore) -> None:
    path = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "huge"))
    with path.open("wb") as file:
        file.truncate(limits.MAX_FILE_BYTES + 1)
    with pytest.raises(IntegrityError, match="8,388,608"):
        recall(store).search(request("alpha"))


# --- one bad file ---


def test_what_cannot_be_read_is_beside_the_answer_or_ends_it(store: MarkdownStore) -> None:
    bad = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "bad"))
    os.symlink("/etc/hostname", bad)
    os.mkfifo(Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "pipe")))
    for _ in range(2):
        result = cards(store, "alpha")
        assert result.total == 1
        assert [Path(p.path).name for p in result.problems] == ["bad.md", "pipe.md"]
        with pytest.raises(IntegrityError, match=r"bad\.md.*and 1 more"):
            recall(store, strict=True).search(request("alpha"))
    strict = recall(store, strict=True)
    for ask in (
        lambda: strict.details(["project:active:commands:a"]),
        lambda: strict.timeline(TimelineRequest("2026-11-01")),
        strict.status,
        strict.rebuild,
    ):
        with pytest.raises(IntegrityError):
            ask()


# --- reading it twice ---


def test_status_counts_all_and_leaves_no_trace_without_an_index(store: MarkdownStore) -> None:
    status = recall(store, use_index=False).status()
    assert (status.records, status.active, status.policy, status.indexes) == (6, 5, "off", ())
    assert not os.path.exists(store.layout.cache_file("recall"))
    assert status.files == 3 + 2  # and the two MEMORY.md
    cards(store, "alpha")
    indexes = recall(store).status().indexes
    assert indexes[0].scope is MemoryScope.GLOBAL
    assert all(i.bytes > 0 for i in indexes)


def test_a_store_reached_by_another_name_is_the_same(store: MarkdownStore, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(store.layout.root)
    other = Recall(replace(store.layout, root=str(alias)), now=NOW)
    assert other.status().root == recall(store).status().root == os.path.realpath(store.layout.root)
    assert other.rebuild().canonical == recall(store).rebuild().canonical


def test_rebuilding_compares_and_can_say_no(store: MarkdownStore) -> None:
    first = recall(store).rebuild()
    assert first.is_equivalent
    assert (first.records, first.indexed) == (6, None)
    second = recall(store).rebuild()
    assert second.canonical == second.rebuilt == second.indexed == first.canonical
    assert first.canonical == digest(store.snapshot().records)

    # An index that looks fresh and holds something else.
    topic = Path(store.layout.topic_file(PROJECT, MemoryState.ACTIVE, "commands"))
    text, status = topic.read_text(), topic.stat()
    topic.write_text(text.replace("beta follows", "beta fellows"))
    shutil.rmtree(store.layout.cache_file("recall"))
    cards(store, "beta")
    (index,) = (
        p for p in Path(store.layout.cache_file("recall")).iterdir() if p.name.endswith("~project.idx")
    )
    later = index.stat().st_mtime_ns + 10**12
    held = index.read_bytes()
    topic.write_text(text)
    os.utime(topic, ns=(status.st_atime_ns, status.st_mtime_ns))
    wrong = sidecar_stamped(held, topic)
    index.write_bytes(wrong)
    os.utime(index, ns=(later, later))
    found = recall(store).rebuild()
    assert not found.is_equivalent
    assert found.difference == "project:active:commands:b is different in the index"
    assert found.canonical == found.rebuilt != found.indexed
    assert recall(store).rebuild().is_equivalent


def sidecar_stamped(held: bytes, topic: Path) -> bytes:
    """An index whose stamps are those of the files as they are now, checksums included."""
    part = sidecar_part.open_bytes(held, 0)
    header = json.JSONDecoder().raw_decode(held[held.index(b'{"') :].decode("utf-8", "replace"))[0]
    last = max(offset + length for offset, length, _ in header["sections"].values())
    body = held[len(held) - last :]
    sections = {name: body[at : at + size] for name, (at, size, _) in header["sections"].items()}
    stamps = array("q")
    for name in part.names:
        status = (topic.parent / name).stat()
        stamps.extend((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    sections["stamps"] = stamps.tobytes()
    return sidecar_part.pack({k: header[k] for k in ("size", "length", "kind_code")}, sections)


def test_the_digest_can_be_made_again_elsewhere(store: MarkdownStore) -> None:
    record = fact("x", "Ünïcode 部署 stays as it is")
    line = (
        '{"created_at":"2026-11-01T00:00:00.000Z","details":[],"id":"x","reason":"",'
        '"ref":"project:active:commands:x","scope":"project","sources":[],"state":"active",'
        '"summary":"Ünïcode 部署 stays as it is","topic":"commands","type":"memory",'
        '"updated_at":"2026-11-01T00:00:00.000Z"}'
    )
    assert digest([record]) == sha256(line.encode()).hexdigest()


def test_without_an_index_the_answers_are_the_same(store: MarkdownStore) -> None:
    for asked in (
        request("alpha begins"),
        request("words"),
        SearchRequest("beta", Filters(topic="commands")),
    ):
        with_index = recall(store).search(asked)
        assert recall(store, use_index=False).search(asked) == with_index
        assert recall(store).search(asked) == with_index
