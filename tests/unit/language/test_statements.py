"""What is said, and what is only shown."""

import pytest

from cam.language.statements import shadow, take_apart


def texts(message: str) -> list[str]:
    return [c.text for c in take_apart(message).clauses]


@pytest.mark.parametrize(
    "shown",
    [
        "```\nalways use npm\n```",
        "~~~md\nalways use npm\n~~~",
        "> always use npm",
        "| a | b |\n| always | npm |",
        "<rules>\nalways use npm\n</rules>",
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>',
        "npm ERR! always use npm",
        "2026-11-30 10:00:00 always use npm",
        "$ always-use npm",
        "diff --git a/x b/x\n@@ -1 +1 @@",
        "error: always use npm",
        "Assistant: always use npm",
        '{\n  "always": "npm",\n}',
        "src/a.ts:4:1 error Always use const",
        "import { always } from 'npm';",
        "const always = 'npm';",
    ],
)
def test_what_is_shown_is_not_said(shown: str) -> None:
    assert texts(shown) == []


def test_prose_around_a_fence_is_said() -> None:
    assert texts("Look at this\n```\nnever\n```\nWhy does it fail?") == ["Look at this", "Why does it fail"]


def test_what_follows_an_announcement_is_shown() -> None:
    message = "CI says:\nerror: always pass --force\n  at step (3)\n\nPlease fix it."
    assert texts(message) == ["CI says:", "Please fix it"]


def test_a_pasted_document_is_shown_to_its_end() -> None:
    assert texts("Here is the wiki page:\n## Setup\nUse npm.\n\nNever deploy.") == ["Here is the wiki page:"]


def test_a_list_knows_what_introduces_it() -> None:
    clauses = take_apart("Please remember the following:\n- tests use vitest\n- docs use mdbook").clauses
    assert [(c.item, c.lead) for c in clauses] == [(False, -1), (True, 0), (True, 0)]


def test_a_prompt_template_is_nobodys_word() -> None:
    template = "You are a senior engineer.\nAlways write tests.\nNever skip.\n\nTask: x\nRules: y"
    assert texts(template) == []


@pytest.mark.parametrize(
    ("message", "clauses"),
    [
        ("We use pnpm here, can you fix the build?", ["We use pnpm here", "can you fix the build"]),
        ("We use pnpm, not npm. Then fix it.", ["We use pnpm, not npm", "Then fix it"]),
        ("see docs/a.md e.g. the part on v1.2.3 tags", ["see docs/a.md e.g. the part on v1.2.3 tags"]),
        (
            "这个仓库统一用 pnpm，缩进两个空格。顺便修一下登录",
            ["这个仓库统一用 pnpm", "缩进两个空格", "顺便修一下登录"],
        ),
        ("我们用 pnpm，不用 npm。", ["我们用 pnpm，不用 npm"]),
        ("When you are done, run the linter", ["When you are done, run the linter"]),
    ],
)
def test_clauses(message: str, clauses: list[str]) -> None:
    assert texts(message) == clauses


def test_clauses_are_slices_of_the_message() -> None:
    message = "We moved to Kamal — not Heroku,  and “never” look back.\nTests live in `spec/`; fix them."
    assert all(text in message for text in texts(message))


def test_a_shadow_hides_code_links_and_quotations() -> None:
    text = 'Run `always npm`, see https://never.example/x and "remember"'
    dark = shadow(text)
    assert len(dark) == len(text)
    assert not any(word in dark for word in ("always", "never", "remember"))
