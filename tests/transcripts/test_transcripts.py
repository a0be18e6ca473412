"""Shell transcripts with exact output: each ``*.txt`` here is played in a fresh home and repository.

A line ``$ …`` is a command (stdout and stderr together follow it), ``[N]`` the exit code where it is not 0.
``python -m tests.transcripts.test_transcripts`` writes the files anew; read the difference before you commit.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FAKE = HERE.parent / "fakes" / "fake_codex.py"
BIN = str(Path(sys.executable).parent)


def play(text: str, root: Path) -> str:
    """The transcript as it comes out now."""
    home, repo, found = root / "home", root / "shop", root / "bin"
    for folder in (home, repo, found):
        folder.mkdir()
    # Codex by its name, not by its path: a column must not be as wide as a temp folder is deep.
    (found / "codex").symlink_to(FAKE)
    env = {
        "PATH": f"{found}:{BIN}:{os.environ['PATH']}",
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "FAKES": str(FAKE.parent),
        "FAKE_CODEX_LOG": str(root / "calls"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LANG": "C",
        "COLUMNS": "80",
        "TERM": "dumb",
    }
    out = []
    for line in text.splitlines():
        if line.startswith("#") and not out:
            out.append(line)
        if not line.startswith("$ "):
            continue
        done = subprocess.run(
            ["bash", "-c", line[2:]], cwd=repo, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
        )  # fmt: skip
        out.append(line)
        out += done.stdout.splitlines()
        if done.returncode:
            out.append(f"[{done.returncode}]")
        out.append("")
    return normal("\n".join(out).rstrip("\n") + "\n", root)


def normal(text: str, root: Path) -> str:
    """Without what differs from run to run."""
    text = text.replace(str(root), "/box")
    text = re.sub(r"\b(shop|path)-[0-9a-f]{12}\b", r"\1-ID", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\dZ", "TIME", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME", text)
    return re.sub(r"\d{8}T\d{6}-[0-9a-f]{8}", "TX", text)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda p: p.stem)
def test_transcript(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert play(text, tmp_path) == text


if __name__ == "__main__":
    for transcript in sorted(HERE.glob("*.txt")):
        with tempfile.TemporaryDirectory() as folder:
            transcript.write_text(
                play(transcript.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8"
            )
