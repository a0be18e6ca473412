"""A session source that reads each rollout once per process: receipt and sync share what was read."""

from collections.abc import Callable, Iterable

from cam.core.evidence import RolloutEvidence, RolloutMeta
from cam.core.problems import Problem
from cam.core.seams import SessionSource
from cam.store.session_index import SessionIndex


class ReadOnce:
    """Implements ``cam.core.seams.SessionSource`` on top of another one.

    Args:
        inner: the other one.
        ready: what was read already while the session ran; None for a session that must be read.
    """

    def __init__(
        self, inner: SessionSource, ready: Callable[[RolloutMeta], RolloutEvidence | None] | None = None
    ) -> None:
        self._inner = inner
        self._ready = ready
        self._metas: tuple[RolloutMeta, ...] | None = None
        self._evidence: dict[str, RolloutEvidence] = {}
        self.problems: list[Problem] = inner.problems
        self.index: SessionIndex | None = getattr(inner, "index", None)

    def sessions(self) -> Iterable[RolloutMeta]:
        """Headers of all sessions, oldest first."""
        if self._metas is None:
            self._metas = tuple(self._inner.sessions())
        return self._metas

    def header(self, path: str) -> RolloutMeta | None:
        """The header of one file."""
        return self._inner.header(path)

    def find(self, session_id: str) -> RolloutMeta | None:
        """The session with this id."""
        return self._inner.find(session_id)

    def read(self, meta: RolloutMeta) -> RolloutEvidence:
        """Everything one session says; what it said when it was first asked."""
        if meta.session not in self._evidence and not self.is_ready(meta):
            self._evidence[meta.session] = self._inner.read(meta)
        return self._evidence[meta.session]

    def read_on(self, meta: RolloutMeta, after: int) -> RolloutEvidence | None:
        """The end of a session that grew, where its source can tell it apart."""
        read_on = getattr(self._inner, "read_on", None)
        if self.is_ready(meta) or read_on is None:
            return None
        evidence: RolloutEvidence | None = read_on(meta, after)
        return evidence

    def is_ready(self, meta: RolloutMeta) -> bool:
        """Whether the session needs no more reading."""
        if meta.session not in self._evidence and self._ready is not None:
            evidence = self._ready(meta)
            if evidence is not None:
                self._evidence[meta.session] = evidence
                if self.index is not None:
                    self.index.note_evidence(evidence)
        return meta.session in self._evidence
