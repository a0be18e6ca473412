"""What a session is told of where the last one stopped: lines, the most useful first. Pure.

Light: it runs before Codex starts.
"""

from collections.abc import Iterable, Sequence

from cam.core.quoting import NOTE
from cam.formats.continuity_file import LISTS, MAX_ITEM, ContinuityState, tidy
from cam.store.continuity import LayerFile

_LABELS = {
    "next_steps": "Next",
    "failed": "Failed",
    "untried": "Not tried",
    "working": "Works",
    "notes": NOTE.removesuffix(": "),
}


def brief(layers: Sequence[LayerFile]) -> tuple[str, ...]:
    """One line an item, each by itself: the goal and the next steps first, a person's own sections last.

    Warnings and confidence are not part of it.
    """
    project, local = layers
    state = over(local.state, project.state)
    lines = [f"Goal: {state.goal}"] if state.goal else []
    for key, label in _LABELS.items():
        lines += [f"{label}: {item}" for item in state.items(key)]
    for layer in (local, project):
        if layer.file is not None:
            for title, said in layer.file.additions:
                lines += [
                    tidy(f"{title}: {line.lstrip('-* ')}" if title else line, MAX_ITEM * 2) for line in said
                ]
    return tuple(lines)


def over(local: ContinuityState, project: ContinuityState) -> ContinuityState:
    """Both layers as one: local over project, the same item once."""
    lists = {key: _once([*local.items(key), *project.items(key)]) for key in LISTS}
    return ContinuityState(local.goal or project.goal, **lists)


def _once(items: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for item in items:
        seen.setdefault(item.casefold().strip(" .。"), item)
    return tuple(seen.values())
