"""cam doctor health: whether memory is at work, by the evidence that cam itself leaves.

Evidence is what sync writes into its audit log, what recall notes of each search, what waits for a person,
and how large the logs are. What is missing is never fine: a fresh install says that there is no evidence yet.
"""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from cam.core.display import counted
from cam.core.errors import CamError
from cam.core.settings import Settings
from cam.setup.doctor import Finding, Severity
from cam.store.layout import StoreLayout
from cam.store.recall_evidence import evidence_file
from cam.system.files import explain, read_bytes

_FRESH = "no evidence yet"


def health(layout: StoreLayout, settings: Settings, *, now: str, waiting: int) -> list[Finding]:
    """The findings; each threshold is a setting.

    Args:
        layout: of the project's store.
        settings: ``health_sync_days``, ``health_recall_hours``, ``health_waiting``, ``health_log_mb``.
        now: ISO-8601 UTC.
        waiting: suggestions that wait for a person.
    """
    return [
        _sync(layout, 24 * settings["health_sync_days"], now),
        _recall(layout, settings["health_recall_hours"], now),
        _waiting(waiting, settings["health_waiting"]),
        _logs(layout, settings["health_log_mb"] * 1_000_000),
    ]


def _sync(layout: StoreLayout, hours: float, now: str) -> Finding:
    rows = [row for row in _rows(layout.audit_file) if row is None or row.get("kind") == "sync"]
    last = rows[-1] if rows else None
    if not rows:
        return Finding("sync", Severity.WARNING, f"{_FRESH}: no session was read", "cam run, or cam sync")
    if last is None:
        reason = "the last line of the audit log cannot be read"
        return Finding("sync", Severity.CRITICAL, reason, "cam store verify")
    if last.get("problems"):
        text = f"the last session was read with {counted(len(last['problems']), 'problem')}"
        return Finding("sync", Severity.CRITICAL, text, "cam log says which")
    return _aged("sync", "a session was read", str(last.get("at", "")), hours, now, "cam sync")


def _recall(layout: StoreLayout, hours: float, now: str) -> Finding:
    rows = list(_rows(evidence_file(layout)))
    if not rows:
        return Finding("recall", Severity.WARNING, f"{_FRESH}: nothing was searched", "cam recall search …")
    last = rows[-1]
    if last is None or not {"at", "query", "count", "ms"} <= last.keys():
        text = "the last note of a search cannot be read"
        return Finding("recall", Severity.WARNING, text, "the next search writes a new one")
    text = f"memory was searched ({last['count']} found in {last['ms']} ms)"
    return _aged("recall", text, str(last["at"]), hours, now, "cam recall search …")


def _waiting(count: int, most: int) -> Finding:
    many = counted(count, "suggestion")
    if count > most:
        return Finding("review", Severity.WARNING, f"waiting for you: {many}", "cam review")
    return Finding("review", Severity.OK, f"waiting for you: {many}")


def _logs(layout: StoreLayout, most: int) -> Finding:
    size = 0
    for path in (layout.audit_file, evidence_file(layout), *map(layout.history_file, layout.scopes)):
        try:
            size += os.stat(path).st_size
        except FileNotFoundError:
            continue
        except OSError as error:
            return Finding("logs", Severity.CRITICAL, explain(error, path))
    text = f"history and logs have {size / 1e6:.1f} MB"
    if size > most:
        return Finding("logs", Severity.WARNING, text, "cam gc")
    return Finding("logs", Severity.OK, text)


def _aged(check: str, what: str, at: str, hours: float, now: str, advice: str) -> Finding:
    """How old the newest evidence is; a time that is none, or lies ahead, is never fine."""
    try:
        age = (_moment(now) - _moment(at)).total_seconds() / 3600
    except ValueError:
        return Finding(check, Severity.WARNING, f"{what}, at no time that can be read ({at!r})", advice)
    if age < -1 / 60:
        return Finding(check, Severity.WARNING, f"{what} at {at}, which is yet to come", "look at the clock")
    if age > hours:
        return Finding(check, Severity.WARNING, f"{what} at {at}, {age / 24:.0f} days ago", advice)
    return Finding(check, Severity.OK, f"{what} at {at}")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _rows(path: str) -> Iterator[dict[str, Any] | None]:
    """The objects of a log, oldest first; None for a line that is none, and for a log that cannot be read."""
    try:
        data = read_bytes(path) or b""
    except CamError:
        yield None
        return
    for line in data.split(b"\n"):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            yield row if isinstance(row, dict) else None
