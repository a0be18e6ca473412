"""The retrieval contract of ``cam recall``, row by row: grammar, bounds, envelope, exits, order of checks,
payloads, order of answers. Where cam answers otherwise than the contract, docs/recall.md says why.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cam.core.errors import CamError
from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, Source
from cam.recall.adapter import create
from cam.store.identity import resolve_project
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact
from tests.unit.cli.run import run

AT = "2026-11-0{}T12:00:00.000Z"
REF = "project:active:reference:"


def fact(name: str, text: str, day: int = 1, **more: Any) -> MemoryRecord:
    return MemoryRecord(
        MemoryScope.PROJECT, "reference", name, text, ("a detail nobody sees in a card",),
        created_at=AT.format(day), updated_at=AT.format(day), **more,
    )  # fmt: skip


FACTS = (
    fact("a", "The depot opens at seven", 1, related=("reference:b",)),
    fact("b", "The depot closes at nine", 2, related=("reference:a", "reference:gone", "reference:past")),
    fact("c", "The depot has a red door", 3, sources=(Source("session", "S1"),)),
    fact("d", "The depot has a blue door", 3, sources=(Source("person"),)),
    fact("past", "The depot had a gate", 4, valid_until="2026-11-05"),
    fact("future", "The depot gets a bridge", 4, valid_from="2090-01-01"),
    fact("old", "The depot was a barn", 5, state=MemoryState.ARCHIVED),
)


class Place(NamedTuple):
    """A store of ``FACTS``, and the folder of its project."""

    repo: Path
    store: Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    root = tmp_path_factory.mktemp("contract")
    repo = root / "repo"
    repo.mkdir()
    project = resolve_project(str(repo), str(root / "home"))
    assert project is not None
    store = MarkdownStore(StoreLayout(str(root / "store"), project.id, project.worktree))
    operations = [MemoryOperation(OperationKind.ADD, r, "said") for r in FACTS]
    transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))
    return Place(repo, root / "store")


Ask = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def ask(place: Place, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Exit code and answer of ``cam recall WORDS --json``: one line on stdout, whatever it says."""

    def ask(*words: str, root: str = "") -> tuple[int, dict[str, Any]]:
        where = ["--memory-root", root or str(place.store), "--cwd", str(place.repo)] if words else []
        code = run(["recall", *words[:1], *where, *words[1:], "--json"])
        out, err = capsys.readouterr()
        assert out.endswith("\n")
        assert out.count("\n") == 1
        assert not err
        answer = json.loads(out, parse_constant=pytest.fail)
        assert list(answer) == ["schema", "ok", "command", "data", "error"]
        assert answer["schema"] == "cam/v1"
        assert answer["ok"] is (answer["error"] is None) is (code == 0)
        assert (answer["data"] is None) is not answer["ok"]
        if answer["error"] is not None:
            assert sorted(answer["error"]) == ["code", "message"]
            assert all(isinstance(each, str) and each for each in answer["error"].values())
        return code, answer

    return ask


# --- grammar, options, bounds: what is refused, and with which code -------------------------------------

