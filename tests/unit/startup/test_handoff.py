"""What of the run a session is told: everything once, then only what changed."""

from hypothesis import given
from hypothesis import strategies as st

from cam.startup.handoff import text_for_session

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


keys = st.sampled_from(["k1", "k2", "k3", "k4"])
entries = st.dictionaries(keys, st.tuples(st.sampled_from("12"), st.sampled_from(["- x", "- y"])).map(list))


@given(entries, entries)
def test_telling_twice_tells_nothing(now: dict[str, list[str]], known: dict[str, list[str]]) -> None:
    _, ledger = text_for_session(run(now), "resume", known)
    assert text_for_session(run(now), "resume", ledger) == ("", ledger)
