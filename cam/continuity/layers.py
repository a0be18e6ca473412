"""Which layer an item belongs to, and a new state over an older one. Pure."""

import re
from dataclasses import dataclass

from cam.continuity import words
from cam.continuity.commands import run_of
from cam.continuity.said import covers, distinct, paths
from cam.continuity.summary import Summary
from cam.core.evidence import ToolCall
from cam.formats.continuity_file import LISTS, MAX_ITEMS, ContinuityState
from cam.language.relations import contradicts
from cam.language.statements import shadow


@dataclass(frozen=True, slots=True)
class Layers:
    """A state by layer.

    Attributes:
        project: what holds for every worktree.
        local: what names files, the branch or the worktree.
    """

    project: ContinuityState
    local: ContinuityState


def split(state: ContinuityState, branch: str | None = None) -> Layers:
    """Which layer each item belongs to; the goal stands in one of them."""
    lists: dict[str, tuple[list[str], list[str]]] = {key: ([], []) for key in LISTS}
    for key in LISTS:
        for item in state.items(key):
            lists[key][is_local(item, branch)].append(item)
    local_goal = bool(state.goal) and is_local(state.goal, branch)
    project = ContinuityState("" if local_goal else state.goal, **{k: tuple(v[0]) for k, v in lists.items()})
    local = ContinuityState(state.goal if local_goal else "", **{k: tuple(v[1]) for k, v in lists.items()})
    return Layers(project, local)


def is_local(text: str, branch: str | None = None) -> bool:
    """Whether ``text`` names files, the branch or the worktree; a command says what it runs on and stays."""
    if text.startswith("Command "):
        return False
    if branch and branch not in ("main", "master") and branch in text:
        return True
    return bool(paths(text)) or words.find("local", shadow(text)) is not None


def merge(new: ContinuityState, old: ContinuityState, summary: Summary) -> ContinuityState:
    """New before old, nothing twice; of the old what the new session did, cleared or contradicts is gone."""
    kept: dict[str, tuple[str, ...]] = {}
    for key in LISTS:
        before = [item for item in old.items(key) if _still_holds(key, item, summary)]
        kept[key] = distinct([*new.items(key), *before])[:MAX_ITEMS]
    return ContinuityState(new.goal or old.goal, **kept)


_COMMAND = re.compile(r"Command (succeeded|failed): `([^`]+)`")


def _still_holds(key: str, item: str, summary: Summary) -> bool:
    """Whether an item of an older state still stands after a session."""
    hit = _COMMAND.match(item)
    if hit is not None:
        old = run_of(ToolCall("shell", hit[2], exit_code=0 if hit[1] == "succeeded" else 1), 0)
        if old is None:
            return True
        return not any(
            r.kind == old.kind and (old.passed or (r.passed and r.clears(old))) for r in summary.runs
        )
    if key in ("next_steps", "untried"):
        return not any(covers(item, gone) for gone in (*summary.done, *summary.given_up))
    if key == "failed":
        return not any(covers(item, d) and words.find("works", shadow(d)) for d in summary.done)
    if key == "notes" and item.startswith("Decision: "):
        newer = [n.removeprefix("Decision: ") for n in summary.state.notes if n.startswith("Decision: ")]
        return not any(contradicts(n, [item.removeprefix("Decision: ")]) for n in newer)
    return True
