import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.language import SYNONYMS
from cam.core.ranking import (
    Document,
    Index,
    best_in,
    count_terms,
    document_of,
    entry_of,
    query_terms,
    rank,
    rank_in,
)
from cam.core.records import MemoryRecord, MemoryScope

NOW = "2026-05-01T00:00:00.000Z"


def docs(*texts: str, at: str = "") -> list[Document]:
    return [Document(f"d{n}", (("summary", text),), at) for n, text in enumerate(texts)]


def found(query: str, *texts: str) -> list[int]:
    return [hit.number for hit in rank(query, docs(*texts))]


TEXTS = (
    "Run the integration tests with make test-integration, they need docker",
    "数据库迁移文件放在 db/migrations 目录，按编号命名",
    "デプロイは金曜日に行わない",
    "Сборка запускается командой make build",
    "🚀 marks a release note in the changelog",
    "On-call steps are in docs/runbook.md",
    "The parser lives in src/lexer/tokenStream.ts and is called readNextToken",
    "We start the server on port 4100",
    "art assets come from the design team",
    "배포는 매주 화요일에 합니다",
    "Die Datenbank läuft auf Port 5433",
    "Pin the compiler to v1.2.3 until the fix ships",
    "C++ code is formatted with clang-format",
    "retry_backoff_ms is 250",
)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("how do I run the tests", 0),
        ("迁移文件放在哪里", 1),
        ("数据库", 1),
        ("デプロイはいつ", 2),
        ("金曜日", 2),
        ("сборку запускать", 3),
        ("🚀 release", 4),
        ("🚀", 4),
        ("docs/runbook.md", 5),
        ("runbook.md", 5),
        ("runbook", 5),
        ("DOCS/RUNBOOK.MD", 5),
        ("readNextToken", 6),
        ("read next token", 6),
        ("tokenstream", 6),
        ("token stream", 6),
        ("read_next_token", 6),
        ("lexer", 6),
        ("port 4100", 7),
        ("art", 8),
        ("배포", 9),
        ("Datenbanken", 10),
        ("datenbank port", 10),
        ("v1.2.3", 11),
        ("1.2.3", 11),
        ("c++", 12),
        ("ｃｌａｎｇ－ｆｏｒｍａｔ", 12),
        ("retryBackoffMs", 13),
        ("backoff", 13),
    ],
)
def test_a_query_finds_its_record(query: str, best: int) -> None:
    assert found(query, *TEXTS)[0] == best


def test_a_word_within_a_word_is_no_match() -> None:
    assert found("art", "we start at nine", "the art team") == [1]


@pytest.mark.parametrize(
    "query", ["what is it", "how do we do this", "why", "The Who", "wie ist das", "怎么", "what's that"]
)
def test_question_words_never_empty_a_query(query: str) -> None:
    assert query_terms(query)
    assert found(query, query, "something else")[0] == 0


@pytest.mark.parametrize("query", ["", "   ", "?!", "---", "\n"])
def test_nothing_asked_is_nothing_found(query: str) -> None:
    assert query_terms(query) == ()
    assert found(query, "a text") == []


def test_stop_words_of_the_query_do_not_decide() -> None:
    assert found("how do I do the deploy", "how do I do what I do", "deploy with make ship")[0] == 1


def test_a_single_character_of_cjk_is_found() -> None:
    assert found("猫", "我有一只猫。", "狗") == [0]
    assert found("猫", "我有一只猫和狗", "狗") == [0]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("db", "the database is Postgres"),
        ("kubernetes", "deployed on k8s"),
        ("repository", "the repo is a monorepo"),
        ("测试", "test with pytest"),
        ("testing", "测试用 pytest 运行"),
        ("テスト", "tests run in CI"),
    ],
)
def test_synonyms_match(query: str, text: str) -> None:
    assert found(query, text, "unrelated words") == [0]


def test_every_synonym_is_found_by_each_other_one() -> None:
    for group in SYNONYMS:
        for asked in group:
            assert all(found(asked, word, "unrelated") == [0] for word in group), (asked, group)


@pytest.mark.parametrize("unit", ["k8s", "e2e", "s3", "a11y", "p2p", "x86", "10k", "3d"])
def test_letters_and_numbers_that_are_one_word(unit: str) -> None:
    digits = "".join(char for char in unit if char.isdigit())
    assert found(unit, f"the {unit.upper()} suite", f"the {digits} suites") == [0]
    assert found(f"{digits} suites", f"the {unit} of ours", f"there are {digits}") == [1]


def test_a_version_is_found_with_and_without_its_letter() -> None:
    for query in ("v2", "2", "v2.1", "2.1"):
        assert found(query, "the v2.1 of the API", "unrelated words") == [0], query
    assert found("2", "API v2", "unrelated") == [0]


def test_who_asks_for_a_kind_finds_what_is_of_it_and_not_the_other_way_round() -> None:
    assert found("which package manager do we use?", "Use pnpm, never npm", "Deploys run on Tuesdays") == [0]
    assert found("what linter", "ruff checks every file", "unrelated words") == [0]
    assert found("数据库", "orders are kept in Postgres", "unrelated words") == [0]
    assert found("npm", "yarn installs the front end", "the package manager is decided") == []
    assert found("yarn", "the package manager of choice") == []


