"""Write the marks of the rules, which say where a rule need not be asked: cam/language/languages/_marks.json.

Usage: .venv/bin/python bench/marks.py

A mark is a short piece of text. Whatever a rule matches holds one of its marks at least, so a clause that
holds none of them need not be searched (``lexicon.Rules``). Read from the parsed pattern: of all pieces that
it must hold, those are taken that stand in the fewest of the labelled sentences. A rule of which nothing is
known has no marks and is always asked. To be run after a cue or veto was changed; a test says so.
"""

import functools
import glob
import json
import os
import re._constants as sre
import re._parser as parser
from collections import Counter
from collections.abc import Iterable
from typing import Any

from labelled import ROOT

from cam.language.lexicon import MARK_LENGTH, MARKS, languages, mark_key
from cam.language.statements import take_apart

_MOST = 60
"""Texts that are spelled out where a pattern leaves a choice."""

Texts = frozenset[str]


def main() -> None:
    """Write the marks of all rules."""
    found = {}
    for lang in languages():
        for rule in (*lang.cues.all, *lang.vetoes.all):
            marks = marks_of(rule.pattern.source)
            if marks:
                found[mark_key(rule.pattern.source)] = sorted(marks)
    with open(MARKS, "w", encoding="utf-8") as file:
        lines = (f"{json.dumps(key)}: {json.dumps(found[key], ensure_ascii=False)}" for key in sorted(found))
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(found)} rules, {sum(map(len, found.values()))} marks")


def marks_of(pattern: str) -> Texts:
    """The marks of a pattern; none where it may match without any.

    Raises:
        re.error: it is no pattern.
    """
    tree = parser.parse(pattern)
    if tree.state.flags & (sre.SRE_FLAG_IGNORECASE | sre.SRE_FLAG_VERBOSE):
        return frozenset()
    _, held = _sequence(tree)
    return frozenset(_mark(text) for text in held or ())


def _sequence(items: Iterable[Any]) -> tuple[Texts | None, Texts | None]:
    """What the items match in order: every text if those are few; and texts of which each match holds one."""
    run: Texts = frozenset({""})  # what the last items match
    held: Texts | None = None
    is_whole = True
    for kind, value in items:
        texts, inner = _item(kind, value)
        held = _rarer(held, inner)
        if texts is not None and len(texts) * len(run) <= _MOST:
            run = frozenset(before + text for before in run for text in texts)
        else:
            held, is_whole = _rarer(held, _as_held(run)), False
            run = texts if texts is not None else frozenset({""})
    return (run if is_whole else None), _rarer(held, _as_held(run))


def _item(kind: Any, value: Any) -> tuple[Texts | None, Texts | None]:
    """The same of one item."""
    if kind is sre.LITERAL:
        return frozenset({chr(value)}), None
    if kind is sre.IN:
        return _choice_of(value), None
    if kind is sre.SUBPATTERN:
        _, added, removed, inner = value
        return (None, None) if added or removed else _sequence(inner)
    if kind is sre.ATOMIC_GROUP:
        return _sequence(value)
    if kind is sre.BRANCH:
        return _branches([_sequence(branch) for branch in value[1]])
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, inner = value
        texts, held = _sequence(inner)
        if not least:
            held, texts = None, texts | {""} if texts is not None else None
        return (texts if most == 1 else None), held
    if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return frozenset({""}), None  # what stands beside a match is no part of it
    return None, None


def _choice_of(members: Iterable[Any]) -> Texts | None:
    texts: set[str] = set()
    for kind, value in members:
        if kind is sre.LITERAL:
            texts.add(chr(value))
        elif kind is sre.RANGE and value[1] - value[0] < _MOST:
            texts.update(map(chr, range(value[0], value[1] + 1)))
        else:
            return None
    return frozenset(texts) if len(texts) <= _MOST else None


def _branches(found: list[tuple[Texts | None, Texts | None]]) -> tuple[Texts | None, Texts | None]:
    texts = [texts for texts, _ in found if texts is not None]
    all_texts = frozenset().union(*texts) if len(texts) == len(found) else None
    held = [inner for _, inner in found if inner is not None]
    all_held = frozenset().union(*held) if len(held) == len(found) else None
    return (all_texts if all_texts is not None and len(all_texts) <= _MOST else None), all_held


def _as_held(texts: Texts | None) -> Texts | None:
    """Texts of which each match holds one; None where one of them is empty."""
    return texts if texts is not None and "" not in texts else None


def _rarer(one: Texts | None, other: Texts | None) -> Texts | None:
    if one is None or other is None:
        return one if other is None else other
    return min(
        one, other, key=lambda texts: (sum(_counts()[_mark(t)] for t in texts), len(texts), sorted(texts))
    )


@functools.cache
def _mark(text: str) -> str:
    """The piece of a text, at most as long as marks are, that stands in the fewest sentences."""
    pieces = (text[i : i + MARK_LENGTH] for i in range(max(1, len(text) - MARK_LENGTH + 1)))
    return min(pieces, key=lambda piece: (_counts()[piece], piece))


@functools.cache
def _counts() -> Counter[str]:
    """In how many clauses of the labelled sentences each piece of text stands."""
    counts: Counter[str] = Counter()
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "data", "extraction", "*.txt"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                for clause in take_apart(line.lstrip("+- ")).clauses:
                    shade = clause.shadow
                    counts.update(
                        {shade[i : i + n] for n in range(1, MARK_LENGTH + 1) for i in range(len(shade))}
                    )
    return counts


if __name__ == "__main__":
    main()
