"""Labelled sessions, what the benches of extraction and continuity share: files, playing them, printing.

A file holds one session in JSON a line. Half of each new set is held out: nobody reads its texts while what
it measures is worked on, so its figures alone are printed.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, ROOT)

Case = dict[str, Any]


def load(path: str) -> list[Case]:
    """The cases of a file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def report(
    about: str,
    folder: str,
    play: Callable[[Case], Any],
    measure: Callable[[Sequence[Any]], Mapping[str, float]],
    wrong: Callable[[Any], Mapping[str, Any]],
    held_out: Sequence[str] = (),
) -> int:
    """Print the figures of each file named on the command line, or of all.

    Args:
        about: the bench's docstring.
        folder: below ``tests/data``.
        play: what one case gives; it has an ``id``.
        measure: the figures of all rows of a file.
        wrong: what a row got wrong, by kind.
        held_out: names of files of which ``--verbose`` shows nothing more.
    """
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=about, formatter_class=form)
    data = os.path.join(ROOT, "tests", "data", folder)
    names = sorted(n for n in os.listdir(data) if n.endswith(".jsonl"))
    parser.add_argument("cases", nargs="*", default=[os.path.join(data, n) for n in names])
    parser.add_argument("--verbose", action="store_true", help="what was wrong, but for held-out files")
    options = parser.parse_args()
    for path in options.cases:
        name = os.path.basename(path)
        began = time.perf_counter()
        rows = [play(case) for case in load(path)]
        took = time.perf_counter() - began
        for row in rows if options.verbose and name not in held_out else ():
            found = {kind: what for kind, what in wrong(row).items() if what}
            if found:
                print(row.id, *(f"{kind}={what}" for kind, what in found.items()), sep="\n    ")
        shown = "  ".join(f"{kind} {round(figure, 3)}" for kind, figure in measure(rows).items())
        print(f"{name}: {shown}  ({took:.2f} s)")
    return 0
