"""Projects for people and as data."""

from collections.abc import Sequence
from typing import Any

from cam.core.display import counted, one_line
from cam.setup.projects import ProjectRow, WorktreeRow
from cam.store.projects import Attached


def project_data(row: ProjectRow) -> dict[str, Any]:
    """One project as data."""
    known = row.known
    return {
        "id": known.id,
        "current": row.is_current,
        "root": known.root or None,
        "folder": row.place,
        "remotes": list(known.remotes),
        "first_commit": known.first_commit,
        "worktrees": sorted({*known.worktrees, *(tree.id for tree in row.worktrees)}),
        "worktrees_gone": [tree.id for tree in row.worktrees if tree.place == "gone"],
        "absorbed": list(known.absorbed),
        "former_roots": list(known.former_roots),
        "active": row.active,
        "archived": row.archived,
    }


def projects_text(rows: Sequence[ProjectRow]) -> str:
    """A line per project; the current one has a star."""
    if not rows:
        return "The store has no projects yet."
    width = max(len(row.known.id) for row in rows)
    lines = []
    for row in rows:
        place = {"here": "", "gone": "  (gone)", "unknown": "folder not known yet"}[row.place]
        star = "*" if row.is_current else " "
        archived = f" +{row.archived} archived" if row.archived else ""
        count = f"{row.active} active{archived}"
        lines.append(
            f"{star} {row.known.id:<{width}}  {count:<22}  {one_line(row.known.root)}{place}".rstrip()
        )
    return "\n".join(lines)


def project_text(row: ProjectRow) -> str:
    """Everything that is known of one project."""
    known = row.known
    gone = {"here": "", "gone": " (gone)", "unknown": "not known yet"}[row.place]
    lines = [
        ("id", known.id + (" (this project)" if row.is_current else "")),
        ("root", f"{one_line(known.root)}{gone}"),
        *(("remote", one_line(remote)) for remote in known.remotes),
        ("first commit", known.first_commit or "not known"),
        *(("worktree", _worktree(tree)) for tree in row.worktrees),
        *(("took along", name) for name in known.absorbed),
        ("records", f"{row.active} active, {row.archived} archived"),
    ]
    return "\n".join(f"{name:<14}{text}" for name, text in lines)


def worktree_notes(row: ProjectRow) -> tuple[str, ...]:
    """What is remembered for worktrees that are no more, and how to take it along."""
    return tuple(
        f"cam: {counted(tree.records, 'record')} of a worktree that is gone: cam project move {tree.id}"
        for tree in row.worktrees
        if row.is_current and tree.place == "gone" and tree.records
    )


def _worktree(tree: WorktreeRow) -> str:
    place = {"here": "", "gone": " (gone)", "unknown": " (not here)"}[tree.place if tree.records else "here"]
    return tree.id + place + (f", {counted(tree.records, 'record')} of its own" if tree.records else "")


def attached_data(done: Attached) -> dict[str, Any]:
    """``project move`` and ``project merge``."""
    return {
        "from": done.old,
        "to": done.new,
        "changed": bool(done.copy),
        "records": done.records,
        "known": done.known,
        "renamed": list(done.renamed),
        "unplaced_worktrees": list(done.strays),
        "copy": done.copy or None,
    }


def attached_text(done: Attached) -> str:
    """What moved, and where the copy is."""
    if not done.copy:
        return f"{done.new} has the memory of {done.old} already; nothing was changed."
    lines = [f"{done.new} took {counted(done.records, 'record')} along from {done.old}."]
    if done.known:
        lines.append(f"{counted(done.known, 'record')} it had already.")
    lines += [f"under a new id, because another text had it: {ref}" for ref in done.renamed]
    lines += [f"kept, but of no worktree that is known here: {name}" for name in done.strays]
    return "\n".join([*lines, f"As it was before: {done.copy}"])