MANY = [f"{REF}a"] * 100
REFUSED = {
    "grammar/unknown command": (["nonsense"], 4),
    "grammar/unknown option": (["search", "depot", "--nope"], 4),
    "grammar/unknown option with a value": (["search", "depot", "--nope=1"], 4),
    "grammar/option of another command": (["search", "depot", "--before", "1"], 4),
    "grammar/filter where there is none": (["details", f"{REF}a", "--type", "memory"], 4),
    "grammar/repeated option": (["search", "depot", "--page", "1", "--page", "1"], 4),
    "grammar/repeated switch": (["search", "depot", "--strict", "--strict"], 4),
    "grammar/value missing at the end": (["search", "depot", "--page"], 4),
    "grammar/value empty": (["search", "depot", "--type", ""], 4),
    "grammar/value that is an option": (["search", "depot", "--page", "--strict"], 4),
    "grammar/value with one hyphen reaches the number check": (["search", "depot", "--page", "-1"], 4),
    "grammar/adapter unknown, search": (["search", "depot", "--adapter", "gpt"], 4),
    "grammar/adapter unknown, status": (["status", "--adapter", "gpt"], 4),
    "grammar/adapter in capitals": (["status", "--adapter", "Codex"], 4),
    "grammar/number with a point": (["search", "depot", "--page", "1.0"], 4),
    "grammar/number with an exponent": (["search", "depot", "--page", "1e0"], 4),
    "grammar/number in hex": (["search", "depot", "--page", "0x1"], 4),
    "grammar/number with blanks": (["search", "depot", "--page", " 1 "], 4),
    "grammar/number of one blank": (["timeline", "2026-11-03", "--before", " "], 4),
    "grammar/number that is none": (["search", "depot", "--page", "Infinity"], 4),
    "grammar/number beyond all": (["search", "depot", "--page", "9007199254740993"], 4),
    "status/word": (["status", "x"], 4),
    "search/no query": (["search"], 4),
    "search/two queries": (["search", "depot", "door"], 4),
    "search/page 0": (["search", "depot", "--page", "0"], 4),
    "search/page 1.5": (["search", "depot", "--page", "1.5"], 4),
    "search/size 0": (["search", "depot", "--page-size", "0"], 4),
    "search/size 101": (["search", "depot", "--page-size", "101"], 4),
    "search/limit 0": (["search", "depot", "--limit", "0"], 4),
    "search/limit 101": (["search", "depot", "--limit", "101"], 4),
    "search/limit with a page": (["search", "depot", "--limit", "2", "--page", "2"], 4),
    "search/limit with a size": (["search", "depot", "--limit", "2", "--page-size", "2"], 4),
    "search/recency negative": (["search", "depot", "--recency", "-1"], 4),
    "search/recency nan": (["search", "depot", "--recency", "nan"], 4),
    "search/recency infinite": (["search", "depot", "--recency", "inf"], 4),
    "search/recency blank": (["search", "depot", "--recency", " "], 4),
    "search/recency that overflows scores": (["search", "depot", "--recency", "1e308"], 4),
    "search/nodes 0": (["search", "depot", "--expand", f"{REF}a", "--max-nodes", "0"], 4),
    "search/nodes 101": (["search", "depot", "--expand", f"{REF}a", "--max-nodes", "101"], 4),
    "search/tokens 0": (["search", "depot", "--expand", f"{REF}a", "--max-tokens", "0"], 4),
    "search/tokens 50,001": (["search", "depot", "--expand", f"{REF}a", "--max-tokens", "50001"], 4),
    "search/budget without expansion is checked too": (["search", "depot", "--max-nodes", "101"], 4),
    "search/expand what is no ref": (["search", "depot", "--expand", "a"], 4),
    "search/expand unknown": (["search", "depot", "--expand", f"{REF}none"], 3),
    "search/expand past": (["search", "depot", "--expand", f"{REF}past"], 3),
    "search/expand archived": (["search", "depot", "--expand", "project:archived:reference:old"], 3),
    "search/no term": (["search", "?!"], 4),
    "search/blank": (["search", " "], 4),
    "search/65 terms": (["search", "depot " * 65], 4),
    "search/2,049 units": (["search", "x" * 2049], 4),
    "search/2,050 units in 1,025 signs": (["search", "\U0001f600" * 1025], 4),
    "search/from that is none": (["search", "depot", "--from", "tomorrow"], 4),
    "search/from without a zone": (["search", "depot", "--from", "2026-11-01T10:00"], 4),
    "search/to in a month of 32 days": (["search", "depot", "--to", "2026-11-32"], 4),
    "search/type unknown": (["search", "depot", "--type", "song"], 4),
    "timeline/no anchor": (["timeline"], 4),
    "timeline/anchor unknown": (["timeline", f"{REF}none"], 3),
    "timeline/anchor past": (["timeline", f"{REF}past"], 3),
    "timeline/anchor to come": (["timeline", f"{REF}future"], 3),
    "timeline/anchor neither": (["timeline", "tuesday"], 3),
    "timeline/before -1": (["timeline", "2026-11-03", "--before", "-1"], 4),
    "timeline/before 101": (["timeline", "2026-11-03", "--before", "101"], 4),
    "timeline/after -1": (["timeline", "2026-11-03", "--after", "-1"], 4),
    "timeline/after 101": (["timeline", "2026-11-03", "--after", "101"], 4),
    "timeline/page 0": (["timeline", "2026-11-03", "--page", "0"], 4),
    "timeline/size 101": (["timeline", "2026-11-03", "--page-size", "101"], 4),
    "details/none": (["details"], 4),
    "details/101": (["details", *MANY, f"{REF}a"], 4),
    "details/what is no ref": (["details", "a"], 4),
    "details/one of two unknown": (["details", f"{REF}a", f"{REF}none"], 3),
    "details/capitals": (["details", "project:active:reference:A"], 4),
    "details/past": (["details", f"{REF}past"], 3),
    "details/to come": (["details", f"{REF}future"], 3),
    "details/other state": (["details", "project:archived:reference:a"], 3),
    "export/none": (["export"], 4),
    "export/101": (["export", *MANY, f"{REF}a"], 4),
    "export/unknown": (["export", f"{REF}none"], 3),
    "export/past": (["export", f"{REF}past"], 3),
    "rebuild/flag missing": (["rebuild"], 4),
    "rebuild/word": (["rebuild", "x", "--from-canonical"], 4),
    "rebuild/flag with a value": (["rebuild", "--from-canonical=yes"], 4),
    "benchmark/labels missing": (["benchmark", "--output", "r.json"], 4),
    "benchmark/output missing": (["benchmark", "--labels", "l.jsonl"], 4),
}


