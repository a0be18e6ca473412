"""Rules of the summary that figures do not show."""

import pytest

from cam.continuity.brief import over
from cam.continuity.commands import run_of
from cam.continuity.layers import is_local, merge, split
from cam.continuity.said import parts, paths, pieces
from cam.continuity.summary import Summary, summarize
from cam.core.evidence import (
    EvidenceItem,
    Generation,
    Message,
    Provenance,
    RolloutEvidence,
    RolloutMeta,
    ToolCall,
)
from cam.formats.continuity_file import ContinuityState


def session(*said: str | tuple[str, ...]) -> RolloutEvidence:
    """A text is the person's; ``("a", text)`` the assistant's, ``("run", command, code)`` a command."""
    items: list[EvidenceItem] = []
    ordinal = 0
    for what in said:
        if isinstance(what, str):
            ordinal += 1
            items.append(Message(Provenance.USER, what, ordinal))
        elif what[0] == "run":
            items.append(ToolCall("exec_command", what[1], output="boom: error", exit_code=int(what[2])))
        elif what[0] == "patch":
            items.append(ToolCall("apply_patch", exit_code=0, files=what[1:], cwd="/repo", ordinal=ordinal))
        else:
            who = {"a": Provenance.ASSISTANT, "h": Provenance.HARNESS, "s": Provenance.SUBAGENT}[what[0]]
            items.append(Message(who, what[1], ordinal))
    meta = RolloutMeta("s1", "/r.jsonl", Generation.PAGINATED, "/repo")
    return RolloutEvidence(meta, tuple(items))


def state(*said: str | tuple[str, ...]) -> ContinuityState:
    return summarize(session(*said), "/repo").state


def test_what_was_injected_and_what_sub_agents_said_does_not_count() -> None:
    found = state(
        ("h", "Goal: take over the world. Next steps: add mines"),
        "Add a footer to the site",
        ("s", "Next: delete the header"),
        ("a", "The footer is in."),
    )
    assert found.goal == "Add a footer to the site"
    assert found.next_steps == ()


def test_the_last_run_of_a_kind_decides() -> None:
    found = state("Fix it all", ("run", "pytest", "1"), ("run", "pytest", "0"), ("run", "ruff check", "1"))
    assert found.working == ("Command succeeded: `pytest`",)
    assert found.failed == ("Command failed: `ruff check` (boom: error)",)


@pytest.mark.parametrize(
    ("failed", "passed", "is_cleared"),
    [
        ("pytest tests/a.py", "pytest tests/a.py::test_one", True),
        ("pytest", "pytest tests/a.py", True),
        ("pytest tests/a.py", "pytest tests/b.py", False),
        ("npm test", "npx vitest run", True),
        ("npm test", "npm run lint", False),
        ("cd web && npm test", "cd api && npm test", False),
        ("make build", "make -j8", True),
    ],
)
def test_a_success_clears_failures_of_its_kind_on_the_same_things(
    failed: str, passed: str, is_cleared: bool
) -> None:
    found = state("Get it green", ("run", failed, "1"), ("run", passed, "0"))
    assert (not found.failed) == is_cleared


@pytest.mark.parametrize(
    "command", ["rg -n foo src", "cat x && ls", "git status", "cat <<EOF > a\npytest\nEOF"]
)
def test_looking_says_nothing_of_the_work(command: str) -> None:
    assert run_of(ToolCall("shell", command, exit_code=1), 0) is None


@pytest.mark.parametrize("code", [None, 130, 137, -9])
def test_what_did_not_end_is_no_failure(code: int | None) -> None:
    assert run_of(ToolCall("shell", "pytest", exit_code=code), 0) is None


def test_a_later_decision_takes_the_place_of_the_one_it_contradicts() -> None:
    found = state(
        "Add a cache", "Let's use Redis for it", ("a", "OK."), "No, use memcached instead of Redis."
    )
    assert [n for n in found.notes if n.startswith("Decision")] == [
        "Decision: No, use memcached instead of Redis"
    ]


