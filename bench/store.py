"""The store: what one ``cam remember`` costs, and what many writers at once do.

Usage: python bench/store.py [--runs N] [--writers N] [--writes N]

``remember`` is measured against ``python -c pass`` in the same run, the smallest of the runs counts, for
stores of several sizes, with 20 records to a topic and with seven topics, with a short history and with one
ten times as long as the store. The writers go through the library into one store; each acknowledged record
must be there at the end.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from startup import fill

from cam.core.records import MemoryScope
from cam.memory.carry import import_memory
from cam.memory.flow import remember
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore

CAM = str(Path(sys.executable).with_name("cam"))
WRITER = """
import sys
from cam.core.records import MemoryScope
from cam.memory.flow import remember
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore

store = MarkdownStore(StoreLayout(sys.argv[1], "p", "p"))
for n in range(int(sys.argv[3])):
    remember(store, f"writer {sys.argv[2]} notes item {n}", (), MemoryScope.PROJECT, "reference")
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--writers", type=int, default=32)
    parser.add_argument("--writes", type=int, default=50)
    options = parser.parse_args()
    print(f"{'records':>8} {'a topic':>8} {'history':>9} {'ms':>8} {'ratio':>7}")
    for records in (100, 1_000, 10_000):
        for topics in (records // 20, 7):
            for longer in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    one_remember(Path(folder), records, topics, options.runs, longer=longer)
    with tempfile.TemporaryDirectory() as folder:
        one_import(Path(folder), 10_000)
    with tempfile.TemporaryDirectory() as folder:
        many_writers(folder, options.writers, options.writes)


def one_remember(root: Path, records: int, topics: int, runs: int, *, longer: bool) -> None:
    """Print what ``cam remember`` costs in a store of this size."""
    home, repo = root / "home", root / "repo"
    home.mkdir()
    repo.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    fill(repo, env, CAM, records, topics)
    history = next((home / ".codex-auto-memory").rglob("memory-history.jsonl"))
    if longer:
        lines = history.read_bytes()
        with history.open("ab") as file:
            for _ in range(9):
                file.write(lines)
    best = [60.0, 60.0]
    for n in range(runs):
        text = f"Deploys of the shop {n} run on Tuesdays"
        for which, line in enumerate(([sys.executable, "-c", "pass"], [CAM, "remember", text, "--json"])):
            begun = time.perf_counter()
            done = subprocess.run(line, cwd=repo, env=env, capture_output=True, check=True)
            best[which] = min(best[which], time.perf_counter() - begun)
            assert which == 0 or json.loads(done.stdout)["data"]["is_new"]
    size = history.read_bytes().count(b"\n")
    print(
        f"{records:>8} {records // topics:>8} {size:>9} {best[1] * 1000:>8.1f} {best[1] / best[0]:>6.1f}x",
        flush=True,
    )


def one_import(root: Path, records: int) -> None:
    """Print how long a list of ``records`` facts takes to import; the bound is 5 s for 10,000."""
    entries = [
        {"scope": "project", "topic": "commands", "summary": f"Fact number {n} about package {n * 7}"}
        for n in range(records)
    ]
    file = root / "list.json"
    file.write_text(json.dumps(entries))
    begun = time.perf_counter()
    import_memory(MarkdownStore(StoreLayout(str(root / "store"), "p", "p")), str(file), MemoryScope.PROJECT)
    print(f"import of {records}: {time.perf_counter() - begun:.1f} s")


def many_writers(root: str, writers: int, writes: int) -> None:
    """Print how long ``writers`` processes take for ``writes`` records each, and whether all are there."""
    store = MarkdownStore(StoreLayout(root, "p", "p"))
    remember(store, "The first one", (), MemoryScope.PROJECT, "reference")
    begun = time.perf_counter()
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, root, str(n), str(writes)]) for n in range(writers)
    ]
    codes = {process.wait() for process in started}
    took = time.perf_counter() - begun
    there = len(store.snapshot().records) - 1
    print(f"{writers} writers: {there} of {writers * writes} records there in {took:.1f} s, exit {codes}")
    assert there == writers * writes


if __name__ == "__main__":
    main()
