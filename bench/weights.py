"""Fit the weights of the wording to the labelled sentences: cam/language/languages/_weights.json.

Usage: .venv/bin/python bench/weights.py [--errors] [MORE.txt|MORE.jsonl ...]

Reads tests/data/extraction: ``*.txt`` (a line is ``+ TEXT => KEY | KEY`` or ``- TEXT``) and ``*.jsonl``
(sessions with labels). A clause that holds a key lasts, every other one does not. Two fits, both logistic
regressions with a ridge: the wording on everything; then how far to trust it and the patterns, on
what the patterns were not written for, with odds from folds that had not seen the message. No random numbers:
the same sentences give the same weights. Takes half a minute.
"""

import argparse
import glob
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from extraction import HELD_OUT
from labelled import ROOT

from cam.language import weighing
from cam.language.statements import take_apart
from cam.sync.speech_acts import by_patterns

DATA = os.path.join(ROOT, "tests", "data", "extraction")
UNSEEN = ("taught", "blind-b", "tune", "spoken-a")
"""Beginnings of the names of files that the patterns were not written for."""
FOLDS = 8
RIDGE = 0.5
LEAST = 0.02


@dataclass(frozen=True, slots=True)
class Example:
    """One clause: its features, the pattern that spoke, whether it lasts, and where it stands."""

    names: tuple[str, ...]
    pattern: str
    lasts: bool
    group: int
    unseen: bool
    text: str


def main() -> int:
    """Fit, write, and print how well it does on folds it has not seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("more", nargs="*")
    parser.add_argument("--errors", action="store_true", help="print what the folds got wrong")
    options = parser.parse_args()
    paths = [p for p in sorted(glob.glob(os.path.join(DATA, "*"))) if os.path.basename(p) not in HELD_OUT]
    examples = list(_examples([*paths, *options.more]))
    counts = Counter(name for e in examples for name in e.names)
    examples = [_without_rare(e, counts) for e in examples]
    odds = [0.0] * len(examples)
    for fold in range(FOLDS):
        table, bias = fit([e for e in examples if e.group % FOLDS != fold])
        for n, e in enumerate(examples):
            if e.group % FOLDS == fold:
                odds[n] = bias + sum(table.get(name, 0.0) for name in e.names)
    unseen = [(e, z) for e, z in zip(examples, odds, strict=True) if e.unseen]
    trust, bias = fit_trust(unseen)
    _report(unseen, trust, bias, errors=options.errors)
    table, wording_bias = fit(examples)
    wording = {k: round(v, 2) for k, v in sorted(table.items()) if abs(v) >= LEAST}
    data = {
        "bias": round(wording_bias, 3),
        "trust": {"bias": round(bias, 3)} | {k: round(v, 3) for k, v in sorted(trust.items())},
        "wording": wording,
    }
    with open(weighing.WEIGHTS, "w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, indent=0)
        file.write("\n")
    print(f"{len(examples)} clauses, {len(wording)} weights")
    return 0


def messages(path: str) -> Iterator[tuple[str, list[list[str]]]]:
    """The messages of a file and the keys of what lasts in each."""
    if path.endswith(".txt"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                text, _, keys = line[2:].strip().partition(" => ")
                if line[:2] in ("+ ", "~ "):
                    yield text, [[key.strip().casefold()] for key in keys.split("|")]
                elif line[:2] == "- ":
                    yield line[2:].strip(), []
    elif path.endswith(".jsonl"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                case = json.loads(line)
                if case.get("seed") and not case["want"]:
                    continue  # said again: it lasts, and no label says so
                wants = [[key.casefold() for key in want["keys"]] for want in case["want"]]
                yield from ((m["text"], wants) for m in case["messages"] if m.get("role") == "user")


def fit(examples: Sequence[Example]) -> tuple[dict[str, float], float]:
    """Weights by name, and the bias."""
    index = {name: n for n, name in enumerate(sorted({name for e in examples for name in e.names}))}
    rows = [([index[name] for name in e.names], 1.0 if e.lasts else 0.0) for e in examples]
    weights, bias = _regress(rows, len(index))
    return {name: weights[n] for name, n in index.items()}, bias


def fit_trust(unseen: Sequence[tuple[Example, float]]) -> tuple[dict[str, float], float]:
    """How much the wording's odds and each pattern add; and the bias."""
    patterns = sorted({e.pattern for e, _ in unseen})
    weights = dict.fromkeys(["wording", *patterns], 0.0)
    bias = 0.0
    for step in range(4000):
        rate = 1.0 / (1 + step / 400)
        slope = dict.fromkeys(weights, 0.0)
        for key, value in weights.items():
            slope[key] = 0.5 * value / len(unseen)
        lean = 0.0
        for e, z in unseen:
            miss = _share(bias + weights["wording"] * z + weights[e.pattern]) - e.lasts
            slope["wording"] += miss * z / len(unseen) / 4
            slope[e.pattern] += miss / len(unseen) * 4
            lean += miss / len(unseen)
        for key in weights:
            weights[key] -= rate * slope[key]
        bias -= rate * lean
    return weights, bias


