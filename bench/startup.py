"""Start-up of cam's commands against ``python -c pass`` in the same run.

Usage: python bench/startup.py [--records N] [--runs N]

A throwaway home, a project with N records (20 to a topic file) and a Codex that only says that it started.
"until Codex starts" ends there, with the prompt ranked and without; the other lines end with the command.
The doctor leaves the proof out, which is kept otherwise: this Codex gives none.
What changes a record is measured in turn with what takes that back.
The smallest of the runs counts; the ratio to the floor carries over to other machines, milliseconds do not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FAKE_CODEX = '#!/bin/sh\n[ "$1" = --version ] && echo "codex-cli 0.171.0" || echo started\nexit 0\n'
WORDS = (
    "deploy build test module service table port server config cache queue worker login cart order".split()
)


def main() -> None:
    """Measure and print."""
    in_a_folder(measure, __doc__, 1000)


def in_a_folder(measure: Callable[[Path, int, int], None], doc: str | None, records: int) -> None:
    """Measure in a throwaway folder, with as many records and runs as the command line says.

    Args:
        measure: gets the folder, the records and the runs.
        doc: what the bench is.
        records: so many where the command line does not say.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=records)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options.records, options.runs)


def room(root: Path) -> tuple[Path, dict[str, str], str]:
    """An empty folder to work in, an environment with a home of its own, and the path of cam."""
    home, repo = root / "home", root / "repo"
    home.mkdir()
    repo.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    return repo, env, str(Path(sys.executable).with_name("cam"))


def measure(root: Path, records: int, runs: int) -> None:
    """Print each command's smallest time and its ratio to the floor."""
    repo, env, cam = room(root)
    home, codex = root / "home", root / "codex"
    codex.write_text(FAKE_CODEX)
    codex.chmod(0o700)
    env["CAM_CODEX_BINARY"] = str(codex)

    def run(*line: str, text: str = "") -> float:
        begun = time.perf_counter()
        subprocess.run(line, cwd=repo, env=env, input=text, capture_output=True, text=True, check=False)
        return time.perf_counter() - begun

    def until_codex(*line: str, text: str) -> float:
        del text  # a terminal is what Codex would have
        begun = time.perf_counter()
        with subprocess.Popen(
            line,
            cwd=repo,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as done:
            assert done.stdout is not None
            done.stdout.readline()
            return time.perf_counter() - begun

    fill(repo, env, cam, records)
    run(cam, "recall", "search", "warm")
    time.sleep(2)  # files that were just written are read anew
    run(cam, "exec", "warm")
    start = next(iter(sorted((home / ".codex-auto-memory" / "cache" / "runs").iterdir())))
    event = json.dumps({"session_id": "s", "source": "startup", "cwd": "/", "transcript_path": None})
    lines = {
        "python -c pass": ([sys.executable, "-c", "pass"], ""),
        "cam hook session-start": (
            [sys.executable, "-I", "-m", "cam", "hook", "session-start", "--run", str(start)],
            event,
        ),
        "cam hook prompt-recall": (
            [sys.executable, "-I", "-m", "cam", "hook", "prompt-recall", "--run", str(start)],
            json.dumps({"session_id": "p", "prompt": "restart the cache of worker 77 and the login 703"}),
        ),
        "cam recall search": ([cam, "recall", "search", "cache of the worker"], ""),
        "cam run, until Codex starts": ([cam, "run"], ""),
        "cam exec …, until Codex starts": ([cam, "exec", "restart the cache of the worker"], ""),
        "cam exec …, to the end": ([cam, "exec", "hello"], ""),
        "cam --help": ([cam, "--help"], ""),
        "cam memory list": ([cam, "memory", "list"], ""),
        "cam memory": ([cam, "memory"], ""),
        "cam memory diff --since 1d": ([cam, "memory", "diff", "--since", "1d"], ""),
        "cam memory export": ([cam, "memory", "export"], ""),
        "cam project list": ([cam, "project", "list"], ""),
        "cam gc": ([cam, "gc"], ""),
        "cam forget, words": ([cam, "forget", "cache of the worker 77"], ""),
        "cam review": ([cam, "review"], ""),
        "cam doctor --no-proof": ([cam, "doctor", "--no-proof"], ""),
        "cam config list": ([cam, "config", "list"], ""),
        "cam log": ([cam, "log"], ""),
        "cam memory --help": ([cam, "memory", "--help"], ""),
        "cam complete (a ref at a tab)": ([cam, "complete", "why", "project:"], ""),
        "cam remember": ([cam, "remember", "Deploys run on Tuesdays"], ""),
    }
    floor = 0.0
    print(f"{records} records")
    for name, (line, text) in lines.items():
        measured = until_codex if name.endswith("until Codex starts") else run
        best = min(measured(*line, text=text) for _ in range(runs))
        floor = floor or best
        print(f"{name:<32}{best * 1000:8.1f} ms{best / floor:7.1f}x")
    one, two = two_refs(repo, env, cam)
    turns = {  # each takes back what the one above it did
        "cam forget REF": ["forget", one],
        "cam undo": ["undo"],
        "cam memory link REF REF": ["memory", "link", one, two],
        "cam memory unlink REF REF": ["memory", "unlink", one, two],
        "cam memory move REF": ["memory", "move", one, "--topic", "moved"],
        "cam undo, of a move": ["undo"],
    }
    times = [[run(cam, *line) for line in turns.values()] for _ in range(runs)]
    for name, each in zip(turns, zip(*times, strict=True), strict=True):
        print(f"{name:<32}{min(each) * 1000:8.1f} ms{min(each) / floor:7.1f}x")


def two_refs(repo: Path, env: dict[str, str], cam: str) -> tuple[str, str]:
    """Two records that are there."""
    done = subprocess.run(
        [cam, "memory", "list", "--json"], cwd=repo, env=env, capture_output=True, check=True
    )
    first, *_, last = json.loads(done.stdout)["data"]["entries"]
    return first["ref"], last["ref"]


def fill(repo: Path, env: dict[str, str], cam: str, records: int, topics: int = 0) -> None:
    """Put the records into the store, 20 to a topic unless ``topics`` says how many there are."""
    items = [
        {
            "scope": "project",
            "topic": f"topic-{n % (topics or records // 20 or 1)}",
            "summary": f"The {WORDS[n % 15]} of {WORDS[n * 7 % 13]} {n} uses the {WORDS[n * 11 % 14]}",
        }
        for n in range(records)
    ]
    file = repo / "facts.json"
    file.write_text(json.dumps(items))
    done = subprocess.run(
        [cam, "memory", "import", str(file), "--json"], cwd=repo, env=env, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(done.stdout.decode() + done.stderr.decode())


if __name__ == "__main__":
    main()
