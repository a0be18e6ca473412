"""Run every bench once and write docs/benchmarks.md.

Usage: python bench/all.py [--only NAME ...] [--sets FOLDER] [--print]

Figures are ratios to floors measured in the same run wherever there is a floor; milliseconds belong to the
machine, which is named by its size alone. A busy machine gives worse figures, so its load stands there too.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
BENCHES = {
    "startup": ("Start-up, 1,000 records", ["startup.py", "--records", "1000"]),
    "startup-large": ("Start-up, 10,000 records", ["startup.py", "--records", "10000", "--runs", "5"]),
    "hooks": ("Installed hooks, 10,000 records", ["hooks.py"]),
    "session-end": ("When Codex has ended, 10,000 records", ["session_end.py", "--runs", "4"]),
    "rollouts": ("Reading a session of 50 MB", ["rollouts.py", "50"]),
    "extraction": ("What is learned, on labelled sessions", ["extraction.py"]),
    "continuity": ("Where a session stopped, on labelled sessions", ["continuity.py"]),
    "store": ("Writing", ["store.py", "--runs", "5", "--writers", "16", "--writes", "20"]),
    "recall": ("Recall, by size of the store", ["recall.py", "--speed", "--runs", "5"]),
    "recall-quality": ("What recall finds, on a day's questions", ["recall.py", "--everyday"]),
    "prompts": ("What a prompt is told of memory", ["prompts.py"]),
    "mcp": ("The MCP server, 10,000 records", ["mcp.py", "--records", "10000", "--runs", "5"]),
}

NOTES = {
    "extraction": """\
Most of these sets were read while the rules were written: they show that nothing was lost, not how good it is
on words it has not seen. That is in [extraction.md](extraction.md).""",
    "continuity": """\
Here too most sets were read while the rules were written; see [continuity.md](continuity.md).""",
}


def main() -> None:
    """Run, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=BENCHES, default=list(BENCHES))
    parser.add_argument("--sets", type=Path, help="a folder of labelled sets: what recall finds in them, too")
    parser.add_argument("--print", action="store_true", help="print the page, write nothing")
    options = parser.parse_args()
    if options.sets is not None:
        BENCHES["sets"] = ("What recall finds, on labelled sets", ["recall.py", str(options.sets), "--half"])
        options.only.append("sets")
    page = "\n".join([head(), *(section(name) for name in options.only)])
    if options.print:
        print(page)
    else:
        PAGE.write_text(page, encoding="utf-8")


def head() -> str:
    """What was measured where."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"""# Benchmarks

Written by `python bench/all.py`; each part says how it measures in its own `bench/*.py`. `x` is the ratio to
`python -c pass` (or the floor that is named) in the same run, the smallest of several runs.

Machine: {os.cpu_count()} cores, {memory:.0f} GB, Python {platform.python_version()}, {platform.system()}; \
load before the run {os.getloadavg()[0]:.1f}.
"""


def section(name: str) -> str:
    """One bench: its heading and what it printed."""
    title, (script, *words) = BENCHES[name]
    print(f"{name} …", file=sys.stderr, flush=True)
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(HERE / script), *words], capture_output=True, text=True, check=False
    )
    if done.returncode and not done.stdout:
        sys.exit(f"{script} failed:\n{done.stderr}")
    print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    said = done.stdout.strip().replace(str(HERE.parent), ".")
    said += "\n\nA bound was missed in this run." if done.returncode else ""
    note = f"{NOTES[name]}\n\n" if name in NOTES else ""
    return f"\n## {title}\n\n{note}```text\n{said}\n```"


if __name__ == "__main__":
    main()
