"""The installed SessionStart hook against ``python -c pass`` in the same run: ready, after an edit, copied.

Usage: python bench/hooks.py [--records N] [--runs N]

A throwaway home and a project with N records (20 to a topic file). Before each run the processes that earlier
ones left to work on are waited for. The smallest of the runs counts.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.startup import fill, in_a_folder, room
from tests.processes import processes_with

HOOK = [sys.executable, "-I", "-m", "cam", "hook", "session-start"]


def main() -> None:
    """Measure and print."""
    in_a_folder(measure, __doc__, 10_000)


def measure(root: Path, records: int, runs: int) -> None:
    """Print each case's smallest time and its ratio to the floor."""
    repo, env, cam = room(root)
    subprocess.run(["git", "init", "-q", str(repo)], check=True, env=env)
    fill(repo, env, cam, records)
    store, copy = root / "home" / ".codex-auto-memory", root / "copy"
    elsewhere = {**env, "CAM_HOME": str(copy)}
    topic = next(store.glob("projects/*/project/topic-1.md"))
    number = 0

    def start(of: dict[str, str]) -> float:
        nonlocal number
        number += 1
        event = {"session_id": f"s{number}", "source": "startup", "cwd": str(repo), "transcript_path": "/"}
        took = timed(HOOK, of, json.dumps(event).encode())
        settle(root)
        return took

    def edit() -> None:
        topic.write_text(re.sub("## .*", f"## Edited {number}", topic.read_text(), count=1))

    def copied() -> None:
        shutil.rmtree(copy, ignore_errors=True)
        subprocess.run(["cp", "-a", str(store), str(copy)], check=True)

    floor = min(timed([sys.executable, "-c", "pass"], env) for _ in range(runs))
    print(f"{records} records\n{'python -c pass':<32}{floor * 1000:8.1f} ms")
    start(env)
    time.sleep(2.1)  # files that were just written are read anew
    start(env)
    cases: dict[str, tuple[Callable[[], None], dict[str, str]]] = {
        "session-start, ready": (lambda: None, env),
        "session-start, after an edit": (edit, env),
        "session-start, store copied": (copied, elsewhere),
    }
    for name, (prepare, of) in cases.items():
        best = float("inf")
        for _ in range(runs):
            prepare()
            best = min(best, start(of))
        print(f"{name:<32}{best * 1000:8.1f} ms{best / floor:7.1f}x")


def timed(line: list[str], env: dict[str, str], text: bytes = b"") -> float:
    """Seconds that a program takes to its end."""
    begun = time.perf_counter()
    subprocess.run(line, env=env, input=text, capture_output=True, check=True)
    return time.perf_counter() - begun


def settle(root: Path) -> None:
    """Wait until no process works on that this bench's hooks left."""
    home = str(root / "home")
    while any(b"\0cam\0hook\0" in words for words in processes_with("HOME", home).values()):
        time.sleep(0.02)


if __name__ == "__main__":
    main()