@pytest.mark.parametrize("row", REFUSED)
def test_what_is_refused(ask: Ask, row: str) -> None:
    words, code = REFUSED[row]
    got, answer = ask(*words)
    assert (got, answer["error"]["code"]) == (code, {4: "invalid_input", 3: "not_found"}[code])


# --- the same bounds from within ------------------------------------------------------------------------

ANSWERED: dict[str, tuple[list[str], int]] = {
    # row: line, how many items
    "grammar/one hyphen is a word": (["search", "-depot"], 4),
    "grammar/options between words": (["search", "--page", "1", "depot", "--strict"], 4),
    "grammar/value behind a sign": (["search", "depot", "--page-size=2"], 2),
    "grammar/adapter known": (["search", "depot", "--adapter", "hermes"], 4),
    "search/a million pages on": (["search", "depot", "--page", "1000000"], 0),
    "search/size 1": (["search", "depot", "--page-size", "1"], 1),
    "search/size 100": (["search", "depot", "--page-size", "100"], 4),
    "search/limit 100": (["search", "depot", "--limit", "100"], 4),
    "search/recency 0": (["search", "depot", "--recency", "0"], 4),
    "search/recency 0.5": (["search", "depot", "--recency", ".5"], 4),
    "search/recency at its bound": (["search", "depot", "--recency", "1e6"], 4),
    "search/nodes 1": (["search", "depot", "--expand", f"{REF}a", "--max-nodes", "1"], 4),
    "search/nodes 100": (["search", "depot", "--expand", f"{REF}a", "--max-nodes", "100"], 4),
    "search/tokens 50,000": (["search", "depot", "--expand", f"{REF}a", "--max-tokens", "50000"], 4),
    "search/64 terms": (["search", "depot " * 64], 4),
    "search/2,048 units": (["search", f"depot {'x' * 2042}"], 4),
    "search/nothing found": (["search", "zebra"], 0),
    "search/type": (["search", "depot", "--type", "idea"], 0),
    "search/source": (["search", "depot", "--source", "person"], 1),
    "search/source in capitals": (["search", "depot", "--source", "Person"], 0),
    "search/session": (["search", "depot", "--session", "S1"], 1),
    "search/session in small letters": (["search", "depot", "--session", "s1"], 0),
    "search/session null": (["search", "depot", "--session", "null"], 0),
    "search/from includes": (["search", "depot", "--from", "2026-11-03T12:00:00Z"], 2),
    "search/from just later": (["search", "depot", "--state", "active", "--from", "2026-11-03T13:00Z"], 0),
    "search/from elsewhere": (["search", "depot", "--from", "2026-11-03T14:00:00+02:00"], 2),
    "search/to includes": (["search", "depot", "--to", "2026-11-02T12:00:00Z"], 2),
    "search/to just earlier": (["search", "depot", "--to", "2026-11-02T11:59:59.999Z"], 1),
    "search/to includes its day": (["search", "depot", "--to", "2026-11-02"], 2),
    "search/from after to": (["search", "depot", "--from", "2026-11-03", "--to", "2026-11-01"], 0),
    "search/archived when asked for": (["search", "depot", "--state", "archived"], 1),
    "search/all states": (["search", "depot", "--state", "all"], 5),
    "search/archived where nothing active matches": (["search", "barn"], 1),
    "search/past and future are not found": (["search", "gate bridge"], 0),
    "timeline/before 0": (["timeline", f"{REF}c", "--before", "0", "--after", "0"], 1),
    "timeline/before 100": (["timeline", f"{REF}c", "--before", "100", "--after", "100"], 4),
    "timeline/neighbours of one instant": (["timeline", f"{REF}c", "--before", "0", "--after", "1"], 2),
    "timeline/past neighbours are not listed": (["timeline", "2026-11-04", "--after", "5"], 4),
    "timeline/anchor outside the filters": (["timeline", f"{REF}a", "--source", "person"], 1),
    "timeline/date": (["timeline", "2026-11-02", "--before", "1", "--after", "1"], 2),
    "timeline/date at an instant": (["timeline", "2026-11-03T12:00:00Z", "--before", "0", "--after", "5"], 2),
    "timeline/page past the end": (["timeline", f"{REF}c", "--page", "9"], 0),
    "details/100": (["details", *MANY], 100),
    "details/alias": (["get", f"{REF}a"], 1),
    "details/in the order asked for, twice": (["details", f"{REF}b", f"{REF}a", f"{REF}b"], 3),
    "export/the same": (["export", f"{REF}b", f"{REF}a", f"{REF}b"], 3),
}


