"""cache/receipts.jsonl: one line per session that was told something, or should have been.

``{"at", "project", "worktree", "session", "codex", "strategy", "source", "arrived", "tokens", "refs",
"line", "reason", "recalled", "cited"}``; keys of records are ``scope:topic:id``. Lines that cannot be read
are left out.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from cam.formats.json_line import dump_line


@dataclass(frozen=True, slots=True)
class InjectionReceipt:
    """Whether the payload reached the model, read from the rollout itself.

    Attributes:
        session: its id, "" if no session was found.
        strategy: how it was to travel; ``rollout`` where the receipt was made later, from the rollout alone.
        source: why the session started (``startup``, ``resume`` …).
        arrived: None where there was nothing to tell, or nothing to read it from (``reason`` says which).
        tokens: estimated tokens of what arrived.
        refs: keys ``scope:topic:id`` of the records in it.
        line: line of the rollout it stands in, 0 if it does not.
        reason: why it did not arrive, or why that is not known.
        recalled: records that the model asked for by their ref.
        cited: records in it that the model's own words name or say again.
        at: ISO-8601 UTC.
        project: the project's id, "" where there is none.
        worktree: the worktree's id, "" likewise.
        codex: the release, "" where it is not known.
    """

    session: str
    strategy: str
    source: str = "startup"
    arrived: bool | None = None
    tokens: int = 0
    refs: tuple[str, ...] = ()
    line: int = 0
    reason: str = ""
    recalled: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    at: str = ""
    project: str = ""
    worktree: str = ""
    codex: str = ""


_LISTS = ("refs", "recalled", "cited")
_KNOWN = frozenset(field.name for field in fields(InjectionReceipt))


def render_receipt(receipt: InjectionReceipt) -> str:
    """One line, without its line feed."""
    return dump_line(asdict(receipt))


def parse_receipts(lines: Iterable[bytes]) -> Iterator[InjectionReceipt]:
    """Receipts in file order."""
    for line in lines:
        try:
            data: dict[str, Any] = {k: v for k, v in json.loads(line).items() if k in _KNOWN}
            data |= {name: tuple(map(str, data.get(name) or ())) for name in _LISTS}
            data |= {name: int(data.get(name) or 0) for name in ("tokens", "line")}
            arrived = data.get("arrived")
            receipt = InjectionReceipt(**data)
        except (ValueError, TypeError, AttributeError):
            continue
        if arrived in (True, False, None):
            yield receipt
