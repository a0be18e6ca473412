"""How much the wording of a clause speaks for something that lasts: a linear model over its words.

Patterns (the cues and vetoes of a language) know what they know and nothing else. This weighs everything:
each word, each pair of words, each pair of word classes ("pronoun, verb of habit"), where the clause stands
and how its neighbours begin. The weights are data (``languages/_weights.json``), fitted by
``bench/weights.py`` to labelled sentences; a second, small table says how far to trust the wording and
how far the pattern that spoke (``trust``). The sum is in log-odds: above 0 it is likelier to last than not.
"""

import functools
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cam.language.lexicon import FOLDER, Language, languages, tool_names
from cam.language.statements import BLANK_CODE, BLANK_QUOTE, Clause

WEIGHTS = os.path.join(FOLDER, "_weights.json")
_LONG = 80  # words; nobody says more in one clause
_TOKEN = re.compile(
    r"¤+|§+|(?:~|\.{1,2})?/?(?:[\w.@*{}-]+/)+[\w.@*{}-]*|/[\w.-]+"
    r"|[a-z0-9_-]+(?:\.[a-z0-9_-]+)+(?::\d+)?|\d+"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|[a-z\u00df-\u024f_][a-z0-9\u00df-\u024f_+#-]*(?:'[a-z]+)?|[?!:;,=]"
)
_IDENTIFIER = re.compile(r"[a-z][A-Z]|\w_\w")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+")
_CONTRACTED = {
    word.replace("'", ""): word
    for word in (
        "don't doesn't isn't aren't can't won't didn't shouldn't wasn't haven't i'm you're that's there's "
        "it's i've we've let's what's couldn't wouldn't"
    ).split()
} | {"u": "you", "pls": "please", "plz": "please", "ur": "your"}


def wording(clauses: Sequence[Clause]) -> list[float]:
    """The log-odds of each clause of a message by its wording alone."""
    weights, bias = _table()
    weight = weights.get
    return [bias + sum(filter(None, map(weight, features))) for features in names(clauses)]


def trust(wording_odds: float, pattern: str) -> float:
    """The log-odds once ``pattern`` has spoken: ``cue3``, ``veto6`` …, ``none``."""
    table = _trust()
    return table["bias"] + table["wording"] * wording_odds + table.get(pattern, 0.0)


def names(clauses: Sequence[Clause]) -> list[list[str]]:
    """The features of each clause of a message, as the weights name them, each once."""
    tokens = [_tokens(clause) for clause in clauses]
    return [
        list(dict.fromkeys((*_of_words(tokens[index], clause), *_of_place(clauses, tokens, index))))
        for index, clause in enumerate(clauses)
    ]


def _of_words(words: Sequence[str], clause: Clause) -> list[str]:
    """Each word and each class of words, alone and with its neighbours."""
    chain = ("^", *words, "$")
    found = [*words, *map("{} {}".format, chain, chain[1:])]
    found += [f"{place}: {word}" for place, word in enumerate(words[:2])]
    spoken = clause.languages[0]
    if not spoken.classes:
        return found
    kinds = ("^", *(_kind(word, spoken.code) for word in words), "$")
    marked = [f"={kind}" for kind in kinds]
    found += marked[1:-1]
    found += map("{}{}".format, marked, marked[1:])
    found += map("{}{}{}".format, marked, marked[1:], marked[2:])
    found += map("{}{}".format, chain, marked[1:])
    found += map("{} {}".format, marked, chain[1:])
    found.append("".join(marked[1:4]) + "^")
    return found


def _of_place(clauses: Sequence[Clause], tokens: Sequence[tuple[str, ...]], index: int) -> list[str]:
    """Where the clause stands, and how its neighbours begin."""
    clause = clauses[index]
    found = [f"#ends {clause.mark}", f"#long {min(4, (len(tokens[index]) + 3) // 5)}"]
    stands = {
        "item": clause.item,
        "first": index == 0,
        "last": index == len(clauses) - 1,
        "alone": len(clauses) == 1,
        "many": len(clauses) > 3,
    }
    found += [f"#{name}" for name, so in stands.items() if so]
    for other, side in ((index - 1, "before"), (index + 1, "after")):
        if 0 <= other < len(clauses):
            found.append(f"#{side} {tokens[other][0] if tokens[other] else ''}")
            found.append(f"#{side} ends {clauses[other].mark}")
            if clauses[other].sentence == clause.sentence:
                found.append(f"#{side} in sentence")
    return found


def _tokens(clause: Clause) -> tuple[str, ...]:
    found = []
    for hit in _TOKEN.finditer(clause.shadow):
        found.append(_token(hit.group(), clause.text[hit.start() : hit.end()]))
        if len(found) == _LONG:
            break
    return tuple(found)


def _token(word: str, written: str) -> str:  # noqa: PLR0911 - one kind a line
    """A word, or the kind of a value: which port it is says nothing."""
    if word[0] == BLANK_CODE:
        return "<code>"
    if word[0] == BLANK_QUOTE:
        return "<quote>"
    if "/" in word:
        return "<path>"
    if word.isdigit():
        return f"<{min(len(word), 5)} digits>"
    if _VERSION.fullmatch(word):
        return "<version>"
    if word in tool_names():
        return "<tool>"
    if "." in word:
        return "<host>"
    if _IDENTIFIER.search(written):
        return "<identifier>"
    if len(written) > 1 and written.isascii() and written.isupper():
        return "<capitals>"
    return _CONTRACTED.get(word, word)


@functools.lru_cache(maxsize=8192)
def _kind(word: str, code: str) -> str:
    """The class of a word: what its language calls it, else how it ends."""
    if word[0] == "<":
        return word
    named = _language(code).kind_of(word)
    if named is not None:
        return named
    if word.isalpha():
        for ending in ("ing", "ed", "ly", "s"):
            if word.endswith(ending) and len(word) > len(ending) + 2:
                return f"word-{ending}"
        return "word"
    return word


@functools.cache
def _language(code: str) -> Language:
    return next(lang for lang in languages() if lang.code == code)


@functools.cache
def _table() -> tuple[Mapping[str, float], float]:
    data = _data()
    return data["wording"], data["bias"]


@functools.cache
def _trust() -> Mapping[str, float]:
    table: Mapping[str, float] = _data()["trust"]
    return table


@functools.cache
def _data() -> dict[str, Any]:
    with open(WEIGHTS, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found
