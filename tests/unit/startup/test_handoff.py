"""What of the run a session is told: everything once, then only what changed."""

from hypothesis import given
from hypothesis import strategies as st

from cam.startup.frame import CLOSE, GUIDANCE, HIGHLIGHTS, OPEN
from cam.startup.handoff import text_after_compaction, text_for_session
from cam.startup.meaning import lines_said

ENTRIES = {
    "project:workflow:a": ["1", "- [project/workflow] A"],
    "project:workflow:b": ["2", "- [project/workflow] B"],
}


def run(entries: dict[str, list[str]], active: list[str] | None = None) -> dict[str, object]:
    return {
        "text": "ALL",
        "entries": entries,
        "active": list(entries) if active is None else active,
    }


def test_a_new_session_is_told_everything() -> None:
    for source in ("startup", "clear", "compact"):
        assert text_for_session(run(ENTRIES), source, ENTRIES) == ("ALL", ENTRIES)
    assert text_for_session(run(ENTRIES), "resume", None)[0] == "ALL"


def test_a_resumed_session_is_told_nothing_twice() -> None:
    assert text_for_session(run(ENTRIES), "resume", ENTRIES) == ("", ENTRIES)


def test_news_changes_and_what_no_longer_holds() -> None:
    now = {
        "project:workflow:b": ["3", "- [project/workflow] B2"],
        "project:workflow:c": ["4", "- [project/workflow] C"],
    }
    text, ledger = text_for_session(run(now), "resume", ENTRIES)
    rows = text.split("\n")
    assert rows[2:4] == ["- [project/workflow] B2", "- [project/workflow] C"]
    assert rows[4:6] == ["No longer true:", "- [project/workflow] A"]
    assert ledger == now
    assert text_for_session(run(now), "resume", ledger)[0] == ""


def test_what_only_lost_its_place_in_the_budget_still_holds() -> None:
    text, ledger = text_for_session(run({}, ["project:workflow:a", "project:workflow:b"]), "resume", ENTRIES)
    assert text == ""
    assert ledger == ENTRIES


A, B = (line for _, line in ENTRIES.values())
TEXT = "\n".join([OPEN, *GUIDANCE, "| A note", HIGHLIGHTS, A, B, "Topic files in /s:", CLOSE])


def test_what_codex_tells_itself_is_left_out_and_counts_as_told() -> None:
    told = run(ENTRIES) | {"text": TEXT}
    assert text_for_session(told, "startup", None, [A]) == (TEXT.replace(f"{A}\n", ""), ENTRIES)
    text, ledger = text_for_session(told, "startup", None, [A, B])
    assert text.split("\n") == [OPEN, *GUIDANCE, "| A note", "Topic files in /s:", CLOSE]
    assert text_for_session(told, "resume", ledger) == ("", ENTRIES)
    gone = text_for_session(run({}, ["project:workflow:b"]), "resume", ledger)[0]
    assert gone.split("\n")[1:-1] == ["No longer true:", A]  # Codex's memory does not know


def test_where_codex_tells_all_there_is_nothing_is_told() -> None:
    alone = run(ENTRIES) | {"text": "\n".join([OPEN, *GUIDANCE, HIGHLIGHTS, A, B, CLOSE])}
    assert text_for_session(alone, "startup", None, [A, B]) == ("", ENTRIES)
    assert text_for_session(run(ENTRIES), "resume", {}, [A, B]) == ("", ENTRIES)
    assert text_for_session(run(ENTRIES), "resume", {}, [A])[0].split("\n")[2:] == [B, CLOSE]


def test_after_a_compaction_too() -> None:
    told = run(ENTRIES) | {"text": TEXT, "continuity": [], "budget": [200, 2000]}
    assert text_after_compaction(told, [], [A]) == (TEXT.replace(f"{A}\n", ""), ENTRIES)
    text, ledger = text_after_compaction(told, ["lost"], [A])
    assert A not in text
    assert B in text
    assert "| lost" in text
    assert ledger == ENTRIES
    narrow = told | {"budget": [8, 2000]}
    assert text_after_compaction(narrow, ["lost"], [A])[1].keys() == {"project:workflow:a"}


def test_lines_that_say_the_same() -> None:
    entries = {
        "global:workflow:a": ["1", "- [global/workflow] Deploy with make ship"],
        "global:workflow:b": ["2", "- [global/workflow] Deploy with make ship (an agent's note)"],
        "global:workflow:c": ["3", "- [global/workflow] Never deploy with make ship"],
    }
    first, second, _ = (line for _, line in entries.values())
    assert lines_said(entries, ["deploy with `make ship`.", "Answer in rhymes"]) == {first, second}
    assert lines_said(entries, []) == frozenset()


keys = st.sampled_from(["k1", "k2", "k3", "k4"])
entries = st.dictionaries(keys, st.tuples(st.sampled_from("12"), st.sampled_from(["- x", "- y"])).map(list))


@given(entries, entries)
def test_telling_twice_tells_nothing(now: dict[str, list[str]], known: dict[str, list[str]]) -> None:
    _, ledger = text_for_session(run(now), "resume", known)
    assert text_for_session(run(now), "resume", ledger) == ("", ledger)
