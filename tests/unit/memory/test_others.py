"""What other tools remember waits for the person; a second run finds nothing new, a dry one writes none."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.run import run
from tests.unit.formats.test_others_memory import NATIVE

SECRET = "ghp_" + "a1B2c3D4" * 5


@pytest.fixture
def repo(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    (folder / "AGENTS.md").write_text(
        f"- Use `make lint` <private>hunter2</private>\n- The token is {SECRET}\n- Known\n- Gone\n"
    )
    (own_home / ".codex" / "memories").mkdir(parents=True)
    (own_home / ".codex" / "AGENTS.md").write_text("Answer in English\n")
    (own_home / ".codex" / "memories" / "MEMORY.md").write_text(
        NATIVE.replace("/src/shop", str(folder)) + "# Task Group: bank\napplies_to: cwd=/src/bank;\n"
        "## Reusable knowledge\n- The ledger is append-only\n"
    )
    (own_home / ".codex" / "memories_v2").mkdir()
    (own_home / ".codex" / "memories_v2" / "memory_summary.md").write_text(
        "v1\n\n## User preferences\n- Commit messages are in English\n\n## What's in Memory\n- a pointer\n"
    )
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(folder))
    claude = own_home / ".claude" / "projects" / slug / "memory"
    claude.mkdir(parents=True)
    (claude / "MEMORY.md").write_text("- Prefers short answers\n")
    (claude / "latin.md").write_bytes(b"\xe9\n")
    assert run(["remember", "Known"]) == 0
    assert run(["remember", "Gone"]) == 0
    assert run(["forget", "Gone", "--delete", "--yes"]) == 0
    return folder


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out)["data"])


def store(home: Path) -> dict[str, bytes]:
    root = home / ".codex-auto-memory"
    return {str(p): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and "cache" not in p.parts}


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("agents-md", ["Answer in English", "Use `make lint`"]),
        ("claude", ["Prefers short answers"]),
        (
            "native",
            [
                'when testing, the user asked: "run make fast" -> run it first',
                "Redis must run for the tests",
                "timeouts -> Redis was down -> start it",
                "ripgrep is installed",
                "Commit messages are in English",
            ],
        ),
    ],
)
def test_it_waits_once_and_a_dry_run_writes_nothing(
    repo: Path, own_home: Path, kind: str, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = store(own_home)
    dry = asked(capsys, "import", kind, "--dry-run")
    assert [item["text"] for item in dry["proposed"]] == texts
    assert run(["import", kind]) == 5  # nobody there to ask
    assert store(own_home) == before
    done = asked(capsys, "import", kind, "--yes")
    assert done["written"] is True
    assert [item["id"] for item in done["proposed"]] == [item["id"] for item in dry["proposed"]]
    waiting = asked(capsys, "review", "list")["waiting"]
    assert sorted(item["text"] for item in waiting) == sorted(texts)
    assert {item["kind"] for item in waiting} == {"proposed"}
    after = store(own_home)
    again = asked(capsys, "import", kind, "--yes")
    assert (again["proposed"], again["known"] >= len(texts)) == ([], True)
    assert store(own_home) == after
    assert SECRET.encode() not in b"".join(after.values())
    assert b"hunter2" not in b"".join(after.values())


def test_what_is_decided_is_not_proposed_again(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = asked(capsys, "import", "agents-md", "--yes")
    scopes = {item["text"]: (item["scope"], item["id"]) for item in done["proposed"]}
    assert [scope for scope, _ in scopes.values()] == ["global", "project"]
    accepted = asked(capsys, "review", "accept", scopes["Answer in English"][1])
    assert accepted["applied"][0]["ref"].startswith("global:active:")
    assert accepted["applied"][0]["after"]["sources"][0]["kind"] == "import"
    asked(capsys, "review", "reject", scopes["Use `make lint`"][1])
    again = asked(capsys, "import", "agents-md", "--yes")
    assert again["proposed"] == []
    assert (again["known"], again["refused"]) == (3, 2)


def test_what_cannot_be_read_is_named_and_nothing_is_nothing(
    repo: Path, own_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = asked(capsys, "import", "claude", "--dry-run")["files"]
    assert [Path(f["path"]).name for f in files if "problem" in f] == ["latin.md"]
    (own_home / ".codex" / "memories" / "MEMORY.md").unlink()
    (own_home / ".codex" / "memories_v2" / "memory_summary.md").unlink()
    assert asked(capsys, "import", "native", "--yes")["files"] == []
    monkeypatch.setenv("CODEX_THREAD_ID", "1")
    assert run(["import", "claude", "--yes"]) == 5
    monkeypatch.setenv("CAM_OFF", "1")
    monkeypatch.delenv("CODEX_THREAD_ID")
    assert "CAM_OFF" in asked(capsys, "import", "claude", "--yes")["note"]