def _regress(rows: Sequence[tuple[list[int], float]], width: int) -> tuple[list[float], float]:
    """Logistic regression with a ridge, by gradient steps scaled to each feature's history (AdaGrad)."""
    weights = [0.0] * width
    scale = [1e-8] * width
    bias, bias_scale = 0.0, 1e-8
    often = [0] * width
    for names, _ in rows:
        for n in names:
            often[n] += 1
    ridge = [RIDGE / max(1, count) for count in often]  # each row carries its share
    for epoch in range(24):
        rate = 0.25 / (1 + epoch / 6)
        for names, lasts in rows[:: 1 if epoch % 2 else -1]:
            total = bias
            for n in names:
                total += weights[n]
            miss = _share(total) - lasts
            for n in names:
                slope = miss + ridge[n] * weights[n]
                scale[n] += slope * slope
                weights[n] -= rate * slope / math.sqrt(scale[n])
            bias_scale += miss * miss
            bias -= rate * miss / math.sqrt(bias_scale)
    return weights, bias


def _share(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -60 else 0.0


def _examples(paths: Iterable[str]) -> Iterator[Example]:
    group = 0
    for path in paths:
        unseen = os.path.basename(path).startswith(UNSEEN)
        for text, wants in messages(path):
            group += 1
            clauses = take_apart(text).clauses
            named = weighing.names(clauses)
            spoken = by_patterns(clauses)
            for clause, names, pattern in zip(clauses, named, spoken, strict=True):
                low = clause.text.casefold()
                whole = any(all(key in low for key in keys) for keys in wants)
                if not whole and any(key in low for keys in wants for key in keys):
                    continue  # part of a fact that the clauses share
                yield Example(tuple(names), pattern, whole, group, unseen, clause.text)


def _without_rare(e: Example, counts: Counter[str]) -> Example:
    names = tuple(name for name in e.names if counts[name] > 1)
    return Example(names, e.pattern, e.lasts, e.group, e.unseen, e.text)


def _report(
    unseen: Sequence[tuple[Example, float]], trust: dict[str, float], bias: float, *, errors: bool
) -> None:
    scored = sorted(
        ((bias + trust["wording"] * z + trust[e.pattern], z, e) for e, z in unseen), key=lambda row: row[0]
    )
    for least in (-0.5, 0.0, 0.5, 1.0):
        kept = [e.lasts for odds, _, e in scored if odds > least]
        print(
            f"odds > {least}: precision {sum(kept) / len(kept):.3f} "
            f"recall {sum(kept) / sum(e.lasts for e, _ in unseen):.3f}"
        )
    for odds, z, e in scored if errors else ():
        if (odds > 0.3) != e.lasts:
            print(f"{odds:6.2f} {z:6.2f} {'+' if e.lasts else '-'} {e.pattern:8} {e.text[:110]!r}")
    print({k: round(v, 2) for k, v in sorted(trust.items())}, round(bias, 2))


if __name__ == "__main__":
    raise SystemExit(main())
