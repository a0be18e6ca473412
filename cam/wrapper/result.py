"""What the wrapper knows before and after a session."""

from dataclasses import dataclass

from cam.continuity.result import Saved
from cam.sync.result import SyncReport


@dataclass(frozen=True, slots=True)
class InjectionReceipt:
    """Whether the payload reached the model, read from the rollout itself.

    Attributes:
        session: its id, "" if no session was found.
        strategy: how it was to travel.
        source: why the session started (``startup``, ``resume`` …).
        arrived: None where there was nothing to tell, or nothing to read it from (``reason`` says which).
        tokens: estimated tokens of what arrived.
        refs: keys ``scope:topic:id`` of the records in it.
        line: line of the rollout it stands in, 0 if it does not.
        reason: why it did not arrive, or why that is not known.
    """

    session: str
    strategy: str
    source: str = "startup"
    arrived: bool | None = None
    tokens: int = 0
    refs: tuple[str, ...] = ()
    line: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """What is reported when Codex has ended.

    Attributes:
        receipts: one per session that was started under the wrapper.
        sync: what was learned, None if nothing was read.
        background: sessions that are being read in the background.
        warnings: one line each.
        stopped: what was saved of where it stopped.
    """

    receipts: tuple[InjectionReceipt, ...] = ()
    sync: SyncReport | None = None
    background: int = 0
    warnings: tuple[str, ...] = ()
    stopped: tuple[Saved, ...] = ()
