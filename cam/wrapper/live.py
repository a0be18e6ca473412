"""The session's rollout, read while Codex writes it, so that little is left to do when Codex has ended.

A thread looks every half second; it opens files for reading alone and dies with the process. Whatever goes
wrong here only means that the file is read afterwards.
"""

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from cam.startup.started import sessions_of_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from cam.core.evidence import RolloutEvidence, RolloutMeta
    from cam.formats.rollout import RolloutReader

_EVERY = 0.5  # seconds between two looks
_CHUNK = 1 << 18
_LONGEST_LINE = 16 << 20
_MOST_LEFT = 200_000_000  # bytes that are worth reading when Codex has ended: half a second


class LiveReader:
    """Follows the sessions that the hook noted in a run's folder.

    Args:
        run: the run's folder.
        get_ready: called once with what a session says, as soon as its user has said something.
    """

    def __init__(self, run: str, get_ready: "Callable[[RolloutEvidence], None] | None" = None) -> None:
        self._run = run
        self._get_ready = get_ready
        self._stop = threading.Event()
        self._followed: dict[str, _Followed] = {}
        self._thread = threading.Thread(target=self._follow, name="cam-live", daemon=True)

    def start(self) -> None:
        """Begin; a machine that has no thread left is no reason not to start Codex."""
        with contextlib.suppress(RuntimeError):
            self._thread.start()

    def finish(self) -> None:
        """Stop, and read the little that is left."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(2)
        if self._thread.ident is None or self._thread.is_alive():
            self._followed = {}
            return
        with contextlib.suppress(Exception):  # it is read anew
            self._look()
            for followed in self._followed.values():
                followed.read_on(None, _MOST_LEFT)

    def evidence(self, meta: "RolloutMeta") -> "RolloutEvidence | None":
        """What the session says, if its file was followed to its end; None where it must be read anew."""
        from dataclasses import replace  # noqa: PLC0415

        followed = self._followed.get(meta.session)
        if followed is None or meta.base_session is not None or not followed.is_whole(meta.path):
            return None
        if followed.reader.replay_is_a_guess:
            return None  # the parent's file decides
        evidence = followed.reader.evidence()
        own = evidence.meta
        if (own.session, own.is_primary) != (meta.session, meta.is_primary):
            return None
        return replace(evidence, meta=meta)

    def _follow(self) -> None:
        while not self._stop.wait(_EVERY):
            try:
                self._look()
                for followed in list(self._followed.values()):
                    followed.read_on(self._stop)
                    self._prepare(followed.reader)
            except Exception:
                self._followed = {}
                return

    def _prepare(self, reader: "RolloutReader") -> None:
        get_ready = self._get_ready
        if get_ready is not None and not self._stop.is_set():
            evidence = reader.evidence()
            if evidence.user_messages:
                self._get_ready = None
                with contextlib.suppress(Exception):  # it is done when it is needed
                    get_ready(evidence)

    def _look(self) -> None:
        for note in sessions_of_run(self._run):
            session, path = note.get("session"), note.get("transcript")
            if isinstance(session, str) and isinstance(path, str) and session not in self._followed:
                self._followed[session] = _Followed(path)


class _Followed:
    """One growing file."""

    def __init__(self, path: str) -> None:
        from cam.formats.rollout import RolloutReader  # noqa: PLC0415 - Codex must not wait for this import

        self.reader = RolloutReader(path)
        self._path = path
        self._inode = 0
        self._at = 0
        self._rest = b""
        self._is_lost = False

    def read_on(self, stop: threading.Event | None, most: int = 1 << 62) -> None:
        """Feed the whole lines that were added, until ``stop`` is set or ``most`` bytes were read."""
        if self._is_lost:
            return
        try:
            with open(self._path, "rb", buffering=0) as file:
                state = os.fstat(file.fileno())
                if self._inode not in (0, state.st_ino) or state.st_size < self._at:
                    self._is_lost = True  # rewritten: it is read anew
                    return
                self._inode = state.st_ino
                file.seek(self._at)
                end = min(state.st_size, self._at + most)
                while self._at < end and not (stop is not None and stop.is_set()):
                    self._take(file.read(_CHUNK))
        except FileNotFoundError:
            self._is_lost = self._inode != 0  # else it is not there yet
        except OSError:
            self._is_lost = True

    def is_whole(self, path: str) -> bool:
        """Whether the file was read to its end and is still the one that was followed."""
        try:
            state = os.stat(path)
        except OSError:
            return False
        same = state.st_ino == self._inode and state.st_size == self._at
        return same and not self._rest and not self._is_lost

    def _take(self, data: bytes) -> None:
        self._at += len(data)
        data = self._rest + data
        cut = data.rfind(b"\n") + 1
        self._rest = data[cut:]
        if cut:
            self.reader.feed_block(data[:cut])
        self._is_lost |= len(self._rest) > _LONGEST_LINE
