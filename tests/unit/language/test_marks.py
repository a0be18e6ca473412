"""The marks of the rules: none is left out that would match."""

import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cam.core.extraction import SpeechAct
from cam.language.lexicon import MARKS, LazyPattern, Rule, Rules, languages, mark_key
from cam.language.statements import take_apart
from tests.labelled import bench, path_of

marks = bench("marks")

RULES = [(kind, rule) for lang in languages() for kind in (lang.cues, lang.vetoes) for rule in kind.all]
SENTENCES = [
    line.lstrip("+- ")
    for name in ("taught.txt", "taught-east.txt", "taught-west.txt")
    for line in Path(path_of("extraction", name)).read_text(encoding="utf-8").splitlines()[::7]
]


def test_marks_are_those_of_the_rules_as_they_are() -> None:
    known = json.loads(Path(MARKS).read_text())
    found = {mark_key(rule.pattern.source) for _, rule in RULES if marks.marks_of(rule.pattern.source)}
    assert known.keys() == found, "run bench/marks.py"


def test_most_rules_are_not_asked() -> None:
    clauses = [clause for sentence in SENTENCES for clause in take_apart(sentence).clauses]
    asked = sum(len(list(lang.cues.of(c.shadow))) for c in clauses for lang in c.languages)
    assert asked < sum(len(lang.cues.all) for c in clauses for lang in c.languages) / 4


def test_no_rule_that_matches_a_sentence_is_left_out() -> None:
    for clause in (clause for sentence in SENTENCES for clause in take_apart(sentence).clauses):
        for lang in clause.languages:
            for kind in (lang.cues, lang.vetoes):
                asked = set(map(id, kind.of(clause.shadow)))
                left_out = [r for r in kind.all if r.pattern.search(clause.shadow) and id(r) not in asked]
                assert [rule.name for rule in left_out] == []


@given(st.data())
def test_no_rule_that_matches_a_text_made_for_it_is_left_out(data: st.DataObject) -> None:
    kind, rule = data.draw(st.sampled_from(RULES))
    text = data.draw(st.from_regex(re.compile(rule.pattern.source)))
    assert not rule.pattern.search(text) or rule in kind.of(text)


@given(
    st.recursive(
        st.sampled_from(["a", "bc", r"\w", ".", "[ab]", "[^a]", r"\b", "x?", "(?<=a)b", "(?!c)"]),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=4).map("".join),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
            st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,3}"])).map(
                lambda p: f"(?:{p[0]}){p[1]}"
            ),
        ),
        max_leaves=8,
    ),
    st.data(),
)
def test_whatever_a_pattern_matches_holds_one_of_its_marks(pattern: str, data: st.DataObject) -> None:
    found = marks.marks_of(pattern)
    hit = re.search(pattern, data.draw(st.from_regex(re.compile(pattern))))
    assert hit is not None
    assert not found or any(mark in hit.group() for mark in found)


def test_a_rule_without_marks_is_always_asked() -> None:
    unknown = Rule("new", SpeechAct.RULE, 3, LazyPattern(r"\w\d\d"))
    assert list(Rules([unknown]).of("anything")) == [unknown]
    assert marks.marks_of("(?i)push") == frozenset()
