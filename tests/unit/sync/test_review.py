"""What a candidate does to what is known."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cam.core.extraction import Candidate, Extraction, Review, SpeechAct
from cam.core.operations import OperationKind, Quote, build_plan
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, Source
from cam.core.tombstones import tombstone_key
from cam.language.candidates import denials
from cam.sync.review import review
from tests.unit.sync.conftest import extract

BEFORE, NOW, LATER = "2026-11-29T10:00:00.000Z", "2026-11-30T10:00:00.000Z", "2026-12-01T10:00:00.000Z"


def record(summary: str, *, at: str = BEFORE, name: str = "r1", scope: str = "project") -> MemoryRecord:
    return MemoryRecord(MemoryScope(scope), "workflow", name, summary, created_at=at, updated_at=at)


def said(
    summary: str, act: SpeechAct = SpeechAct.RULE, *, at: str = NOW, n: int = 1, rule: str = "we-use"
) -> Candidate:
    source = Source("session", "s1", n, f"{n:012x}")
    return Candidate(
        MemoryScope.PROJECT,
        "workflow",
        summary,
        act,
        at,
        source,
        (Quote(summary, "s1", n),),
        denies=denials(summary),
        rule=rule,
    )


def decide(
    *items: Candidate, known: Sequence[MemoryRecord] = (), tombstones: dict[str, str] | None = None
) -> Review:
    return review(Extraction(items), known, tombstones)


def after(result: Review, known: Sequence[MemoryRecord] = ()) -> list[MemoryRecord]:
    state = {r.key: r for r in known}
    for change in build_plan(result.operations, known).changes:
        assert change.after is not None
        state[change.after.key] = change.after
    return list(state.values())


def active(records: Sequence[MemoryRecord]) -> list[str]:
    return sorted(r.summary for r in records if r.state is MemoryState.ACTIVE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The API server listens on port 3000.", "The API server listens on port 4100, not 3000"),
        ("We use npm, not yarn", "We use pnpm, not npm"),
        ("Use npm in this repository. pnpm was tried once.", "我们用 pnpm，不用 npm"),
        ("Use pip to install dependencies.", "装依赖应该用 uv 而不是 pip"),
        ("staging deploys run from main", "staging deploys run from the release branch"),
        ("we use yarn in this repository", "we use npm in this repository"),
        ("Never squash merge pull requests.", "squash merge pull requests"),
        ("Fixtures live in test/fixtures.", "fixtures live in spec/fixtures"),
        ("单元测试用 jest", "单元测试用 vitest，不用 jest"),
        ("Die API läuft auf Port 3000.", "Unsere API läuft auf Port 4100, nicht 3000"),
    ],
)
def test_a_rule_replaces_what_it_contradicts(old: str, new: str) -> None:
    known = [record(old)]
    result = decide(said(new), known=known)
    records = after(result, known)
    assert active(records) == [new]
    gone = next(o for o in result.operations if o.kind is OperationKind.ARCHIVE)
    winner = next(o.record for o in result.operations if o.kind is OperationKind.ADD)
    assert gone.replaced_by == f"{winner.topic}:{winner.id}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Use npm in the docs folder, it keeps its own package-lock.json.",
            "Use pnpm, not npm, except in the docs/ folder where npm stays",
        ),
        (
            "Before pushing a tag to the mirror, run the release script; the linter does not check tags.",
            "run the linter before pushing",
        ),
        (
            "Write commit messages in English in every repository.",
            "git hooks run through lefthook instead of husky when you commit",
        ),
        ("module alpha owns table tbl_alpha", "module beta owns table tbl_beta"),
        ("Commit messages are imperative.", "Commit messages are under 72 characters"),
        ("staging listens on 8443", "production listens on 8444"),
        (
            "Jenkins runs the nightly staging build and mails the report",
            "staging deploys go through ArgoCD, not Jenkins",
        ),
        ("unit tests use vitest", "e2e tests use playwright"),
    ],
)
def test_shared_words_are_no_contradiction(old: str, new: str) -> None:
    known = [record(old)]
    assert active(after(decide(said(new), known=known), known)) == sorted([old, new])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use pnpm, not npm", "use pnpm instead of npm"),
        ("We deploy from the release branch.", "we deploy from the release branch"),
        ("We use pnpm, not npm, in this repository.", "we use pnpm"),
    ],
)
def test_a_restatement_changes_nothing(old: str, new: str) -> None:
    known = [record(old)]
    result = decide(said(new), known=known)
    assert [o.kind for o in result.operations] == [OperationKind.NOOP]
    assert after(result, known) == known


def test_the_longer_form_of_a_rule_takes_its_place_under_the_same_id() -> None:
    known = [record("We use pnpm")]
    records = after(decide(said("We use pnpm, not npm"), known=known), known)
    assert [(r.id, r.summary) for r in records] == [("r1", "We use pnpm, not npm")]


@pytest.mark.parametrize(
    ("act", "rule"),
    [(SpeechAct.FACT, "passing:lives-at"), (SpeechAct.CONFIRMATION, "agreed")],
)
def test_what_is_said_in_passing_overturns_nothing(act: SpeechAct, rule: str) -> None:
    known = [record("The API server listens on port 3000.")]
    result = decide(said("The API server listens on port 4100", act, rule=rule), known=known)
    assert result.operations == ()
    assert [(c.reason, c.records) for c in result.conflicts] == [("passing", (known[0],))]


def test_a_command_that_ran_overturns_nothing() -> None:
    known = [record("The tests run with `uv run pytest -q`.")]
    result = decide(said("`make test` runs the tests", SpeechAct.OBSERVATION), known=known)
    assert not result.operations
    assert result.conflicts[0].reason == "passing"


def test_an_older_statement_never_wins() -> None:
    known = [record("We use pnpm, not npm", at=LATER)]
    result = decide(said("We use npm"), known=known)
    assert not result.operations
    assert result.conflicts[0].reason == "older"


def test_a_chain_leaves_the_last() -> None:
    chain = [said(f"we use {tool}", n=n) for n, tool in enumerate(("npm", "yarn", "pnpm"), 1)]
    records = after(decide(*chain))
    assert active(records) == ["we use pnpm"]
    assert len(records) == 3


def test_another_scope_is_an_exception_not_a_contradiction() -> None:
    known = [record("The API runs on port 5000", scope="project")]
    local = replace(said("The API runs on port 5001"), scope=MemoryScope.PROJECT_LOCAL)
    assert len(active(after(decide(local, known=known), known))) == 2


def test_a_second_reading_changes_nothing() -> None:
    items = [said("we use npm", n=1), said("we use pnpm, not npm", n=2), said("tests live in spec/", n=3)]
    first = after(decide(*items))
    again = decide(*items, known=first)
    assert after(again, first) == first
    assert not again.operations


def test_what_a_person_deleted_comes_back_only_when_said_later() -> None:
    stone = {tombstone_key("We use PNPM."): "2026-11-30T12:00:00Z"}
    assert [r.reason for r in decide(said("we use pnpm"), tombstones=stone).rejections] == ["tombstone"]
    assert len(decide(said("we use pnpm", at=LATER), tombstones=stone).operations) == 1


def test_forgetting_needs_a_target_that_is_known() -> None:
    known = [
        record("The staging proxy is reached through bastion-2.", name="a"),
        record("The production proxy is reached through bastion-1.", name="b"),
    ]
    result = review(
        extract("Please forget the note about the staging proxy, we removed it.", records=known), known
    )
    assert [r.summary for r in after(result, known) if r.state is MemoryState.ARCHIVED] == [known[0].summary]


@pytest.mark.parametrize(
    "idiom", ["Forget it.", "forget the tests for now, just fix the build", "don't forget the tests", "算了"]
)
def test_idioms_forget_nothing(idiom: str) -> None:
    known = [record("The tests run with `make test`.")]
    assert not review(extract(idiom, records=known), known).operations


def test_a_request_that_names_too_much_is_left_to_the_person() -> None:
    known = [record(f"proxy number {n} is on host{n}", name=f"p{n}") for n in range(8)]
    result = review(extract("forget the notes about proxy", records=known), known)
    assert not result.operations
    assert result.rejections[-1].reason == "forget-unclear"
