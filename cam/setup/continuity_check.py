"""cam doctor: how session continuity stands, and which instruction files apply here."""

from collections.abc import Sequence

from cam.setup.doctor import Finding, Severity
from cam.setup.instruction_files import InstructionFile
from cam.store.continuity import ContinuityStore

_MOST_NAMED = 6


def check_continuity(store: ContinuityStore | None, setting: str) -> tuple[Finding, ...]:
    """What could not be read, and what waits to be done.

    Args:
        store: None where there is no project.
        setting: ``auto``, ``manual`` or ``off``.
    """
    if store is None:
        return ()
    layers = store.read()
    findings = [
        Finding("continuity", Severity.WARNING, layer.problem, "cam session status")
        for layer in layers
        if layer.problem
    ]
    marker = store.marker()
    if marker is not None:
        what = "was not saved" if marker.stage == "summary-write" else "has no audit line"
        text = f"where a session stopped {what} ({marker.stage}): {marker.error}"
        findings.append(Finding("continuity", Severity.WARNING, text, "cam session save"))
    kept = sum(layer.data is not None for layer in layers)
    said = {0: "nothing kept yet", 1: "one layer kept", 2: "both layers kept"}[kept]
    return tuple(findings) or (Finding("continuity", Severity.OK, f"{setting}, {said}"),)


def check_instructions(files: Sequence[InstructionFile]) -> Finding:
    """Which instruction files apply here; they are read by Codex and other agents, not by cam."""
    read = [f.path for f in files if f.agent == "codex" and f.is_read]
    others = [f.path for f in files if f.path not in read]
    text = f"Codex reads {', '.join(read)}" if read else "no AGENTS.md that Codex reads"
    if others:
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        text += f"; also there: {', '.join(others[:_MOST_NAMED])}{more}"
    return Finding("guidance", Severity.OK, text)
