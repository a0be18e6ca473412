"""Evidence that is missing, old, ahead, broken or fine; each threshold at its edge."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cam.core.settings import Layer, Settings, merge_settings
from cam.setup.doctor import Severity
from cam.setup.health import health
from cam.store.layout import StoreLayout
from cam.store.recall_evidence import evidence_file, note_search

NOW = "2026-12-10T12:00:00.000Z"


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    layout = StoreLayout(str(tmp_path / "store"), "p", "p")
    Path(layout.audit_folder).mkdir(parents=True)
    return layout


def severities(layout: StoreLayout, waiting: int = 0, **values: Any) -> dict[str, Severity]:
    settings: Settings = merge_settings((Layer("flag", values, {}),))
    return {f.check: f.severity for f in health(layout, settings, now=NOW, waiting=waiting)}


def sync(layout: StoreLayout, at: str, **more: Any) -> None:
    with open(layout.audit_file, "a", encoding="utf-8") as file:
        file.write(json.dumps({"at": at, "kind": "sync", "problems": [], **more}) + "\n")


def search(layout: StoreLayout, at: str) -> None:
    note_search(layout, "where is the secret garden", at=at, count=0, seconds=0.02, adapter="codex")


def test_a_fresh_install_is_not_green(layout: StoreLayout) -> None:
    found = severities(layout)
    assert found == {"sync": 1, "recall": 1, "review": 0, "logs": 0}


@pytest.mark.parametrize(
    ("at", "sync_is", "recall_is"),
    [
        ("2026-12-10T11:59:59.000Z", 0, 0),
        ("2026-12-09T12:00:00.000Z", 0, 0),
        ("2026-12-03T12:00:00.000Z", 0, 0),
        ("2026-12-03T11:59:59.999Z", 1, 1),
        ("2026-12-10T12:02:00.000Z", 1, 1),
        ("soon", 1, 1),
        ("", 1, 1),
    ],
)
def test_the_age_of_evidence(layout: StoreLayout, at: str, sync_is: int, recall_is: int) -> None:
    sync(layout, "2026-01-01T00:00:00.000Z")
    sync(layout, at)
    search(layout, at)
    found = severities(layout)
    assert (found["sync"], found["recall"]) == (sync_is, recall_is)


def test_thresholds_are_settings(layout: StoreLayout) -> None:
    sync(layout, "2026-12-01T00:00:00.000Z")
    search(layout, "2026-12-10T10:00:00.000Z")
    assert severities(layout, health_sync_days=10)["sync"] == 0
    assert severities(layout, health_recall_hours=1)["recall"] == 1
    assert severities(layout, 10)["review"] == 0
    assert severities(layout, 11)["review"] == 1
    assert severities(layout, 3, health_waiting=2)["review"] == 1
    os.truncate(layout.audit_file, 1_000_001)
    assert severities(layout, health_log_mb=1)["logs"] == 1
    assert severities(layout)["logs"] == 0


def test_broken_evidence_is_not_green(layout: StoreLayout) -> None:
    sync(layout, NOW, problems=[{"line": 1}])
    assert severities(layout)["sync"] == 2
    with open(layout.audit_file, "a", encoding="utf-8") as file:
        file.write("{torn\n")
    assert severities(layout)["sync"] == 2
    search(layout, NOW)
    Path(evidence_file(layout)).write_text("[]\n")
    assert severities(layout)["recall"] == 1
    Path(evidence_file(layout)).write_text('{"at":1}\n')
    assert severities(layout)["recall"] == 1


def test_a_note_never_holds_the_query_and_never_fails(layout: StoreLayout) -> None:
    search(layout, NOW)
    path = Path(evidence_file(layout))
    assert "secret" not in path.read_text()
    assert (json.loads(path.read_text())["count"], path.stat().st_mode & 0o777) == (0, 0o600)
    os.truncate(path, 300_000)
    search(layout, NOW)
    assert path.stat().st_size < 200
    path.unlink()
    path.mkdir()
    search(layout, NOW)
    missing = StoreLayout(f"{layout.root}-none")
    search(missing, NOW)
    assert not os.path.exists(missing.root)
