"""After a compaction exact words come back: what the summary left out, within its share of the budgets."""

from hypothesis import given
from hypothesis import strategies as st

from cam.continuity.compaction import lost_lines
from cam.core.evidence import Message, Provenance, RolloutEvidence, ToolCall
from cam.core.tokens import estimate_tokens
from cam.startup.compile import compile_payload
from cam.startup.flow import run_data
from cam.startup.handoff import RETURN_SHARE, text_after_compaction
from tests.unit.continuity.test_summary import session
from tests.unit.startup.test_compile import NOW, fact


def compacted(summary: str, *said: str | tuple[str, ...], after: tuple[str, ...] = ()) -> RolloutEvidence:
    found = session(*said)
    end = Message(Provenance.HARNESS, summary, kind="summary")
    return RolloutEvidence(found.meta, (*found.items, end, *session(*after).items))


def test_commands_files_and_decisions_that_the_summary_has_not() -> None:
    said = (
        "Move the limits out of the code",
        ("run", "make check FAST=1", "0"),
        ("run", "cargo clippy", "1"),
        ("patch", "/repo/conf/limits.toml", "/repo/src/limits.rs"),
        ("a", "I decided to keep `RETRY_MAX` in conf/limits.toml."),
        ("a", "The parser reads `conf/limits.toml` once, in `src/limits.rs`."),
    )
    assert lost_lines(compacted("We moved the limits.", *said), "/repo") == (
        "Decision: I decided to keep `RETRY_MAX` in conf/limits.toml",
        "Failed: `cargo clippy` (boom: error)",
        "Works: `make check FAST=1`",
        "Changed: `src/limits.rs`, `conf/limits.toml`",
        "The parser reads `conf/limits.toml` once, in `src/limits.rs`",
    )
    summary = "Keep `RETRY_MAX` in conf/limits.toml. `make check FAST=1` works; src/limits.rs changed."
    assert lost_lines(compacted(summary, *said), "/repo") == (
        "Failed: `cargo clippy` (boom: error)",
        "The parser reads `conf/limits.toml` once, in `src/limits.rs`",
    )


def test_nothing_without_a_compaction_and_nothing_from_after_it() -> None:
    assert lost_lines(session("Do it", ("run", "make check", "0")), "/repo") == ()
    later = compacted("So far nothing.", "Do it", after=("Go on",))
    assert lost_lines(RolloutEvidence(later.meta, (*later.items, ran("make check"))), "/repo") == ()


def ran(command: str) -> ToolCall:
    return ToolCall("exec_command", command, exit_code=0)


def test_what_the_person_said_last_is_still_there() -> None:
    said = ("Use port 4317 for the collector",)
    assert lost_lines(compacted("ok", *said), "/repo") == ()
    long_ago = (*said, "x " * 50_000)
    assert lost_lines(compacted("ok", *long_ago), "/repo") == ("Decision: Use port 4317 for the collector",)


def test_no_secret_and_nothing_private_comes_back() -> None:
    token = "ghp_A9fK2mQ7xLw4Tz8RbV1cN6yE3uJ5hS0dGpXq"
    lines = lost_lines(
        compacted(
            "ok",
            "Deploy it",
            ("run", f"DEPLOY_TOKEN={token} make deploy", "0"),
            ("a", "Going with `make deploy`. <private>The key is in `vault/x.txt`.</private>"),
        ),
        "/repo",
    )
    assert lines[0] == "Decision: Going with `make deploy`"
    assert not any(token in line or "vault" in line for line in lines)


@given(
    st.lists(st.text(max_size=120), max_size=30),
    st.lists(st.from_regex(r"[a-z]{3,8}( [a-z]{3,8}){0,30}", fullmatch=True), max_size=40, unique=True),
    st.lists(st.text(min_size=1, max_size=60), max_size=5),
    st.integers(20, 200),
    st.integers(150, 2000),
)
def test_both_budgets_hold_and_what_is_left_out_is_not_counted_as_told(
    lost: list[str], facts: list[str], earlier: list[str], most_lines: int, most_tokens: int
) -> None:
    records = [fact(text, name=f"f{n}") for n, text in enumerate(facts)]
    payload = compile_payload(
        records, {}, (), folder="/s", now=NOW, max_lines=most_lines, max_tokens=most_tokens,
        continuity=earlier,
    )  # fmt: skip
    run = run_data(payload) | {"parent": None, "budget": [most_lines, most_tokens]}
    text, ledger = text_after_compaction(run, lost)
    lines = text.split("\n")
    assert len(lines) <= most_lines
    assert estimate_tokens(text) <= most_tokens
    assert all(line in lines for _, line in ledger.values())
    if "left out of its summary" in text:
        begin = next(n for n, line in enumerate(lines) if "left out of its summary" in line)
        block = lines[begin:-1]
        assert estimate_tokens("\n".join(block)) <= most_tokens * RETURN_SHARE
        assert all(line.startswith("| ") for line in block[1:])
        assert not any("Where the last session stopped" in line for line in lines)
    else:
        assert text == payload.text


def test_without_a_budget_the_payload_stays() -> None:
    payload = compile_payload([fact("A")], {}, (), folder="/s", now=NOW, max_lines=200, max_tokens=2000)
    run = run_data(payload) | {"parent": None, "budget": None}
    assert text_after_compaction(run, ["x"])[0] == payload.text
