"""The wording of a clause, weighed; and the patterns of all languages, which take time in proportion."""

import re
import time

import pytest

from cam.language import weighing
from cam.language.lexicon import Language, languages
from cam.language.statements import take_apart
from cam.sync.speech_acts import judge


def odds(text: str) -> float:
    return weighing.wording(take_apart(text).clauses)[0]


@pytest.mark.parametrize(
    ("lasts", "passes"),
    [
        ("the importer only talks to the sandbox tenant", "the importer hangs on the third row"),
        ("releases are cut by the release bot", "cut a release and tell me the tag"),
        ("报表只读从库", "报表打不开，看一下"),
        ("wir deployen nur dienstags", "deploy das bitte jetzt"),
    ],
)
def test_what_lasts_weighs_more(lasts: str, passes: str) -> None:
    assert odds(lasts) > odds(passes) + 1


def test_a_value_is_known_by_its_kind() -> None:
    one, other = (weighing.names(take_apart(f"the api listens on port {n}").clauses) for n in (4100, 5999))
    assert one == other


def test_no_clauses_have_no_odds() -> None:
    assert weighing.wording(()) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("tests run on vitest, whack the jest config", "tests run on vitest"),
        ("we ship arm64 only, nuke the x86 job", "we ship arm64 only"),
        ("die api läuft auf 4100, zieh das skript nach", "die api läuft auf 4100"),
        ("use tabs in go files, not spaces", "use tabs in go files, not spaces"),
    ],
)
def test_a_task_behind_a_comma_is_cut(said: str, fact: str) -> None:
    assert [j.clause.text for j in judge(take_apart(said)) if j.durable] == [fact]


def _sources(lang: Language) -> list[str]:
    rules = [
        p for r in (*lang.cues.all, *lang.vetoes.all) for p in (r.pattern, r.unless, r.cased) if p is not None
    ]
    named = [p for patterns in lang.named.values() for p in patterns]
    return [p.source for p in (*rules, *named, *(p for _, p in (*lang.scopes, *lang.topics)))]


LONG = (
    "the api is in " * 40,
    "我们那个弹道预测现在子弹速度高了以后" * 20,
    "a, " * 200,
    " " * 400,
    "x-y/z.w " * 60,
    "\u00a4" * 400,
)


@pytest.mark.parametrize("lang", languages(), ids=lambda lang: lang.code)
def test_no_pattern_is_slow(lang: Language) -> None:
    for source in _sources(lang):
        pattern = re.compile(source)
        began = time.process_time()
        for text in LONG:
            pattern.search(text)
        assert time.process_time() - began < 2, source
