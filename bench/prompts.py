"""What a prompt is told of memory: how often that is about it, and how often silence is kept.

    python bench/prompts.py [--half chosen|held|fresh|last] [--misses]

``tests/data/recall`` holds a store of a team's records (``everyday.jsonl`` and, in further languages,
``prompts.jsonl``) and prompts, each with the records that are about it; none for what nobody needs to be
reminded of. ``chosen`` was looked at while the threshold was chosen, ``held`` (every second of the same) and
``fresh`` (written later) after that, and then for the choice as well; ``last`` was written when all was done
and changed nothing: it tells the truth.
Precision is the share of the records shown that are about the prompt; spoken the share of prompts with
something to say that are told something about them; silent the share of the others that are told nothing.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cam.core.operations import MemoryOperation, OperationKind, build_plan
from cam.core.records import MemoryRecord, MemoryScope, new_id
from cam.hosts.prompt_recall import MOST
from cam.recall.prompt import fitting_records
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, transact

HALVES = ("chosen", "held", "fresh", "last")
DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "recall"


class Told(NamedTuple):
    """What one prompt was told.

    Attributes:
        prompt: as typed.
        about: labels of the records that are about it.
        shown: labels of those that it was told.
    """

    prompt: str
    about: frozenset[str]
    shown: tuple[str, ...]


class Figures(NamedTuple):
    """The shares of the module's docstring, and of how many."""

    precision: float
    spoken: float
    silent: float
    prompts: int


def main() -> None:
    """Print the figures of each half."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=HALVES, action="append")
    parser.add_argument("--misses", action="store_true", help="also what was wrong")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for half in options.half or HALVES:
            told = list(ask(Path(folder) / half, half))
            found = figures(told)
            print(
                f"{half:<7} {found.prompts} prompts  precision {found.precision:.3f}  "
                f"spoken {found.spoken:.3f}  silent {found.silent:.3f}"
            )
            for each in told if options.misses else ():
                if set(each.shown) - each.about or (each.about and not each.shown):
                    print(f"    {each.prompt!r}: {', '.join(each.shown) or 'silence'}")


def ask(root: Path, half: str) -> Iterator[Told]:
    """Every prompt of a half, asked of a store at ``root`` as the hook asks."""
    lines = [*_lines("everyday.jsonl"), *_lines("prompts.jsonl")]
    labels: dict[str, str] = {}
    operations = []
    for each in (line["record"] for line in lines if "record" in line):
        name = new_id(each["summary"], sha256(each["summary"].encode()).hexdigest())
        labels[name] = each["label"]
        record = MemoryRecord(
            MemoryScope.PROJECT, each["topic"], name, each["summary"], tuple(each["details"])
        )
        operations.append(MemoryOperation(OperationKind.ADD, record, "said"))
    store = MarkdownStore(StoreLayout(str(root), "p", "p"))
    transact(store, lambda snapshot: (build_plan(operations, snapshot.records), None))
    for line in lines:
        if line.get("half") == half:
            found = fitting_records(store.layout, line["prompt"], MOST, surely=True)
            yield Told(
                line["prompt"], frozenset(line["about"]), tuple(labels[record.id] for record, _ in found)
            )


def figures(told: Iterable[Told]) -> Figures:
    """The shares over some prompts."""
    told = list(told)
    shown = [(label, each) for each in told for label in each.shown]
    relevant = [each for each in told if each.about]
    others = [each for each in told if not each.about]
    return Figures(
        sum(label in each.about for label, each in shown) / max(1, len(shown)),
        sum(bool(each.about.intersection(each.shown)) for each in relevant) / max(1, len(relevant)),
        sum(not each.shown for each in others) / max(1, len(others)),
        len(told),
    )


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
