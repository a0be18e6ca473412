"""What a person waits for when Codex has ended, until the prompt is back, and what ``cam sync`` takes.

Usage: python bench/session_end.py [--records N] [--runs N]

A Codex that leaves a session of two messages, in which one rule is stated: at once, or after three seconds in
which the wrapper could get ready. The smallest of the runs counts, as a ratio to ``python -c pass``.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

from startup import fill, in_a_folder, room

SESSION = Path(__file__).parents[1] / "tests" / "data" / "rollouts" / "0.171.0" / "package-manager.jsonl"
CODEX = r"""#!/bin/sh
[ "$1" = --version ] && echo "codex-cli 0.171.0" && exit
run=$(printf '%s' "$*" | sed -n 's/.*--run \([^]" '"'"'\\]*\).*/\1/p')
cp "$BENCH_SESSION" "$BENCH_ROLLOUT"
cp "$BENCH_NOTE" "$run/session-bench.json"
sleep "$BENCH_SECONDS"
: > "$BENCH_END"
"""


def main() -> None:
    """Measure and print."""
    in_a_folder(measure, __doc__, 10_000)


def measure(root: Path, records: int, runs: int) -> None:
    """Print each wait's smallest time and its ratio to the floor."""
    repo, env, cam = room(root)
    codex, end, note = root / "codex", root / "end", root / "note"
    codex.write_text(CODEX)
    codex.chmod(0o700)
    day = root / "home" / ".codex" / "sessions" / "2026" / "11" / "30"
    day.mkdir(parents=True)
    said = SESSION.read_text(encoding="utf-8").replace("/home/dev/shop", str(repo))
    known = json.loads(said.split("\n", 1)[0])["payload"]["id"]
    env |= {"CAM_CODEX_BINARY": str(codex), "BENCH_END": str(end), "BENCH_NOTE": str(note)}

    def new_session() -> tuple[Path, Path]:
        """A session that nobody has read, and where it goes."""
        name = str(uuid4())
        here = root / "session"
        here.write_text(said.replace(known, name).replace("pnpm", f"pnpm-{name[:4]}"), encoding="utf-8")
        rollout = day / f"rollout-2026-11-30T10-00-00-{name}.jsonl"
        told = {"session": name, "source": "startup", "transcript": str(rollout), "text": "x"}
        note.write_text(json.dumps(told | {"at": time.time()}))
        return here, rollout

    def run(*line: str, **more: str) -> float:
        begun = time.time()
        subprocess.run(line, cwd=repo, env=env | more, capture_output=True, check=False)
        return time.time() - begun

    def prompt_back(seconds: str) -> float:
        here, rollout = new_session()
        run(cam, "exec", "hello", BENCH_SESSION=str(here), BENCH_ROLLOUT=str(rollout), BENCH_SECONDS=seconds)
        return time.time() - end.stat().st_mtime

    def sync() -> float:
        here, rollout = new_session()
        here.rename(rollout)
        return run(cam, "sync")

    fill(repo, env, cam, records)
    run(cam, "recall", "search", "warm")
    time.sleep(2)  # files that were just written are read anew
    waits = {
        "python -c pass": lambda: run(sys.executable, "-c", "pass"),
        "prompt back, session of 3 s": lambda: prompt_back("3"),
        "prompt back, session of 0 s": lambda: prompt_back("0"),
        "cam sync, one session": sync,
        "cam sync, nothing new": lambda: run(cam, "sync"),
    }
    floor = 0.0
    print(f"{records} records")
    for name, wait in waits.items():
        best = 60.0
        for _ in range(runs):
            best = min(best, wait())
            time.sleep(0.5)  # what is made ready in the background is no part of it
        floor = floor or best
        print(f"{name:<32}{best * 1000:8.1f} ms{best / floor:7.1f}x")
    learned = subprocess.run([cam, "log", "--json"], cwd=repo, env=env, capture_output=True, check=True)
    assert b"pnpm" in learned.stdout, "the sessions were not learned from"


if __name__ == "__main__":
    main()
