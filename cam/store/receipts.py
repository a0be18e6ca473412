"""Receipts on disk, and what the audit log says of rules that users repeated."""

import json
import os
from dataclasses import dataclass

from cam.formats.json_line import dump_line
from cam.formats.receipts import InjectionReceipt, parse_receipts, render_receipt
from cam.store.layout import StoreLayout
from cam.system.files import append_to_log, make_folder
from cam.system.locking import HeldElsewhereError, hold

MOST_BYTES = 4_000_000
"""What is read of the end of either log: some ten thousand sessions."""

WAIT_SECONDS = 2.0
"""How long a receipt waits for another writer of the store; it can be made again from the rollout."""

_REPEATS = ("restatement", "narrower")
"""Rules of the contradiction review by which a statement was known already."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A record that the user said again.

    Attributes:
        session: in which.
        key: ``scope:topic:id``.
        at: ISO-8601 UTC of the sync that saw it.
    """

    session: str
    key: str
    at: str


def receipts_file(layout: StoreLayout) -> str:
    """The receipts of all projects."""
    return layout.cache_file("receipts.jsonl")


def read_receipts(layout: StoreLayout) -> list[InjectionReceipt]:
    """The newest receipts of all projects, oldest first."""
    return list(parse_receipts(_last_lines(receipts_file(layout))))


def add_receipt(layout: StoreLayout, receipt: InjectionReceipt, *, is_told: bool = True) -> bool:
    """Keep a receipt, and say in the audit log whether memory arrived, where that is known.

    Under the store's lock, for others rewrite these files as a whole; not for use before Codex starts.

    Args:
        layout: of the project's store.
        receipt: what to keep.
        is_told: whether the audit log is told.

    Returns:
        False where another writer held the store for longer than a receipt waits; nothing is kept then.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    make_folder(layout.root)
    try:
        with hold(layout.lock_file, WAIT_SECONDS):
            append_to_log(receipts_file(layout), render_receipt(receipt))
            if is_told and receipt.arrived is not None:
                append_to_log(layout.audit_file, _audit_line(receipt))
    except HeldElsewhereError:
        return False
    return True


def read_repeats(layout: StoreLayout) -> list[Repeat]:
    """What users said again, by the project's audit log; a session that was read twice counts once."""
    found: dict[tuple[str, str], Repeat] = {}
    for line in _last_lines(layout.audit_file):
        if b'"noop":[{' not in line:
            continue
        try:
            data = json.loads(line)
            for operation in data["noop"]:
                scope, _, topic, name = str(operation["ref"]).split(":")
                repeat = Repeat(str(data["session"]), f"{scope}:{topic}:{name}", str(data["at"]))
                if operation["rule"] in _REPEATS:
                    found.setdefault((repeat.session, repeat.key), repeat)
        except (ValueError, KeyError, TypeError):
            continue
    return list(found.values())


def _audit_line(receipt: InjectionReceipt) -> str:
    told = {
        "session": receipt.session, "codex": receipt.codex, "strategy": receipt.strategy,
        "source": receipt.source, "arrived": receipt.arrived, "tokens": receipt.tokens,
        "refs": list(receipt.refs), "line": receipt.line, "reason": receipt.reason,
    }  # fmt: skip
    nothing: dict[str, list[str]] = {k: [] for k in ("applied", "noop", "suppressed", "rejected", "problems")}
    return dump_line({"at": receipt.at, "kind": "receipt", "actor": "cam", **told, **nothing})


def _last_lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MOST_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return []
    return lines[1:] if size > MOST_BYTES else lines
