"""How well recall finds things, and how fast: against other engines and floors in the same run.

    python bench/recall.py FOLDER [--shape summary|lines] [--half]
    python bench/recall.py --everyday
    python bench/recall.py --speed [--sizes 100 1000 10000 100000] [--runs N]

``FOLDER`` holds ``*.jsonl``, a collection a line: ``{"collection", "docs": [{"id", "text"}], "queries":
[{"q", "gold": [ids], "cat"}]}``. Each collection is searched on its own, each document is one record.
Recall@k is the share of a query's gold ids in the top k, averaged over queries; MRR that of the first gold id
in the top 100; hit@1 the share of queries whose first result is gold. Queries of category 5 have no answer
and are left out.

``--everyday`` searches the questions of a working day that the tests ask (``tests/data/recall``).

``--half`` reports every second collection of a file apart: one half is for choosing weights, the other for
telling the truth about them.

``--speed`` fills a store of each size. Cold is a new process, against ``python -c pass`` and, where it is
installed, ``rg`` over the same Markdown; warm is the same question in a process that has answered before. The
smallest of the runs counts.
"""

import argparse
import json
import math
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.startup import fill, room
from cam.core.ranking import Index, document_of, rank_in
from cam.core.records import MemoryRecord, MemoryScope, new_id, split_text
from cam.recall.flow import Recall
from cam.recall.request import SearchRequest, TimelineRequest
from cam.store.layout import StoreLayout
from cam.system.clock import now_stamp

MANY = "cache worker service config module"
"""Five words of which nearly every record holds one: the most that a search has to weigh."""
MEASURES = ("R@1", "R@5", "R@10", "MRR", "hit@1")
Search = Callable[[str], list[int]]
Engine = Callable[[list[str]], Search]


def main() -> None:
    """Measure every file of a folder, or the speed."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("folder", type=Path, nargs="?", help="of labelled sets")
    arguments.add_argument("--everyday", action="store_true")
    arguments.add_argument("--speed", action="store_true")
    arguments.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000])
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--shape", choices=("summary", "lines"), default="lines", help="of a record")
    arguments.add_argument("--half", action="store_true")
    arguments.add_argument("--engine", action="append", help="only these")
    options = arguments.parse_args()
    if options.speed:
        for size in options.sizes:
            with tempfile.TemporaryDirectory() as folder:
                speed(Path(folder), size, options.runs)
        return
    if options.folder is None and not options.everyday:
        arguments.error("FOLDER, --everyday or --speed")
    engines: dict[str, Engine] = {
        "cam": lambda texts: cam(texts, options.shape),
        "cortex": cortex,
        "fts5": fts5,
        "grep": grep,
    }
    measures = " ".join(f"{name:>6}" for name in MEASURES)
    print(f"{'set':28} {'engine':7} {'queries':>7} {measures} {'ms/q':>7}")
    for stem, collections in everyday() if options.everyday else labelled(options.folder):
        for name, group in groups(stem, collections, half=options.half):
            for engine, build in engines.items():
                if not options.engine or engine in options.engine:
                    report(name, engine, measure(build, group))


def labelled(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The labelled sets of a folder, with their names."""
    for path in sorted(folder.glob("*.jsonl")):
        yield path.stem, [json.loads(line) for line in path.open(encoding="utf-8")]


