"""Candidates for the start, as tests make them."""

from cam.core.candidates import Candidate
from cam.core.records import MemoryRecord


def candidate_of(record: MemoryRecord) -> Candidate:
    """What of ``record`` may be told at start; its summary whole."""
    return Candidate(
        record.scope,
        record.topic,
        record.id,
        record.summary,
        record.updated_at,
        record.pinned,
        record.valid_from or "",
        record.valid_until or "",
        record.is_agents,
    )