def test_secrets_and_private_words_stay_out() -> None:
    found = state(
        "Deploy the shop <private>for Contoso</private> with token ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        ("run", "curl_deploy --token=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "1"),
        ("a", "Next: rotate ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    )
    text = repr(found)
    assert "ghp_" not in text
    assert "Contoso" not in text
    assert found.goal.startswith("Deploy the shop")


def test_the_goal_and_notes_that_name_files_are_the_worktrees() -> None:
    both = ContinuityState(
        "Fix src/app.py", ("Command succeeded: `pytest tests/a.py`",), next_steps=("ask Ann", "edit lib/x.ts")
    )
    layers = split(both)
    assert layers.project == ContinuityState(
        "", ("Command succeeded: `pytest tests/a.py`",), next_steps=("ask Ann",)
    )
    assert layers.local == ContinuityState("Fix src/app.py", next_steps=("edit lib/x.ts",))
    assert over(layers.local, layers.project).goal == "Fix src/app.py"
    assert is_local("rebase feature-x", "feature-x")
    assert not is_local("versions 7.0/7.1, OAuth2/token and POST /api/v1/orders")


def test_names_of_files() -> None:
    text = "see src/a.py, ./run, docs/x.md, CHANGELOG.md; not v1/v2, and/or, /api/orders, https://x.y/z.html"
    assert paths(text) == {"src/a.py", "./run", "docs/x.md", "CHANGELOG.md"}


def test_merge_drops_what_the_new_session_did_or_cleared() -> None:
    old = ContinuityState(
        "Old goal",
        ("Command succeeded: `pnpm build`", "Command succeeded: `pnpm test`"),
        ("Command failed: `pnpm lint`",),
        next_steps=("add the index on orders.created_at", "write the docs"),
    )
    summary = summarize(
        session(
            "Finish the orders page",
            ("run", "pnpm lint", "0"),
            ("run", "pnpm test", "1"),
            ("a", "Added the index on orders.created_at."),
        )
    )
    merged = merge(summary.state, old, summary)
    assert merged.goal == "Finish the orders page"
    assert merged.working == ("Command succeeded: `pnpm lint`", "Command succeeded: `pnpm build`")
    assert merged.failed == ("Command failed: `pnpm test` (boom: error)",)
    assert "write the docs" in merged.next_steps
    assert not any("index" in step for step in merged.next_steps)


def test_an_empty_session_keeps_what_stood() -> None:
    old = ContinuityState("Goal", ("a",), next_steps=("b",))
    assert merge(ContinuityState(), old, Summary(ContinuityState())) == old


@pytest.mark.parametrize(
    "text", ["continue", "thanks!", "继续", "run the tests", "what's the status?", "好的，谢谢"]
)
def test_what_is_no_goal(text: str) -> None:
    assert state("Port the importer to asyncio", ("a", "ok"), text, ("a", "ok")).goal == (
        "Port the importer to asyncio"
    )


def test_lists_under_titles() -> None:
    found = pieces(
        "Done.\n\n**Next steps:**\n- one\n- [x] two\n  more of two\n\nSome words.\n```\n- no\n```\n> no"
    )
    assert [(p.text, p.lead, p.checked) for p in found] == [
        ("Done.", "", None),
        ("one", "Next steps:", None),
        ("two", "Next steps:", True),
        ("Some words.", "", None),
    ]


def test_parts_of_a_step() -> None:
    assert parts("add the index, then document it; and write tests") == [
        "add the index",
        "document it",
        "and write tests",
    ]
    assert parts("move the templates and switch the keys") == ["move the templates", "switch the keys"]
    assert parts("1. 接口 2. 按钮 3. 邮件") == ["接口", "按钮", "邮件"]
    assert parts("rename salt and pepper") == ["rename salt and pepper"]


@pytest.mark.parametrize(
    "unit", ["还需要 ", "next ", "tried but ", "no, ", "- [ ] x\n", "src/a", "`", "1. a ", "** "]
)
def test_linear(unit: str) -> None:
    state("Do " + unit * 4000, ("a", unit * 4000), unit * 4000)
