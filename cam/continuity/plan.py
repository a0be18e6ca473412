"""What a save does to both layers: pure, from what was read and what the session left."""

from collections.abc import Mapping
from dataclasses import dataclass

from cam.continuity.layers import merge, split
from cam.continuity.summary import Summary
from cam.formats.continuity_file import (
    LISTS,
    MAX_ITEMS,
    ContinuityFile,
    ContinuityState,
    Front,
    digest,
    new_file,
    put,
    render,
    theirs,
)
from cam.store.continuity import LOCAL, PROJECT, LayerFile, note_data


@dataclass(frozen=True, slots=True)
class SavePlan:
    """What is to be saved.

    Attributes:
        summary: what the session left.
        scope: ``project``, ``project-local`` or ``both``.
        replace: whether cam's items of earlier sessions go.
        session: the session's id.
        project: ids of project and worktree.
        branch: the session's branch, None if unknown.
        at: ISO-8601 UTC.
        local_path: where the local layer is written; None where nothing may be written into the folder.
        note_paths: where it is kept which items are cam's, by layer.
    """

    summary: Summary
    scope: str
    replace: bool
    session: str
    project: tuple[str, str]
    branch: str | None
    at: str
    local_path: str | None
    note_paths: Mapping[str, str]


def plan_save(plan: SavePlan, project: LayerFile, local: LayerFile) -> dict[str, bytes | None]:
    """New bytes by path; only of files that change, and none that would hold nothing."""
    state = plan.summary.state
    if plan.summary.is_aside and not plan.replace and (project.state.goal or local.state.goal):
        state = _with_goal(state, "")
    layers = split(state, plan.branch)
    new = {PROJECT: layers.project, LOCAL: layers.local}
    if plan.local_path is None and plan.scope == "both":
        new = {PROJECT: state, LOCAL: ContinuityState()}
    files: dict[str, bytes | None] = {}
    for layer in (project, local):
        if plan.scope not in (layer.layer, "both") or (layer.layer == LOCAL and plan.local_path is None):
            continue
        other = new[LOCAL if layer.layer == PROJECT else PROJECT]
        files.update(_save_layer(plan, layer, new[layer.layer], other))
    return files


def _save_layer(
    plan: SavePlan, layer: LayerFile, new: ContinuityState, other: ContinuityState
) -> dict[str, bytes | None]:
    file = layer.file or new_file()
    same_session = file.fields.get("sourceSessionId") == plan.session
    removed = (layer.removed | _taken_out(layer)) if same_session else frozenset()
    new = _filtered(new, removed)
    own = theirs(file, layer.written)
    old = _without(file.state, own)
    state = new if plan.replace else merge(new, old, plan.summary)
    if (
        not new.goal
        and other.goal
        and (layer.layer == LOCAL or file.fields.get("worktreeId") == plan.project[1])
    ):
        state = _with_goal(state, "")  # the goal of now stands in the other layer
    state = _without(state, own)
    if layer.data is None and state.is_empty:
        return {}
    path = layer.path if layer.layer == PROJECT or plan.local_path is None else plan.local_path
    front = Front(layer.layer, *plan.project, plan.at, plan.session)
    if path == layer.path and render(_put(file, state, front, layer, plan.at, keep_time=True)) == layer.data:
        return {}
    written = frozenset(digest(key, item) for key in LISTS for item in state.items(key))
    return {
        path: render(_put(file, state, front, layer, plan.at)),
        plan.note_paths[layer.layer]: note_data(written, removed),
    }


def _put(
    file: ContinuityFile,
    state: ContinuityState,
    front: Front,
    layer: LayerFile,
    at: str,
    *,
    keep_time: bool = False,
) -> ContinuityFile:
    at = file.fields.get("updatedAt", at) if keep_time else at
    front = Front(front.scope, front.project, front.worktree, at, front.session)
    return put(file, state, front, layer.written)


def _taken_out(layer: LayerFile) -> frozenset[str]:
    """Items that cam wrote and a person took out."""
    there = {digest(key, item) for key in LISTS for item in layer.state.items(key)}
    return frozenset((layer.written or frozenset()) - there)


def _filtered(state: ContinuityState, removed: frozenset[str]) -> ContinuityState:
    lists = {k: tuple(i for i in state.items(k) if digest(k, i) not in removed)[:MAX_ITEMS] for k in LISTS}
    return ContinuityState(state.goal, **lists)


def _without(state: ContinuityState, gone: ContinuityState) -> ContinuityState:
    lists = {k: tuple(i for i in state.items(k) if i not in gone.items(k)) for k in LISTS}
    return ContinuityState(state.goal, **lists)


def _with_goal(state: ContinuityState, goal: str) -> ContinuityState:
    return ContinuityState(goal, **{k: state.items(k) for k in LISTS})
