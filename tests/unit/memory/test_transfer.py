"""One file out, the same memory in: without loss, twice without effect, and no secret with it."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState
from cam.formats.json_line import dump_line
from cam.memory.carry import export_memory, import_memory
from cam.memory.erase import erase
from cam.memory.flow import forget, happened, remember, told_of, undo
from cam.memory.log import log
from cam.memory.transfer import Export, decide_import, export_json, export_markdown, read_export
from cam.store import limits
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.verify import verify
from tests.property.strategies import records
from tests.unit.cli.run import run

AT = "2026-11-30T10:00:00.000Z"


def store_at(path: Path, project: str = "shop-1") -> MarkdownStore:
    return MarkdownStore(StoreLayout(str(path), project, project))


def read(data: bytes) -> Export:
    return read_export(data, default_scope=MemoryScope.PROJECT, topic_of=lambda _: "workflow", at=AT)


def distinct(found: list[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    return tuple({r.key: r for r in found}.values())


def take_in(store: MarkdownStore, path: Path, entries: object) -> tuple[int, int, int]:
    path.write_text(json.dumps(entries))
    done = import_memory(store, str(path), MemoryScope.PROJECT)
    return len(done.plan.changes), done.decided.known, done.decided.refused


def markdown(store: MarkdownStore) -> dict[str, bytes]:
    root = Path(store.layout.root)
    files = [p for p in root.rglob("*") if p.is_file() and ".lock" not in p.name]
    return {str(p.relative_to(root)): p.read_bytes() for p in files}


@given(
    st.lists(records(), max_size=6), st.dictionaries(st.sampled_from(list(MemoryScope)), st.text(min_size=1))
)
@settings(max_examples=60)
def test_both_forms_read_back_equal(found: list[MemoryRecord], notes: dict[MemoryScope, str]) -> None:
    notes = {scope: text for scope, text in notes.items() if text.isprintable()}
    export = Export(distinct(found), notes)
    for write in (export_json, export_markdown):
        again = read(write(export, "shop-1", AT).encode("utf-8", "surrogatepass"))
        assert sorted(again.records, key=lambda r: r.ref) == sorted(export.records, key=lambda r: r.ref)
        assert again.notes == export.notes


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_a_store_goes_through_a_file(tmp_path: Path, form: str) -> None:
    one, two = store_at(tmp_path / "one"), store_at(tmp_path / "two")
    for scope in MemoryScope:
        remember(
            one, f"Rule of {scope} <!-- cam:file -->", ["## not a heading", "- a dash"], scope, "own-topic"
        )
    forget(one, [one.snapshot().records[0].ref], delete=False)
    index = Path(one.layout.index_file(MemoryScope.PROJECT))
    index.write_text(index.read_text() + "\nAsk before touching infra.\n<!-- cam:file -->\n")
    file = tmp_path / "memory.out"
    text, count, problems = export_memory(one, form)
    file.write_text(text)
    assert (count, problems) == (3, ())
    done = import_memory(two, str(file), MemoryScope.PROJECT)
    assert len(done.records) == 3
    assert sorted(two.snapshot().records, key=str) == sorted(one.snapshot().records, key=str)
    assert "Ask before touching infra." in two.person_notes(MemoryScope.PROJECT)
    assert verify(two.layout.root).problems == ()
    before = markdown(two)
    again = import_memory(two, str(file), MemoryScope.PROJECT)
    assert (len(again.plan.changes), again.decided.known, again.notes) == (0, 3, ())
    assert markdown(two) == before
    undo(two)
    assert two.snapshot().records == ()


def test_a_plain_list(tmp_path: Path) -> None:
    store, file = store_at(tmp_path / "store"), tmp_path / "list.json"
    entries = [
        {"scope": "project", "topic": "commands", "summary": "Run make check", "details": ["two minutes"]},
        {"scope": "global", "topic": "preferences", "summary": "提交信息一律用中文"},
        {"summary": "No scope, no topic\nand a second line", "details": "one text"},
        {"scope": "project", "topic": "commands", "summary": "run make check", "details": ["two minutes"]},
        {"scope": "project", "topic": "commands", "summary": "Run make check", "details": ["other details"]},
    ]
    assert take_in(store, file, entries) == (4, 1, 0)
    found = {(str(r.scope), r.topic, r.summary, r.details) for r in store.snapshot().records}
    assert found == {
        ("project", "commands", "Run make check", ("two minutes",)),
        ("global", "preferences", "提交信息一律用中文", ()),
        ("project", "workflow", "No scope, no topic", ("and a second line", "one text")),
        ("project", "commands", "Run make check", ("other details",)),
    }
    before = markdown(store)
    assert take_in(store, file, entries) == (0, 5, 0)
    assert take_in(store, file, []) == (0, 0, 0)
    assert markdown(store) == before
    assert all(s.kind == "import" for r in store.snapshot().records for s in r.sources)


NOTE = "Ask before touching infra.\nBe brief."


def note_file(folder: Path, *summaries: str) -> str:
    path = folder / "notes.json"
    found = tuple(
        MemoryRecord(MemoryScope.PROJECT, "workflow", f"r{n}", text, created_at=AT,
                     updated_at=AT)
        for n, text in enumerate(summaries)
    )  # fmt: skip
    path.write_text(export_json(Export(found, {MemoryScope.PROJECT: NOTE}), "shop-1", AT))
    return str(path)


def test_an_editor_that_was_open_saves_no_imported_note_away(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    remember(store, "Lint first", (), MemoryScope.PROJECT, "workflow")
    path = Path(store.layout.index_file(MemoryScope.PROJECT))
    opened = path.read_text()
    done = import_memory(store, note_file(tmp_path, "Deploys run on Tuesdays"), MemoryScope.PROJECT)
    assert done.notes == (MemoryScope.PROJECT,)
    assert path.read_text().endswith(f"\n\n{NOTE}\n")
    path.write_text(f"{opened}\nMine.\n")  # saved over what the import wrote
    remember(store, "Test last", (), MemoryScope.PROJECT, "reference")
    assert store.person_notes(MemoryScope.PROJECT) == f"Mine.\n\n{NOTE}"
    assert verify(store.layout.root).problems == ()
    path.write_text(path.read_text().replace(NOTE, ""))  # taken out of the newest state by hand
    remember(store, "Port 80", (), MemoryScope.PROJECT, "reference")
    assert store.person_notes(MemoryScope.PROJECT) == "Mine."


def test_what_an_editor_saves_during_an_import_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_at(tmp_path / "store")
    remember(store, "Lint first", (), MemoryScope.PROJECT, "workflow")
    path = Path(store.layout.index_file(MemoryScope.PROJECT))

    def save(data: dict[str, object]) -> str:
        path.write_text(f"{path.read_text()}\nMine.\n")  # the very moment before the commit
        return dump_line(data)

    monkeypatch.setattr("cam.store.transaction.dump_line", save)
    import_memory(store, note_file(tmp_path), MemoryScope.PROJECT)
    assert store.person_notes(MemoryScope.PROJECT) == f"Mine.\n\n{NOTE}"
    assert Path(store.layout.audit_file).read_text().count('"kind":"import"') == 1


def test_an_import_is_taken_back_with_its_notes(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    remember(store, "Lint first", (), MemoryScope.PROJECT, "workflow")
    before = texts(store)
    import_memory(store, note_file(tmp_path, "Deploys run on Tuesdays"), MemoryScope.PROJECT)
    undo(store)
    assert texts(store) == before


def test_an_import_of_notes_alone_is_a_change_of_its_own(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    remember(store, "Lint first", (), MemoryScope.PROJECT, "workflow")
    before = texts(store)
    import_memory(store, note_file(tmp_path), MemoryScope.PROJECT)
    after = texts(store)
    (entry, _) = log(happened(store))
    (lesson,) = entry.lessons
    assert lesson.record is not None
    assert (lesson.what, lesson.record.text) == ("learned", NOTE)
    assert [step.event.reason for step in told_of(store, MemoryRef.parse(lesson.ref)).steps] == ["imported"]
    (taken,) = undo(store)
    assert (taken.undoes, texts(store)) == (entry.transaction, before)
    undo(store, taken.transaction)
    assert texts(store) == after


@pytest.mark.parametrize(
    "note",
    [
        "# Project memory\n\nhello",
        "half \ud800 a pair",
        "<!-- cam:topics -->\n<!-- /cam:topics -->\nhi",
        "a\u2028b\0",
    ],
)
def test_a_note_of_any_text_comes_once_and_goes(tmp_path: Path, note: str) -> None:
    store = store_at(tmp_path / "store")
    remember(store, "Lint first", (), MemoryScope.PROJECT, "workflow")
    before = texts(store)
    path = tmp_path / "notes.json"
    path.write_text(json.dumps({"schema": "cam-export/v1", "notes": {"project": note}, "records": []}))
    assert import_memory(store, str(path), MemoryScope.PROJECT).notes == (MemoryScope.PROJECT,)
    assert import_memory(store, str(path), MemoryScope.PROJECT).notes == ()
    assert verify(store.layout.root).problems == ()
    undo(store)
    assert texts(store) == before


def test_a_line_that_was_erased_comes_back_with_no_note(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    path = tmp_path / "notes.json"
    note = "The wifi word is ZEBRA-4242\n- and Lint first\nMine."
    path.write_text(json.dumps({"schema": "cam-export/v1", "notes": {"project": note}, "records": []}))
    import_memory(store, str(path), MemoryScope.PROJECT)
    known = remember(store, "and lint first", (), MemoryScope.PROJECT, "workflow").record
    (_, entry) = log(happened(store))
    erase(store, [MemoryRef.parse(entry.lessons[0].ref), known.ref], str(tmp_path))
    assert store.person_notes(MemoryScope.PROJECT) == "[erased]\n[erased]\nMine."
    assert import_memory(store, str(path), MemoryScope.PROJECT).notes == ()
    assert b"ZEBRA" not in b"".join(markdown(store).values())
    with pytest.raises(NotFoundError, match=r"a person's own text in MEMORY\.md"):
        forget(store, [MemoryRef.parse(entry.lessons[0].ref)], delete=True)


def test_an_import_is_taken_back_by_name_whatever_came_behind_it(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    index = Path(store.layout.index_file(MemoryScope.PROJECT))
    remember(store, "Lint first", (), MemoryScope.PROJECT, "workflow")
    import_memory(store, note_file(tmp_path, "Deploys run on Tuesdays"), MemoryScope.PROJECT)
    (entry, _) = log(happened(store))
    remember(store, "Port 80", (), MemoryScope.PROJECT, "reference")
    index.write_text(f"{index.read_text()}\nMine.\n")
    undo(store, entry.transaction)
    assert store.person_notes(MemoryScope.PROJECT) == "Mine."
    assert {r.summary for r in store.snapshot().records} == {"Lint first", "Port 80"}
    assert verify(store.layout.root).problems == ()
    older = index.read_text().replace("Mine.", "Ours.")
    import_memory(store, note_file(tmp_path), MemoryScope.PROJECT)
    (entry, *_) = log(happened(store))
    index.write_text(older)
    (left,) = undo(store, entry.transaction)
    assert left.kept == (entry.lessons[0].ref,)
    assert store.person_notes(MemoryScope.PROJECT) == "Ours."


def test_what_was_taken_back_is_no_note_that_an_editor_lost(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    remember(store, "Lint first", (), MemoryScope.PROJECT, "workflow")
    index = Path(store.layout.index_file(MemoryScope.PROJECT))
    opened = index.read_text()
    import_memory(store, note_file(tmp_path, "Deploys run on Tuesdays"), MemoryScope.PROJECT)
    undo(store)
    remember(store, "Port 80", (), MemoryScope.PROJECT, "reference")
    index.write_text(opened)
    remember(store, "Test last", (), MemoryScope.PROJECT, "reference")
    assert store.person_notes(MemoryScope.PROJECT) == ""


def texts(store: MarkdownStore) -> dict[str, bytes]:
    return {name: data for name, data in markdown(store).items() if name.endswith(".md")}


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    store, file = store_at(tmp_path / "store"), tmp_path / "list.json"
    file.write_text('[{"summary": "x y"}]')
    done = import_memory(store, str(file), MemoryScope.PROJECT, dry_run=True)
    assert len(done.plan.changes) == 1
    assert not (tmp_path / "store").exists()


def test_secrets_and_private_spans_stay_out(tmp_path: Path) -> None:
    store, file = store_at(tmp_path / "store"), tmp_path / "list.json"
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    entries = [
        {"summary": f"The token of the bot is {secret}", "details": [f"again {secret}", "kept"]},
        {"summary": "Port <private>5001 is Ada's</private> is taken"},
        {"summary": secret},
        {"summary": "A closer</private> alone is markup"},
    ]
    assert take_in(store, file, entries) == (3, 0, 1)
    hidden = (secret.encode(), b"Ada", b"</private>")
    assert not any(text in data for data in markdown(store).values() for text in hidden)
    assert take_in(store, file, entries) == (0, 3, 1)


def test_the_newer_one_wins(tmp_path: Path) -> None:
    old = MemoryRecord(
        MemoryScope.PROJECT, "workflow", "a-1", "Deploy on Mondays", created_at=AT, updated_at=AT
    )
    new = MemoryRecord(
        MemoryScope.PROJECT,
        "workflow",
        "a-1",
        "Deploy on Tuesdays",
        created_at=AT,
        updated_at="2026-12-01T10:00:00.000Z",
    )
    assert [o.record for o in decide_import(Export((new,), {}), [old]).operations] == [new]
    assert decide_import(Export((old,), {}), [new]).operations == ()
    gone = new.archived("no longer", "2026-12-02T10:00:00.000Z")
    assert [o.record.state for o in decide_import(Export((gone,), {}), [new]).operations] == [
        MemoryState.ARCHIVED
    ]


HEAD = '<!-- cam:export {"schema": "cam-export/v1"} -->\n'
FILE = '<!-- cam:file {"scope": "project", "state": "active", "topic": "a"} -->\n'


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no export"), ("{", "no export"), ("{}", "no export"), ("7", "no export"), ("\x00", "no export"),
        ("# Memory\n", "no export"), ("[7]", "entry 1"), ('[{"summary": "a"}, {"topic": "x"}]', "entry 2"),
        ('[{"summary": "a", "scope": "galaxy"}]', "entry 1: no scope"), ('[{"summary": " "}]', "entry 1"),
        ('[{"summary": "a", "topic": "../x"}]', "entry 1"), ('[{"summary": "a", "details": [1]}]', "entry 1"),
        ('{"schema": "cam-export/v1", "records": [{"scope": "project"}]}', "record 1"),
        ('{"schema": "cam-export/v1", "records": 7}', "no export"),
        ('{"schema": "cam-export/v9"}', "no export"), ('<!-- cam:export {"schema": "x"} -->\n', "schema"),
        (f'{HEAD}<!-- cam:file {{"scope": 1}} -->\n', "line 2"),
        (f"{HEAD}{FILE}## x\n<!-- cam:record {{oops}} -->\n", "line 3"),
    ],
)  # fmt: skip
def test_what_is_no_export_is_named(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "x"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=what):
        import_memory(store_at(tmp_path / "store"), str(file), MemoryScope.PROJECT)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInputError, match="UTF-8"):
        import_memory(store_at(tmp_path / "store"), str(file), MemoryScope.PROJECT)
    assert not (tmp_path / "store").exists()


def test_a_project_needs_a_project(tmp_path: Path) -> None:
    store = MarkdownStore(StoreLayout(str(tmp_path / "store")))
    file = tmp_path / "x"
    file.write_text('[{"summary": "a b"}]')
    with pytest.raises(InvalidInputError):
        import_memory(store, str(file), MemoryScope.PROJECT)
    file.write_text('[{"summary": "a b", "scope": "global"}]')
    assert len(import_memory(store, str(file), MemoryScope.PROJECT).plan.changes) == 1


def test_ten_thousand(tmp_path: Path) -> None:
    store, file = store_at(tmp_path / "store"), tmp_path / "list.json"
    entries = [
        {"scope": "project", "topic": "commands", "summary": f"Fact number {n} about package {n * 7}"}
        for n in range(10_000)
    ]
    assert take_in(store, file, entries) == (10_000, 0, 0)
    assert len(store.snapshot().records) == 10_000


@pytest.mark.parametrize(
    ("field", "value", "names"),
    [
        ("valid_from", 9, "valid_from"),
        ("valid_until", {"a": 1}, "valid_until"),
        ("reason", 7, "reason"),
        ("summary", 5, "summary"),
        ("created_at", None, "created_at"),
        ("details", "abc", "details"),
        ("details", [1], "details"),
        ("related", {"a": "b"}, "related"),
    ],
)
def test_a_field_of_another_type_is_named_with_its_record(field: str, value: object, names: str) -> None:
    record = {
        "scope": "project",
        "topic": "preferences",
        "id": "a-b",
        "summary": "x y",
        "created_at": AT,
        "updated_at": AT,
    }
    data = json.dumps({"schema": "cam-export/v1", "notes": {}, "records": [record, {**record, field: value}]})
    with pytest.raises(InvalidInputError, match=f"record 2: .*{names}"):
        read(data.encode())


def test_a_note_that_a_person_took_out_of_a_new_file_stays_out(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    file = tmp_path / "notes.json"
    file.write_text(
        json.dumps({"schema": "cam-export/v1", "notes": {"project": "The wifi is down."}, "records": []})
    )
    import_memory(store, str(file), MemoryScope.PROJECT)
    index = Path(store.layout.index_file(MemoryScope.PROJECT))
    assert "The wifi is down." in index.read_text()
    index.write_text("My own text\n")
    remember(store, "Use ruff for linting", (), MemoryScope.PROJECT, "workflow")
    assert "My own text" in index.read_text()
    assert "The wifi is down." not in index.read_text()


def test_a_topic_that_would_be_too_large_to_search_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(tmp_path / "store")
    remember(store, "Small fact about kafka", (), MemoryScope.PROJECT, "commands")
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 2_000)
    before = markdown(store)
    entries = [{"scope": "project", "topic": "workflow", "summary": f"Fact {n} " * 9} for n in range(40)]
    with pytest.raises(InvalidInputError, match=r"workflow\.md would have"):
        take_in(store, tmp_path / "many.json", entries)
    assert markdown(store) == before


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_an_id_that_stands_twice_goes_through_a_file_with_both_texts(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = store_at(tmp_path / "one"), store_at(tmp_path / "two")
    remember(one, "Deploys run on Tuesdays", (), MemoryScope.GLOBAL, "workflow")
    path = Path(one.layout.topic_file(MemoryScope.GLOBAL, MemoryState.ACTIVE, "workflow"))
    section = path.read_text()[path.read_text().index("## ") :]
    path.write_text(path.read_text() + "\n" + section.replace("Tuesdays", "Mondays"))
    both = {"Deploys run on Tuesdays", "Deploys run on Mondays"}
    file = tmp_path / f"memory.{form}"
    monkeypatch.setenv("CAM_HOME", one.layout.root)
    words = ["memory", "export", "--cwd", str(tmp_path), "--format", form, "--output", str(file)]
    assert run(words) == 0
    said = capsys.readouterr()
    assert "Exported 2 records" in said.out
    assert "both are shown" in said.err
    assert "not in the export: " not in said.err
    for known in (0, 2):
        done = import_memory(two, str(file), MemoryScope.PROJECT)
        assert (len(done.plan.changes), done.decided.known) == (2 - known, known)
        assert {record.summary for record in two.snapshot().records} == both
    assert not two.snapshot().problems
    assert import_memory(one, str(file), MemoryScope.PROJECT).decided.known == 2  # where they came from


def test_what_cannot_be_read_is_said_to_be_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = store_at(tmp_path / "one")
    remember(one, "Deploys run on Tuesdays", (), MemoryScope.GLOBAL, "workflow")
    Path(one.layout.topic_file(MemoryScope.GLOBAL, MemoryState.ACTIVE, "commands")).mkdir()
    monkeypatch.setenv("CAM_HOME", one.layout.root)
    assert run(["memory", "export", "--cwd", str(tmp_path), "--output", str(tmp_path / "m.json")]) == 0
    said = capsys.readouterr().err
    assert "commands.md: " in said
    assert said.endswith("cam: what cannot be read is not in the export\n")


def test_a_file_that_a_person_names_may_be_a_link_but_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAM_HOME", str(tmp_path / "store"))
    file, link = tmp_path / "memory.json", tmp_path / "link.json"
    file.write_text('[{"topic": "workflow", "scope": "global", "summary": "Deploys run on Tuesdays"}]')
    link.symlink_to(file)
    place = ["--cwd", str(tmp_path)]
    assert run(["memory", "import", str(link), *place]) == 0
    assert run(["memory", "export", "--output", str(link), "--force", *place]) == 0
    assert link.is_symlink()
    assert "cam-export/v1" in file.read_text()
    capsys.readouterr()
    for words in (["import", str(tmp_path)], ["export", "--output", str(tmp_path), "--force"]):
        assert run(["memory", *words, *place]) == 4
        assert capsys.readouterr().err == f"cam: {tmp_path} is a folder; name a file\n"
