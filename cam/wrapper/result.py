"""What the wrapper knows before and after a session."""

from dataclasses import dataclass

from cam.continuity.result import Saved
from cam.formats.receipts import InjectionReceipt
from cam.sync.result import SyncReport


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """What is reported when Codex has ended.

    Attributes:
        receipts: one per session that was started under the wrapper.
        sync: what was learned, None if nothing was read.
        background: sessions that are being read in the background.
        warnings: one line each.
        stopped: what was saved of where it stopped.
        repeated: rules that the user said again in it although they had been told.
    """

    receipts: tuple[InjectionReceipt, ...] = ()
    sync: SyncReport | None = None
    background: int = 0
    warnings: tuple[str, ...] = ()
    stopped: tuple[Saved, ...] = ()
    repeated: int = 0
