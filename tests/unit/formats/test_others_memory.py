"""What other tools keep, taken apart: each note once, nothing that is only markup."""

from hypothesis import given
from hypothesis import strategies as st

from cam.formats.others_memory import claude_notes, instruction_notes, native_notes, summary_notes

AGENTS = """\
# Rules

Always answer in
English.

- Use `make lint` before a commit
  - it takes 3 s
  * and needs node

  An indented paragraph of the item.
- Never push to main
continues lazily
1. First build
- [ ] open the door

| a | b |
|---|---|

```sh
- not this
```
<!-- cam:guidance:start -->
- nor this
<!-- cam:guidance:end -->
<!--
- nor that
-->
> quoted
Last words
"""

NATIVE = """\
# Task Group: shop / tests
scope: how its tests are run
applies_to: cwd=/src/shop; reuse_rule=safe here

## Task 1: run the tests, done
### rollout_summary_files
- rollout_summaries/a.md (cwd=/src/shop, thread_id=1)
### keywords
- make, test

## User preferences
- when testing, the user asked: "run make fast" -> run it first [Task 1]
## Reusable knowledge
- Redis must run for the tests [Task 1][Task 2]
## Failures and how to do differently
- timeouts -> Redis was down -> start it

# Task Group: everywhere
scope: anything
applies_to: any workflow; reuse_rule=always
## Reusable knowledge
- ripgrep is installed
"""


def test_an_instruction_file_gives_its_items_and_paragraphs() -> None:
    assert [(n.text, n.details, n.line) for n in instruction_notes(AGENTS)] == [
        ("Always answer in English.", (), 3),
        (
            "Use `make lint` before a commit",
            ("it takes 3 s", "and needs node", "An indented paragraph of the item."),
            6,
        ),
        ("Never push to main continues lazily", (), 11),
        ("First build", (), 13),
        ("open the door", (), 14),
        ("Last words", (), 29),
    ]
    assert instruction_notes(AGENTS.replace("\n", "\r\n")) == instruction_notes(AGENTS)


def test_claude_s_files_are_one_note_each_and_its_index_is_none() -> None:
    head = "---\nname: user_role\ndescription: A Go developer\ntype: user\n---\n"
    (found,) = claude_notes(f"{head}\nA Go developer\nNew to React.\n")
    assert (found.text, found.details, found.topic) == ("A Go developer", ("New to React.",), "preferences")
    (bare,) = claude_notes("---\nname: x\n---\nFirst line\nSecond\n")
    assert (bare.text, bare.details) == ("First line", ("Second",))
    assert claude_notes("---\nname: x\n---\n") == []
    index = "- [Role](user_role.md) — dev\n- [Gone](gone.md) – x\n- Prefers short answers\n"
    texts = [n.text for n in claude_notes(index, frozenset({"user_role.md"}))]
    assert texts == ["[Gone](gone.md) – x", "Prefers short answers"]
    assert [n.text for n in claude_notes("---\nnot closed\n- a\n")] == ["not closed", "a"]


def test_codex_s_memory_gives_its_guidance_with_the_folder_it_is_about() -> None:
    assert [(n.text, n.folder, n.topic) for n in native_notes(NATIVE)] == [
        ('when testing, the user asked: "run make fast" -> run it first', "/src/shop", "preferences"),
        ("Redis must run for the tests", "/src/shop", None),
        ("timeouts -> Redis was down -> start it", "/src/shop", None),
        ("ripgrep is installed", "", None),
    ]


def test_codex_s_summary_gives_what_the_person_prefers() -> None:
    text = """v1

## User Profile
The user paints boats blue.

## User preferences
- Answer in English [Task 1]
- Prefers pnpm
  over npm

## General Tips
- Redis must run for the tests

## What's in Memory
### /src/shop
#### 2026-11-30
- rollout_summaries/2026-11-30-deploy.md — how the shop is deployed; thread_id=1
"""
    assert [(n.text, n.details, n.topic) for n in summary_notes(text)] == [
        ("Answer in English", (), "preferences"),
        ("Prefers pnpm", ("over npm",), "preferences"),
        ("Redis must run for the tests", (), None),
    ]
    assert summary_notes(NATIVE)[0].topic == "preferences"


LINE = st.sampled_from(
    [
        "- a", "  b", "", "# h", "```", "~~~", "<!-- x", "-->", "<!-- c:start -->", "<!-- c:end -->", "1) x",
        "> q", "| t", "---", "word", "* [Task 1]", "applies_to: cwd=/x;", "## Reusable knowledge",
    ]
)  # fmt: skip


@given(st.lists(LINE, max_size=25))
def test_any_text_is_taken_apart_without_a_line_twice(lines: list[str]) -> None:
    text = "\n".join(lines)
    for split in (instruction_notes, claude_notes, native_notes, summary_notes):
        notes = split(text)
        assert all(note.text.strip() and "\n" not in note.text for note in notes)
        assert len({note.line for note in notes}) == len(notes)