@pytest.mark.parametrize("row", ANSWERED)
def test_what_is_answered(ask: Ask, row: str) -> None:
    words, count = ANSWERED[row]
    code, answer = ask(*words)
    assert (code, len(answer["data"]["items"])) == (0, count)


# --- payloads -------------------------------------------------------------------------------------------

CARD = {
    "ref", "scope", "state", "type", "topic", "summary", "created_at", "updated_at", "provenance", "score",
    "matched_fields", "matched_terms", "est_tokens",
}  # fmt: skip
BESIDE = {"problems", "problem_count"}
SCREENED = BESIDE | {"cut", "masked"}
PAGE = {"items", "total", "page", "page_size"} | SCREENED
RECORD = {
    "ref", "scope", "state", "topic", "id", "type", "summary", "details", "created_at", "updated_at",
    "sources", "reason", "related", "path", "est_tokens", "cut", "masked",
}  # fmt: skip
PAYLOADS = {
    "status": (
        ["status"],
        {"canonical", "mode", "active", "archived", "notes", "files", "bytes", "index_policy", "indexes"}
        | BESIDE,
    ),
    "search": (["search", "depot"], PAGE | {"query", "state"}),
    "search with links": (
        ["search", "depot", "--expand", f"{REF}a"],
        PAGE | {"query", "state", "expansion"},
    ),
    "timeline": (["timeline", f"{REF}c"], PAGE | {"anchor", "events"}),
    "details": (["details", f"{REF}a"], {"items"} | BESIDE),
    "export": (["export", f"{REF}a"], {"format", "items"} | BESIDE),
    "rebuild": (
        ["rebuild", "--from-canonical"],
        {
            "format",
            "canonical_digest",
            "rebuilt_digest",
            "index_digest",
            "equivalent",
            "records",
            "difference",
        }
        | BESIDE,
    ),
}


