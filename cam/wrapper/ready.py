"""What has to be done but once to read a session, done while Codex is at work and nobody waits."""

from dataclasses import replace

from cam.core.evidence import RolloutEvidence

_ENOUGH = 100
"""Items of a session, the last ones, that ask for most of the patterns; a resumed one may have thousands."""


def get_ready(evidence: RolloutEvidence) -> None:
    """Import what reads a session that has ended, and have the patterns compiled that its words ask for.

    Args:
        evidence: what the session says so far; what is found in it now is of no use.
    """
    from cam.continuity.summary import summarize  # noqa: PLC0415 - that is what this is for
    from cam.store.sidecar import all_of  # noqa: F401, PLC0415
    from cam.sync.heuristic import HeuristicExtractor  # noqa: PLC0415
    from cam.sync.review import review  # noqa: F401, PLC0415
    from cam.wrapper.after import finish  # noqa: F401, PLC0415

    last = replace(evidence, items=evidence.items[-_ENOUGH:])
    HeuristicExtractor().extract(last, ())
    summarize(last)
