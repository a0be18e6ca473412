"""One fact, in the person's own words."""

import pytest

from cam.language.candidates import denials, enumerated, fact_text, says_something, tools_in
from cam.language.lexicon import spoken_in


@pytest.mark.parametrize(
    ("clause", "fact"),
    [
        ("Also remember that snapshots are never updated by hand.", "snapshots are never updated by hand"),
        ("btw, the API listens on 4100 please", "the API listens on 4100"),
        ("From now on, always run cargo fmt", "always run cargo fmt"),
        ("in Go files, wrap errors with %w", "in Go files, wrap errors with %w"),
        ("no console.log in committed code", "no console.log in committed code"),
        ("we prefer simplicity", "we prefer simplicity"),
        ("记住：提交信息一律用英文", "提交信息一律用英文"),
        ("以后 PR 标题都带上 JIRA 编号", "PR 标题都带上 JIRA 编号"),
        ("Merk dir, dass die Logs in /var/log liegen", "die Logs in /var/log liegen"),
    ],
)
def test_courtesies_go_and_scope_words_stay(clause: str, fact: str) -> None:
    assert fact_text(clause, spoken_in(clause)) == fact


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The server listens on port 4100, not 3000", ("3000",)),
        ("We use pnpm instead of npm", ("npm",)),
        ("never npm or yarn", ()),
        ("We use pnpm, never npm or yarn", ("npm", "yarn")),
        ("Stop using moment.js", ("moment.js",)),
        ("we moved from Heroku to Kamal", ("heroku",)),
        ("装依赖应该用 uv 而不是 pip", ("pip",)),
        ("包管理从 npm 换成 pnpm", ("npm",)),
        ("Wir nutzen ruff statt flake8", ("flake8",)),
        ("run the linter before pushing", ()),
    ],
)
def test_denials(text: str, denied: tuple[str, ...]) -> None:
    assert denials(text) == denied


def test_a_list_of_choices_is_as_many_facts() -> None:
    text = "in this repo we use pnpm, two-space indent, and no default exports"
    assert enumerated(text, spoken_in(text)) == (
        "in this repo we use pnpm",
        "in this repo we use two-space indent",
        "in this repo we use no default exports",
    )


def test_a_bare_word_says_nothing() -> None:
    assert not says_something("always", spoken_in("always"))
    assert says_something("we use pnpm", spoken_in("we use pnpm"))


def test_tools_of_one_family() -> None:
    assert tools_in("We use pnpm, not npm") == {"package manager js": {"pnpm", "npm"}}