def everyday() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The questions of a working day as such a set."""
    path = Path(__file__).resolve().parents[1] / "tests" / "data" / "recall" / "everyday.jsonl"
    lines = [json.loads(line) for line in path.open(encoding="utf-8")]
    records = [line["record"] for line in lines if "record" in line]
    docs = [{"id": r["label"], "text": "\n".join((r["summary"], *r["details"]))} for r in records]
    queries = [{"q": line["query"], "gold": line["gold"], "cat": 0} for line in lines if "query" in line]
    yield "everyday", [{"collection": "everyday", "docs": docs, "queries": queries}]


def speed(root: Path, records: int, runs: int) -> None:
    """Print what a search, a timeline and details cost at one size, cold and warm."""
    repo, env, cam = room(root)
    fill(repo, env, cam, records)

    def ask(*line: str) -> str:
        done = subprocess.run(line, cwd=repo, env=env, capture_output=True, text=True, check=False)
        return done.stdout

    query = "cache of the worker"
    found = json.loads(ask(cam, "recall", "search", query, "--json"))["data"]
    ref = found["items"][0]["ref"]
    time.sleep(2)  # files as young as the index have their content compared
    store = root / "home" / ".codex-auto-memory"
    project = next((store / "projects").iterdir()).name
    cold = {
        "python -c pass": (sys.executable, "-c", "pass"),
        "search": (cam, "recall", "search", query),
        "search, 5 words": (cam, "recall", "search", MANY),
        "timeline": (cam, "recall", "timeline", ref),
        "details": (cam, "recall", "details", ref),
    }
    if rg := shutil.which("rg"):
        cold["rg"] = (rg, "--glob", "*.md", "cache|worker", str(store / "projects"))
    floor = 0.0
    print(f"{records:,} records, {found['total']:,} match")
    for name, line in cold.items():
        best = best_of(runs, lambda line=line: ask(*line))  # type: ignore[misc]
        floor = floor or best
        print(f"  cold  {name:<16}{best * 1000:9.1f} ms{best / floor:7.1f}x", flush=True)
    layout = StoreLayout(str(store), project, project)
    warm: dict[str, Callable[[Recall], object]] = {
        "search": lambda recall: recall.search(SearchRequest(query)),
        "timeline": lambda recall: recall.timeline(TimelineRequest(ref)),
        "details": lambda recall: recall.details([ref]),
    }
    for name, question in warm.items():
        best = best_of(runs, lambda question=question: question(Recall(layout, now=now_stamp())))  # type: ignore[misc]
        print(f"  warm  {name:<16}{best * 1000:9.1f} ms{best / floor:7.2f}x", flush=True)


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def groups(
    stem: str, collections: list[dict[str, Any]], *, half: bool
) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    """Collections under the name they are reported by; those of other languages one by one."""
    if stem == "cjk":
        for collection in collections:
            yield collection["collection"], [collection]
    elif half and len(collections) > 1:
        yield f"{stem} (chosen on)", collections[::2]
        yield f"{stem} (held out)", collections[1::2]
    else:
        yield stem, collections


def measure(build: Engine, collections: list[dict[str, Any]]) -> dict[str, float]:
    """Quality of one engine over some collections."""
    sums: Counter[str] = Counter()
    spent = 0.0
    for collection in collections:
        ids = [doc["id"] for doc in collection["docs"]]
        search = build([doc["text"] for doc in collection["docs"]])
        for query in collection["queries"]:
            if query["cat"] == 5 or not query["gold"]:
                continue
            begin = time.perf_counter()
            found = [ids[n] for n in search(query["q"])[:100]]
            spent += time.perf_counter() - begin
            gold = set(query["gold"])
            sums["queries"] += 1
            for k in (1, 5, 10):
                sums[f"R@{k}"] += len(gold.intersection(found[:k])) / len(gold)
            first = next((n for n, name in enumerate(found, 1) if name in gold), None)
            sums["MRR"] += 1 / first if first else 0
            sums["hit@1"] += first == 1
    figures = {name: value / sums["queries"] for name, value in sums.items() if name != "queries"}
    return {"queries": sums["queries"], **figures, "ms": 1000 * spent / sums["queries"]}


def report(name: str, engine: str, figures: dict[str, float]) -> None:
    """One line of the table."""
    quality = " ".join(f"{figures[k]:6.3f}" for k in MEASURES)
    print(f"{name:28} {engine:7} {figures['queries']:7.0f} {quality} {figures['ms']:7.2f}", flush=True)


def cam(texts: list[str], shape: str) -> Search:
    """Our own ranking over records."""
    records = []
    for text in texts:
        summary, details = (" ".join(text.split()), ()) if shape == "summary" else split_text(text)
        name = new_id(summary, sha256(text.encode()).hexdigest())
        records.append(MemoryRecord(MemoryScope.PROJECT, "reference", name, summary, details))
    index = Index(document_of(record) for record in records)
    return lambda query: [hit.number for hit in rank_in(query, index)]


def cortex(texts: list[str]) -> Search:
    """BM25 over runs of ASCII letters and digits, k1 1.5, b 0.75, no stems, no stop words."""
    counts = [Counter(re.findall(r"[a-z0-9]+", text.lower())) for text in texts]
    lengths = [sum(c.values()) for c in counts]
    average = max(1.0, sum(lengths) / len(lengths))
    where: dict[str, list[int]] = {}
    for number, count in enumerate(counts):
        for token in count:
            where.setdefault(token, []).append(number)

    def search(query: str) -> list[int]:
        scores: Counter[int] = Counter()
        for token in set(re.findall(r"[a-z0-9]+", query.lower())):
            numbers = where.get(token, [])
            idf = math.log(1 + (len(texts) - len(numbers) + 0.5) / (len(numbers) + 0.5))
            for n in numbers:
                tf = counts[n][token]
                scores[n] += idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * lengths[n] / average))
        return sorted(scores, key=lambda n: (-scores[n], n))

    return search


def fts5(texts: list[str]) -> Search:
    """SQLite's full-text search with Porter stems."""
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table docs using fts5(text, tokenize='porter unicode61')")
    base.executemany("insert into docs(rowid, text) values (?, ?)", enumerate(texts))

    def search(query: str) -> list[int]:
        words = re.findall(r"\w+", query)
        match = " OR ".join(f'"{word}"' for word in words)
        rows = (
            base.execute("select rowid from docs where docs match ? order by rank limit 100", (match,))
            if words
            else ()
        )
        return [row[0] for row in rows]

    return search


def grep(texts: list[str]) -> Search:
    """Documents by how many of the query's words they hold, as a person would with grep."""
    lowered = [text.lower() for text in texts]

    def search(query: str) -> list[int]:
        words = {word for word in re.findall(r"\w+", query.lower()) if len(word) > 2}
        scores = {n: sum(word in text for word in words) for n, text in enumerate(lowered)}
        return sorted((n for n, score in scores.items() if score), key=lambda n: (-scores[n], n))

    return search


if __name__ == "__main__":
    main()
