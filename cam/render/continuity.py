"""Continuity for people and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cam.continuity.brief import brief, over
from cam.core.display import one_line
from cam.formats.continuity_file import LISTS, ContinuityState

if TYPE_CHECKING:  # 'cam memory' needs none of what reads sessions
    from cam.continuity.result import Cleared, Saved, Status
    from cam.store.continuity import LayerFile, Marker

_TITLES = {"project": "Project", "project-local": "This worktree"}


def status_data(status: Status) -> dict[str, Any]:
    """``session status --json``."""
    return {
        "setting": status.setting,
        "layers": [_layer_data(layer) for layer in status.layers],
        "pending": marker_data(status.marker),
        "latest": status.latest,
        "audit_rows": status.rows,
    }


def status_text(status: Status) -> str:
    """``session status``: what is kept where, since when, and what waits to be done."""
    lines = [f"Session continuity: {status.setting}"]
    for layer in status.layers:
        lines += ["", f"{_TITLES[layer.layer]}: {one_line(layer.path)}"]
        if layer.problem:
            lines.append(f"  {one_line(layer.problem)}")
        elif layer.file is None:
            lines.append("  nothing kept")
        else:
            fields, state = layer.file.fields, layer.state
            lines.append(f"  updated  {one_line(fields.get('updatedAt', 'unknown'))}")
            lines.append(f"  goal     {one_line(state.goal) or 'none'}")
            lines.append(f"  items    {sum(len(state.items(key)) for key in LISTS)}")
    if status.latest is not None:
        row = status.latest
        lines += ["", f"Last write: {row.get('action')} at {row.get('at')} ({row.get('trigger')})"]
        lines += [f"  warning  {one_line(str(w))}" for w in row.get("warnings") or ()]
    if status.marker is not None:
        lines += ["", marker_text(status.marker)]
    return "\n".join(lines)


def marker_data(marker: Marker | None) -> dict[str, Any] | None:
    """What waits to be done, as data."""
    if marker is None:
        return None
    return {
        "stage": marker.stage,
        "scope": marker.scope,
        "session": marker.session or None,
        "rollout": marker.rollout,
        "at": marker.at,
        "error": marker.error,
        "written": list(marker.written),
    }


def marker_text(marker: Marker) -> str:
    """What waits to be done, in a line."""
    what = "was not saved" if marker.stage == "summary-write" else "was saved, its audit line was not"
    return f"A session {what} ({one_line(marker.error)}); the next run or 'cam session save' does it"


def load_data(layers: tuple[LayerFile, LayerFile], most: int) -> dict[str, Any]:
    """``session load --json``: both layers, both as one, and the lines of the start block."""
    lines = brief(layers)
    project, local = layers
    kept = lines[: max(0, most - 1)]
    return {
        "layers": [_layer_data(layer) | {"state": _state_data(layer.state)} for layer in layers],
        "merged": _state_data(over(local.state, project.state)),
        "startup": {"lines": list(kept), "omitted": len(lines) - len(kept)},
        "sources": [layer.path for layer in layers if layer.file is not None],
    }


def load_text(layers: tuple[LayerFile, LayerFile]) -> str:
    """``session load``: both layers as one."""
    project, local = layers
    lines = _state_lines(over(local.state, project.state))
    for layer in (local, project):
        if layer.file is not None:
            for title, said in layer.file.additions:
                lines += ["", one_line(title), *(f"  {one_line(line)}" for line in said)]
    return "\n".join(lines).strip("\n") or "Nothing is kept of earlier sessions here."


def saved_data(saved: Saved) -> dict[str, Any]:
    """``session save --json`` and ``refresh``."""
    meta, summary = saved.meta, saved.summary
    return {
        "action": saved.action,
        "mode": saved.mode,
        "scope": saved.scope,
        "session": meta.session,
        "rollout": meta.path,
        "chosen": saved.chosen,
        "primary": meta.is_primary,
        "persisted": saved.persisted,
        "written": list(saved.written),
        "state": _state_data(summary.state),
        "confidence": summary.confidence,
        "warnings": list(summary.warnings),
        "extractor": summary.extractor,
        "fallback_reason": summary.fallback_reason or None,
        "counts": summary.counts,
    }


def saved_text(saved: Saved) -> str:
    """What was saved, and where."""
    lines = _state_lines(saved.summary.state)
    if saved.persisted:
        lines += ["", *(f"written: {path}" for path in saved.written)]
        lines += [] if saved.written else ["nothing changed: it was saved before"]
    return "\n".join(lines).strip("\n")


def saved_line(saved: Sequence[Saved]) -> str:
    """One line for the report after a session, "" where nothing was left to do."""
    last = next((s for s in reversed(saved) if s.written), None)
    steps = last.summary.state.next_steps if last is not None else ()
    if not steps:
        return ""
    more = "" if len(steps) == 1 else f" and {len(steps) - 1} more"
    return f"left to do: {one_line(steps[0])}{more} · cam session load"


def cleared_data(cleared: Cleared) -> dict[str, Any]:
    """``session clear --json``."""
    return {"files": list(cleared.files), "undone": cleared.is_undo}


def cleared_text(cleared: Cleared) -> str:
    """What was taken away or brought back."""
    if not cleared.files:
        return "Nothing is kept here."
    word = "back" if cleared.is_undo else "cleared"
    lines = [f"{word}: {one_line(path)}" for path in cleared.files]
    return "\n".join(lines + ([] if cleared.is_undo else ["undo: cam session clear --undo"]))


def _layer_data(layer: LayerFile) -> dict[str, Any]:
    fields = layer.file.fields if layer.file is not None else {}
    return {
        "scope": layer.layer,
        "path": layer.path,
        "exists": layer.file is not None,
        "updated_at": fields.get("updatedAt"),
        "session": fields.get("sourceSessionId"),
        "status": fields.get("status"),
        "goal": layer.state.goal or None,
        "items": sum(len(layer.state.items(key)) for key in LISTS),
        "problem": layer.problem or None,
    }


def _state_data(state: ContinuityState) -> dict[str, Any]:
    return {"goal": state.goal or None, **{key: list(state.items(key)) for key in LISTS}}


def _state_lines(state: ContinuityState) -> list[str]:
    titles = {
        "next_steps": "Next",
        "failed": "Tried and failed",
        "untried": "Not tried yet",
        "working": "Works",
        "notes": "Files, decisions, environment",
    }
    lines = [f"Goal: {one_line(state.goal)}"] if state.goal else []
    for key, title in titles.items():
        if state.items(key):
            lines += ["", title, *(f"  {one_line(item)}" for item in state.items(key))]
    return lines
