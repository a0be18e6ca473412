"""Each language's data, with its own examples: what it keeps, and what it lets pass."""

import re
from collections.abc import Callable

import pytest

from cam.language.lexicon import languages, spoken_in, tool_families

KEPT = {
    "en": [
        "Remember that the seed script runs before the e2e suite.",
        "From now on squash merge pull requests.",
        "Always run `make fmt` before committing.",
        "We deploy with Kamal, not Heroku any more.",
        "you keep adding comments, stop that",
        "The log file is in /var/log/shop/api.log",
        "Branches should be named feat/<ticket>.",
        "don't touch the lock file again",
        "the worker only starts with QUEUE_URL set",
        'when I say "ship it" I mean commit and push',
        "i'm on WSL2",
        "Feature flags default to off in production.",
    ],
    "zh": [
        "请记住，测试环境的地址是 http://test.example.com:8080",
        "以后提交信息一律用英文",
        "不要再自动提交代码了",
        "我们用 pnpm，不用 npm。",
        "包管理从 npm 换成 pnpm 了",
        "后端日志在 /data/logs/app.log",
        "禁止在 controller 里写 SQL",
        "改动之前先问我",
    ],
    "ja": [
        "今後、コミットメッセージは英語で書いてください。",
        "覚えておいて：本番のログは /var/log/app にある",
        "勝手にコミットしないでください。",
        "このプロジェクトでは pnpm を使っています。",
    ],
    "de": [
        "Ab jetzt bitte alle Commit-Nachrichten auf Englisch schreiben.",
        "Merk dir: die Testdatenbank läuft auf Port 5433.",
        "Wir benutzen hier pnpm, nicht npm.",
        "Nie direkt auf main pushen!",
    ],
    "es": [
        "Recuerda que los tests se ejecutan con `make pruebas`.",
        "A partir de ahora responde siempre en español.",
        "En este proyecto usamos pnpm, no npm.",
        "No hagas commits sin preguntarme.",
    ],
    "fr": [
        "Souviens-toi que les migrations sont dans db/migrate.",
        "Désormais on utilise ruff au lieu de flake8.",
        "Réponds toujours en français.",
        "Ne commite jamais sans me demander.",
    ],
}
PASSED = {
    "en": [
        "Do you remember that Redis bug?",
        "What if we use Kafka?",
        "Maybe we should use vitest at some point.",
        "Just for this session always use the mock server.",
        "The submit button must always be disabled until the form is valid.",
        "The other team told me they always use Bazel.",
        "don't write any code yet",
        "add a test and remember to update the docs",
        "ok thanks",
    ],
    "zh": [
        "你还记得上次那个问题吗",
        "如果以后要支持多租户，可以加一个字段",
        "这次先不要改数据库",
        "提交按钮必须在表单校验通过后才能点击",
        "产品说以后都要支持深色模式",
        "好的，继续",
    ],
    "ja": [
        "とりあえず今回はテストを飛ばして",
        "もし必要ならRedisを使うかもしれません",
        "ログインボタンは常に右上に表示されるべきです",
    ],
    "de": [
        "Vielleicht sollten wir irgendwann umsteigen.",
        "Der Button soll immer rechts unten angezeigt werden.",
        "Nimm erstmal SQLite.",
    ],
    "es": [
        "¿Recuerdas el error de ayer?",
        "Por ahora usa el servidor de pruebas.",
        "El botón debe estar siempre visible",
    ],
    "fr": [
        "Est-ce que tu te souviens du bug ?",
        "Peut-être qu'on devrait utiliser Bun.",
        "Le bouton doit toujours être visible",
    ],
}


def test_every_language_has_examples() -> None:
    assert {lang.code for lang in languages()} == KEPT.keys() == PASSED.keys()


@pytest.mark.parametrize("text", [t for texts in KEPT.values() for t in texts])
def test_kept(text: str, facts: Callable[..., list[str]]) -> None:
    assert len(facts(text)) == 1


@pytest.mark.parametrize("text", [t for texts in PASSED.values() for t in texts])
def test_let_pass(text: str, facts: Callable[..., list[str]]) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(("text", "code"), [(t, code) for code, texts in KEPT.items() for t in texts[:3]])
def test_a_language_is_recognised(text: str, code: str) -> None:
    assert code in {lang.code for lang in spoken_in(text)}


def test_every_pattern_compiles_and_hits_no_empty_text() -> None:
    for lang in languages():
        for rule in (*lang.cues.all, *lang.vetoes.all):
            assert re.compile(rule.pattern.source).search("") is None, (lang.code, rule.name)
            assert rule.unless is None or re.compile(rule.unless.source)
        for patterns in lang.named.values():
            assert all(re.compile(p.source) for p in patterns)


def test_rule_names_are_unique() -> None:
    for lang in languages():
        names = [rule.name for rule in (*lang.cues.all, *lang.vetoes.all)]
        assert len(names) == len(set(names)), lang.code


def test_one_tool_has_few_families() -> None:
    assert all(len(families) <= 2 for families in tool_families().values())
