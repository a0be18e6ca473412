"""cam doctor proves on the installed Codex that memory arrives, and names what stands in the way."""

import json
from typing import Any

import pytest
from codex_releases import CodexSandbox
from test_main_loop import cam, tree

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def findings(box: CodexSandbox, *options: str, **env: str) -> dict[str, list[dict[str, Any]]]:
    done = cam(box, "doctor", "--json", *options, env=env)
    found: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads(done.stdout)["data"]["findings"]:
        found.setdefault(row["check"], []).append(row)
    return found


@pytest.mark.parametrize(
    ("version", "trust"), [("0.98.0", ""), ("0.125.0", ""), ("0.171.0", ", Codex calls the hook trusted")]
)
def test_the_way_in_is_proved_once(sandbox: Any, version: str, trust: str) -> None:
    box = sandbox(version, top='developer_instructions = "Be brief"')
    before = tree(box.codex_home, without=("tmp",))
    (row,) = findings(box)["proof"]
    assert row["severity"] == "ok"
    assert f"tokens once and whole{trust} (tried just now)" in row["text"]
    assert tree(box.codex_home, without=("tmp",)) == before, "asking for the release leaves a lock there"
    assert box.server.requests == [], "the user's own model is not asked"
    assert box.leftovers() == []
    assert "--prove tries again" in findings(box)["proof"][0]["text"]
    assert "just now" in findings(box, "--prove")["proof"][0]["text"]
    assert "proof" not in findings(box, "--no-proof")
    assert not list((box.home / ".codex-auto-memory" / "cache").glob("proof-*"))


def test_what_a_release_shortens_is_broken_and_has_a_fix(sandbox: Any) -> None:
    box = sandbox("0.135.0")
    (row,) = findings(box, CAM_MAX_STARTUP_TOKENS="9000")["proof"]
    assert row["severity"] == "critical"
    assert row["text"].startswith("Codex shortened it: ")
    assert row["advice"].startswith("cam config set max_startup_tokens 2400")
    (row,) = findings(box, CAM_MAX_STARTUP_TOKENS="2400")["proof"]
    assert row["severity"] == "ok"


def test_conflicts_are_named_with_their_fix(sandbox: Any) -> None:
    box = sandbox("0.171.0", tables="[features]\nmemories = true\nhooks = false")
    found = findings(box)
    assert [row["advice"] for row in found["conflict"]] == ["codex features enable hooks"]
    assert [row["severity"] for row in found["native"]] == ["ok"]
    assert found["proof"][0]["severity"] == "ok", "developer_instructions take the hook's place"
    asked = ("--", "exec", "--ephemeral", "--enable", "hooks", "-c", "hooks.Stop=[]", "hello")
    texts = [row["text"].partition(":")[0] for row in findings(box, *asked)["conflict"]]
    assert texts == [
        "an --ephemeral session leaves no rollout",
        "your own -c hooks… are merged with cam's and run too",
    ]
    assert "native" not in findings(box, "--", "exec", "--disable", "memories", "hello")
    assert "no session follows" in findings(box, "--", "mcp", "list")["injection"][0]["text"]


def test_codex_that_does_not_start_is_broken(sandbox: Any) -> None:
    box = sandbox("0.171.0")
    fake = box.root / "codex-fake"
    fake.write_text('#!/bin/sh\n[ "$1" = --version ] && echo codex-cli 0.171.0 && exit 0\nexit 7\n')
    fake.chmod(0o700)
    (row,) = findings(box, CAM_CODEX_BINARY=str(fake))["proof"]
    assert (row["severity"], row["text"]) == ("critical", "Codex asked the model nothing (exit 7)")
