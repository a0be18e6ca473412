"""What the flows of continuity return."""

from dataclasses import dataclass, field
from typing import Any

from cam.continuity.summary import Summary
from cam.core.evidence import RolloutMeta
from cam.store.continuity import LayerFile, Marker


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did.

    Attributes:
        action: ``save`` or ``refresh``.
        mode: ``merge`` or ``replace``.
        scope: which layers were meant.
        meta: the session that was read.
        chosen: why this one: ``rollout``, ``marker``, ``latest`` or ``audit``.
        summary: what it left.
        written: files that were written; empty where nothing changed.
        persisted: False for a session that may only be looked at.
        note: one line for the person, "" if all is said.
    """

    action: str
    mode: str
    scope: str
    meta: RolloutMeta
    chosen: str
    summary: Summary
    written: tuple[str, ...] = ()
    persisted: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """How continuity stands here.

    Attributes:
        setting: ``auto``, ``manual`` or ``off``.
        layers: both, as read.
        marker: what waits to be done, None if nothing does.
        latest: the last row of the audit log, None without one.
        rows: how many rows there are.
    """

    setting: str
    layers: tuple[LayerFile, LayerFile]
    marker: Marker | None = None
    latest: dict[str, Any] | None = None
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Cleared:
    """What ``clear`` took away, or its undo brought back.

    Attributes:
        files: paths.
        is_undo: whether they were brought back.
    """

    files: tuple[str, ...] = field(default=())
    is_undo: bool = False
