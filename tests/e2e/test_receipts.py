"""A person can see whether memory arrived, what it cost, and which rules did not help."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from codex_releases import CodexSandbox
from test_main_loop import cam

from cam.testing.responses_server import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

RULE = "Always use pnpm here, never npm."


def stats(box: CodexSandbox, *options: str) -> dict[str, Any]:
    done = cam(box, "stats", "--json", *options)
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)["data"]
    return data


def audit(box: CodexSandbox) -> list[dict[str, Any]]:
    (log,) = Path(box.home, ".codex-auto-memory", "projects").glob("*/audit/sync-log.jsonl")
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("version", ["0.98.0", "0.171.0"])
def test_a_rule_that_had_to_be_repeated_is_named(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    cam(box, "exec", RULE)
    assert stats(box)["sessions"] == 0
    told = cam(box, "exec", "What do we use?")
    assert "memory reached the model: 1 record, " in told.stderr
    again = cam(box, "exec", RULE)
    assert "you repeated a rule that Codex had been told: cam stats" in again.stderr
    found = stats(box)
    assert (found["sessions"], found["receipts"]["arrived"], found["receipts"]["missed"]) == (2, 2, [])
    assert found["tokens"] > 50
    assert [(u["shown"], u["repeated"]) for u in found["repeated"]] == [(2, 1)]
    assert [line["arrived"] for line in audit(box) if line["kind"] == "receipt"] == [True, True]
    text = cam(box, "stats").stdout
    assert "You repeated though Codex had been told:\n  1x Always use pnpm here, never npm  (project:" in text


def test_what_the_model_asks_for_and_says_again_counts(sandbox: Any) -> None:
    answers: list[Any] = []
    box = sandbox("0.171.0", lambda _request: answers.pop(0) if answers else "OK.")
    cam(box, "remember", "The staging cluster is called heron")
    cam(box, "remember", "Invoices are rounded to whole cents")
    refs = [e["ref"] for e in json.loads(cam(box, "memory", "list", "--json").stdout)["data"]["entries"]]
    ref = next(r for r in refs if "heron" in r)
    answers += [Run(f"cam recall details {ref}"), "Note: invoices are rounded to whole cents!"]
    cam(box, "exec", "How is it called?")
    used = {u["ref"]: (u["recalled"], u["cited"]) for u in stats(box)["useful"]}
    assert used == {ref: (1, 0), next(r for r in refs if r != ref): (0, 1)}


def test_receipts_are_made_again_from_rollouts(sandbox: Any) -> None:
    box = sandbox("0.171.0")
    cam(box, "remember", RULE)
    cam(box, "exec", "hello")
    before = stats(box)
    os.unlink(box.home / ".codex-auto-memory" / "cache" / "receipts.jsonl")
    assert stats(box)["sessions"] == 0
    after = stats(box, "--rebuild")
    assert (after["sessions"], after["records"]) == (1, before["records"])
    assert stats(box, "--rebuild")["sessions"] == 1