@pytest.mark.parametrize("row", PAYLOADS)
def test_a_payload_has_these_fields(ask: Ask, row: str) -> None:
    words, keys = PAYLOADS[row]
    code, answer = ask(*words)
    assert code == 0
    assert set(answer["data"]) == keys
    assert answer["command"] == f"recall.{words[0]}"
    for item in answer["data"].get("items", ()):
        assert set(item) == (RECORD if row in {"details", "export"} else CARD)
        if "provenance" in item:
            assert set(item["provenance"]) == {"source", "session", "path"}
            assert "detail nobody sees" not in json.dumps(item)


def test_cards_outside_a_search_have_no_score(ask: Ask) -> None:
    for words in (["timeline", f"{REF}c"], ["search", "door", "--expand", f"{REF}a"]):
        data = ask(*words)[1]["data"]
        cards = data["expansion"]["items"] if "expansion" in data else data["items"]
        assert [card["score"] for card in cards] == [0] * len(cards)
        assert [card["matched_terms"] for card in cards] == [[]] * len(cards)


def test_links_go_round_in_circles_once_and_lead_past_what_is_not_there(ask: Ask) -> None:
    expansion = ask("search", "door", "--expand", f"{REF}a")[1]["data"]["expansion"]
    assert [card["ref"] for card in expansion["items"]] == [f"{REF}a", f"{REF}b"]
    assert set(expansion) == {"items", "est_tokens", "truncated"}
    assert expansion["est_tokens"] == sum(card["est_tokens"] for card in expansion["items"])
    assert expansion["truncated"] is False
    # Complete although the first is linked again; cut although nothing is left in the queue.
    two, one, none = ("--max-nodes", "2"), ("--max-nodes", "1"), ("--max-tokens", "1")
    budgets = {two: (2, False), one: (1, True), none: (0, True)}
    for budget, (count, truncated) in budgets.items():
        cut = ask("search", "door", "--expand", f"{REF}a", *budget)[1]["data"]["expansion"]
        assert (len(cut["items"]), cut["truncated"]) == (count, truncated), budget


def test_the_anchor_says_when(ask: Ask) -> None:
    assert ask("timeline", f"{REF}c")[1]["data"]["anchor"] == {"ref": f"{REF}c", "date": AT.format(3)}
    anchor = ask("timeline", "2026-11-03T14:00:00+02:00")[1]["data"]["anchor"]
    assert anchor == {"ref": None, "date": "2026-11-03T14:00:00+02:00"}


# --- order ----------------------------------------------------------------------------------------------


def test_equal_scores_stand_by_ref_and_pages_are_slices(ask: Ask) -> None:
    whole = ask("search", "depot", "--limit", "100")[1]["data"]
    scores = [(-card["score"], card["ref"]) for card in whole["items"]]
    assert scores == sorted(scores)
    slices = [ask("search", "depot", "--page-size", "3", "--page", page)[1]["data"] for page in "123"]
    assert [card for each in slices for card in each["items"]] == whole["items"]
    assert {each["total"] for each in slices} == {whole["total"]} == {4}


def test_filters_change_what_statistics_are_taken_from(ask: Ask) -> None:
    alone = ask("search", "depot", "--source", "person")[1]["data"]["items"][0]
    among = next(c for c in ask("search", "depot")[1]["data"]["items"] if c["ref"] == alone["ref"])
    assert alone["score"] != among["score"]


def test_details_are_in_the_order_asked_for(ask: Ask) -> None:
    wanted = [f"{REF}b", f"{REF}a", f"{REF}b"]
    assert [item["ref"] for item in ask("details", *wanted)[1]["data"]["items"]] == wanted


def test_what_does_not_hold_counts_all_the_same(ask: Ask) -> None:
    assert ask("status")[1]["data"]["canonical"]["records"] == len(FACTS)
    assert ask("rebuild", "--from-canonical")[1]["data"]["records"] == len(FACTS)


