"""The transcripts in README.md, README.zh.md and docs/a-day.md are played with the real Codex.

A block behind ``<!-- played -->`` is a console session: its commands are run in order, and what they print
must be what stands there, but for times, ids and counts of tokens. Of Codex's own output the answer stays and
what it says on stderr is left out. ``CAM_WRITE_STORY=1`` writes the blocks anew; read the difference before
you commit.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from codex_releases import CodexSandbox

from cam.testing.responses_server import Answer, Run

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
WRITES = "CAM_WRITE_STORY" in os.environ
BLOCK = re.compile(r"(?<=<!-- played -->\n```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
ANSWERS: dict[str, list[Answer]] = {
    "Set up the repository": ["Done: pnpm is set up."],
    "Install the dependencies": ["I run pnpm install, as you prefer."],
    "把依赖装好": ["好的，我用 pnpm install。"],
    "API listens on port 3000": ["Noted."],
    "moved to port 4100": ["The configuration is changed."],
    "Which port": [Run('cam recall search "API port"'), "The API listens on port 4100."],
}


def answer(left: dict[str, list[Answer]], request: dict[str, Any]) -> Answer:
    """What the model says: by the prompt that stands last in the request."""
    said = [
        part["text"]
        for item in request["input"]
        if item.get("role") == "user"
        for part in item["content"]
        if part.get("text")
    ]
    if not request.get("tools") or not said:
        return "OK."
    key = next((words for words in left if words in said[-1]), "")
    return left[key].pop(0) if key and left[key] else "OK."


def play(block: str, box: CodexSandbox, env: dict[str, str]) -> str:
    out, cwd, mark = [], str(box.repo), box.root / "cwd"
    for line in block.splitlines():
        if not line.startswith("$ "):
            continue
        script = f"cd '{cwd}' && {line[2:]}\nstatus=$?; pwd > '{mark}'; exit $status"
        done = subprocess.run(
            ["bash", "-c", script], env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=90, check=False,
        )  # fmt: skip
        cwd = mark.read_text().strip()
        own = [row for row in done.stderr.splitlines() if row.startswith("cam:")]
        out += [line, *done.stdout.rstrip().splitlines(), *own, ""]
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    text = "\n".join(out).rstrip("\n") + "\n"
    return text.replace(str(box.home), "/home/ada").replace(str(box.root), "/home/ada")


def normal(text: str) -> str:
    text = re.sub(r"\d{8}T\d{6}-[0-9a-f]{8}", "TX", text)
    text = re.sub(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "SESSION", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d\.\d{3})?Z", "TIME", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d\b", "DAY", text)
    text = re.sub(r"\b(\w+)-[0-9a-f]{12}\b", r"\1-ID", text)
    return re.sub(r"\d+ (tokens|each|KB)", r"N \1", text)


@pytest.mark.parametrize("name", ["README.md", "README.zh.md", "docs/a-day.md"])
def test_the_documented_session_is_what_happens(tmp_path: Path, name: str) -> None:
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert blocks
    left = {key: list(answers) for key, answers in ANSWERS.items()}
    with CodexSandbox(tmp_path / "shop", "0.171.0", lambda request: answer(left, request)) as box:
        found = box.root / "bin"
        found.mkdir()
        (found / "codex").symlink_to(box.codex)
        env = {
            **box.env,
            "PATH": f"{found}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "COLUMNS": "80",
        }
        box.repo.rename(box.root / "shop")
        box.repo = box.root / "shop"
        played = [play(block, box, env) for block in blocks]
    if WRITES:
        for block, now in zip(blocks, played, strict=True):
            text = text.replace(block, now, 1)
        path.write_text(text, encoding="utf-8")
        return
    assert [normal(block) for block in played] == [normal(block) for block in blocks]