def test_a_word_itself_beats_its_synonym() -> None:
    assert found("database", "the db is up", "the database is up") == [1, 0]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running", "we run it"),
        ("geprüften", "Wir geben das geprüfte Paket frei und laden es in den Speicher"),
        ("déploiements", "Le déploiement se fait le mardi et pas avant"),
        ("las pruebas", "La prueba de humo es de los lunes"),
        ("cafe", "the café list"),
        ("STRASSE", "die Straße"),
        ("миграции", "файл миграций"),
    ],
)
def test_forms_of_a_word_match(query: str, text: str) -> None:
    assert found(query, text, "unrelated words")[:1] == [0]


def test_prefixes_and_mistakes_count_only_when_nothing_matches() -> None:
    assert found("kuber", "kubernetes cluster", "a cat") == [0]
    assert found("postgers", "postgres port", "a cat") == [0]
    assert found("dockre", "docker desktop", "a cat") == [0]
    assert found("migratoins", "numbered migrations", "a cat") == [0]
    assert found("kuber cluster", "kubernetes", "a cluster") == [1]
    assert found("zzzzzz", "kubernetes", "a cluster") == []


def test_rare_words_weigh_more_and_short_texts_win() -> None:
    assert found("port staging", "port a", "port b", "port c", "staging d")[0] == 3
    assert found(
        "vault", "vault", "vault and then many other words that say little about anything at all"
    ) == [0, 1]


def test_equal_scores_stand_in_order_of_keys() -> None:
    same = [Document(key, (("summary", "same words"),)) for key in ("b", "a", "c")]
    assert [hit.key for hit in rank("same", same)] == ["a", "b", "c"]


def test_a_hit_says_where_and_why() -> None:
    record = MemoryRecord(
        MemoryScope.PROJECT, "commands", "run-tests-1a2b3c", "Run tests with make", ("needs docker",)
    )
    other = MemoryRecord(MemoryScope.PROJECT, "patterns", "note-ffffff", "Something else")
    hits = rank("docker tests please 缓存", [document_of(record), document_of(other)])
    assert [hit.key for hit in hits] == ["project:active:commands:run-tests-1a2b3c"]
    assert hits[0].fields == ("summary", "details", "id")
    assert hits[0].terms == ("docker", "tests")
    assert rank("commands", [document_of(record), document_of(other)])[0].fields == ("topic",)
    assert rank("run-tests-1a2b3c", [document_of(other), document_of(record)])[0].number == 1


def test_recency_reorders_and_never_lists() -> None:
    old = Document("a", (("summary", "the port is 1"),), "2024-05-01T00:00:00.000Z")
    new = Document("b", (("summary", "the port is 2"),), "2026-04-30T00:00:00.000Z")
    other = Document("c", (("summary", "nothing"),), NOW)
    assert [h.key for h in rank("port", [old, new, other])] == ["a", "b"]
    assert [h.key for h in rank("port", [old, new, other], recency=0.5, now=NOW)] == ["b", "a"]


def test_a_half_life_is_thirty_days() -> None:
    document = [Document("a", (("summary", "port"),), "2026-04-01T00:00:00.000Z"), *docs("other")]
    plain = rank("port", document)[0].score
    assert rank("port", document, recency=1.0, now=NOW)[0].score == pytest.approx(plain * 1.5, rel=1e-5)
    assert rank("port", document, recency=1.0, now="2020-01-01T00:00:00.000Z")[0].score == pytest.approx(
        2 * plain
    )


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("a b c", 3),
        ("a a a", 3),
        ("docs/runbook.md", 1),
        ("怎么运行测试", 1),
        ("用 pytest", 2),
        ("🚀🚀", 2),
        ("", 0),
    ],
)
def test_terms_are_counted(query: str, count: int) -> None:
    assert count_terms(query) == count


def test_an_empty_index_answers() -> None:
    assert rank("anything", []) == []
    assert rank_in("a", Index(docs("", " "))) == []


def test_scores_fall() -> None:
    scores = [hit.score for hit in rank("the port of the server on staging", docs(*TEXTS))]
    assert all(a >= b > 0 for a, b in pairwise(scores))


@pytest.mark.parametrize(
    "unit", ["a", "a ", "aB", "a_", "a.", "测", "a测", "é", "'", "v1.", "🚀", "\u0301", "A", "1"]
)
def test_a_megabyte_is_quick(unit: str) -> None:
    begin = time.process_time()
    entry_of(docs(unit * (1_000_000 // len(unit)))[0])
    assert time.process_time() - begin < 10


@given(
    st.lists(st.lists(st.sampled_from(["cat", "dog", "every", "rare"]), max_size=4), max_size=40),
    st.sampled_from(["cat", "every cat", "every cat dog rare", "every", "rare dog"]),
    st.integers(0, 12),
    st.sampled_from([0.0, 0.5, 20.0]),
    st.sampled_from([1, 3, 4096]),
)
@settings(deadline=None)
def test_the_best_are_the_first_of_all(
    bodies: list[list[str]], query: str, top: int, recency: float, some: int
) -> None:
    """Looking for the best alone leaves none of them out, however few say what is not enough."""
    now = "2026-11-30T00:00:00Z"
    documents = [
        Document(f"k{n}", (("summary", " ".join(["every", *words])),), f"2026-{1 + n % 11:02}-01T00:00:00Z")
        for n, words in enumerate(bodies)
    ]
    index = Index(documents)
    whole, total = best_in(query, index, recency=recency, now=now)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cam.core.ranking._SOME", some)
        best, again = best_in(query, index, top=top, recency=recency, now=now)
    assert (best, again) == (whole[:top], total)