def test_a_store_of_another_name_is_the_same(ask: Ask, place: Place, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(place.store)
    digest = "canonical_digest"
    one, other = (ask("rebuild", "--from-canonical", root=r)[1]["data"] for r in ("", str(alias)))
    assert one[digest] == other[digest]
    assert ask("status", root=str(alias))[1]["data"]["canonical"]["root"] == os.path.realpath(place.store)


# --- which error wins: each line has the fault of its row and all that come after ------------------------

NOWHERE = "/nowhere/at/all"
ORDER = {
    "the option": (["search", "--nope", "--adapter", "gpt", "--page", "0"], "--nope"),
    "the adapter": (["search", "--adapter", "gpt", "--page", "0"], "adapter"),
    "the number of words": (["search", "--page", "0"], "exactly 1"),
    "a value": (["search", "?", "--page", "0"], "--page"),
    "the store's folder": (["search", "depot", "--expand", f"{REF}none"], "no folder"),
}


@pytest.mark.parametrize("row", ORDER)
def test_the_first_fault_is_told(ask: Ask, row: str) -> None:
    words, says = ORDER[row]
    code, answer = ask(*words, root=NOWHERE)
    assert code == 4
    assert says in answer["error"]["message"]


def test_a_store_that_cannot_be_read_whole_comes_before_what_is_not_there(
    ask: Ask, tmp_path: Path, place: Place
) -> None:
    project = resolve_project(str(place.repo), "/")
    assert project is not None
    layout = StoreLayout(str(tmp_path / "s"), project.id, project.worktree)
    folder = Path(layout.scope_folder(MemoryScope.PROJECT))
    folder.mkdir(parents=True)
    (folder / "No Topic.md").write_text("# x\n")
    words = ("search", "depot", "--expand", f"{REF}none")
    assert ask("search", "depot", "--strict", root=str(tmp_path / "s"))[0] == 4
    code, answer = ask(*words, root=str(tmp_path / "s"))
    assert (code, answer["error"]["code"]) == (3, "not_found")


# --- in the same process --------------------------------------------------------------------------------

IN_PROCESS: dict[str, Callable[[Any], object]] = {
    "a query that is no text": lambda memory: memory.search(1),
    "a query that is nothing": lambda memory: memory.search(None),
    "a ref that is no text": lambda memory: memory.get(None),
    "no ref": lambda memory: memory.get(),
    "an option among refs is no option": lambda memory: memory.get(f"{REF}a", "--memory-root", "/x"),
    "an anchor that is no text": lambda memory: memory.timeline(b"2026-11-03"),
    "a page that is none": lambda memory: memory.search("depot", page=0),
    "a grant that is a text": lambda memory: memory.remember({"content": "x"}, allow_write="yes"),
    "a grant that is a number": lambda memory: memory.remember({"content": "x"}, allow_write=1),
    "an item that is a text": lambda memory: memory.remember('{"content": "x"}', allow_write=True),
    "an item that is none": lambda memory: memory.remember(None, allow_write=True),
}


@pytest.mark.parametrize("row", IN_PROCESS)
def test_the_adapter_refuses_as_the_command_line_does(place: Place, row: str) -> None:
    with pytest.raises(CamError) as refused:
        IN_PROCESS[row](create("claude", cwd=str(place.repo), memory_root=str(place.store)))
    # A text where an item is due is no type that the command takes.
    assert refused.value.exit_code == (5 if row.startswith("an item") else 4)


def test_the_adapter_answers_as_the_command_line_does(place: Place, ask: Ask) -> None:
    memory = create("claude", cwd=str(place.repo), memory_root=str(place.store))
    told = ask("search", "depot", "--adapter", "claude")[1]["data"]
    assert [str(card.ref) for card in memory.search("depot").cards] == [card["ref"] for card in told["items"]]
    assert [item.record.id for item in memory.get(f"{REF}b", f"{REF}a").items] == ["b", "a"]
    with pytest.raises(CamError) as unknown:
        create("gpt")
    assert unknown.value.exit_code == 4
    with pytest.raises(AttributeError):
        memory.name = "codex"  # type: ignore[misc]
