"""What was learned, for people and as data."""

from collections.abc import Mapping, Sequence
from typing import Any

from cam.core.display import counted, listed, one_line, shortened
from cam.core.evidence import RolloutMeta
from cam.core.operations import Change, MemoryOperation
from cam.formats.record_data import record_to_data
from cam.render.reasons import in_words
from cam.render.records import sign_of
from cam.store.identity import Project
from cam.sync.result import ImportPlan, SessionReport, SyncReport

_SHOWN = 5
_MOST_PROJECTS = 20


def sync_data(report: SyncReport) -> dict[str, Any]:
    """``sync --json``."""
    return {
        "sessions": [_session_data(s) for s in report.sessions],
        "note": report.note or None,
        "problems": [str(p) for p in report.problems],
        "unassigned": [_unassigned_data(m) for m in report.unassigned],
    }


def sync_text(report: SyncReport, *, dry_run: bool, everywhere: bool = False) -> str:
    """``sync``: a line per thing learned or archived, and a closing line.

    Args:
        report: what was done.
        dry_run: nothing was written.
        everywhere: it was about all projects.
    """
    lines = [report.note] if report.note else []
    for session in report.sessions:
        lines += _session_lines(session)
    read = [s for s in report.sessions if s.status in ("synced", "nothing", "planned")]
    lines += unassigned_lines(report.unassigned)
    if not report.sessions and not report.note:
        whose = "of all projects" if everywhere else "of this project"
        return "\n".join([*lines, f"Nothing to do: every session {whose} was read."])
    if read:
        verb = "would change" if dry_run else "changed"
        ids = {s.meta.session for s in read}
        projects = {s.project for s in read}
        among = f" in {counted(len(projects), 'project')}" if everywhere else ""
        lines.append(
            f"{counted(len(ids), 'session')} read{among}, {counted(len(report.changes), 'record')} {verb}"
            + (", nothing written" if dry_run else "")
            + (" (undo: cam undo)" if report.changes and not dry_run else "")
        )
    elif not lines:
        lines.append("Nothing to learn from: only sub-agents' sessions were new.")
    return "\n".join(lines)


def unassigned_lines(sessions: Sequence[RolloutMeta]) -> list[str]:
    """Sessions that nobody can place, by the folder they ran in."""
    folders: dict[str, int] = {}
    for meta in sessions:
        name = meta.cwd or meta.git_remote or "no folder"
        folders[name] = folders.get(name, 0) + 1
    shown = [f"  {one_line(name)}: {counted(n, 'session')}" for name, n in list(folders.items())[:_SHOWN]]
    more = [f"  and {counted(len(folders) - _SHOWN, 'more folder')}"] if len(folders) > _SHOWN else []
    head = f"! {counted(len(sessions), 'session')} of no known project (the folder is gone):"
    return [head, *shown, *more] if sessions else []


def import_data(plan: ImportPlan) -> dict[str, Any]:
    """``import codex --json``: what there is."""
    first, last = _span(plan)
    return {
        "plan": {
            "sessions": len(plan.own),
            "bytes": plan.size,
            "from": first or None,
            "to": last or None,
            "expected_records": plan.expected,
            "projects": [
                {"project": name, "root": root or None, "sessions": n, "bytes": size}
                for name, root, n, size in _by_project(plan)
            ],
        },
        "unassigned": [_unassigned_data(m) for m in plan.unassigned],
    }


def plan_text(plan: ImportPlan, *, dry_run: bool) -> str:
    """``import codex``: what there is, before anything is written."""
    if not plan.own:
        return "\n".join([*unassigned_lines(plan.unassigned), "Nothing to import: every session was read."])
    projects, (first, last) = _by_project(plan), _span(plan)
    when = f", {first[:10]} to {last[:10]}" if first else ""
    there = f"{counted(len(plan.own), 'session')} in {counted(len(projects), 'project')}"
    lines = [f"{there}, {_bytes(plan.size)}{when}; about {counted(plan.expected, 'record')} to expect"]
    shown = projects[:_MOST_PROJECTS]
    width = max(len(counted(n, "session")) for _, _, n, _ in shown)
    for name, root, n, size in shown:
        lines.append(f"  {counted(n, 'session'):>{width}}  {_bytes(size):>8}  {root or name}")
    if len(projects) > len(shown):
        lines.append(f"  and {counted(len(projects) - len(shown), 'more project')}")
    lines += unassigned_lines(plan.unassigned)
    if dry_run:
        lines.append("Nothing was written.")
    return "\n".join(lines)


def import_text(report: SyncReport, projects: Mapping[str, Project]) -> str:
    """``import codex``: what was learned, project by project."""
    lines = []
    for name in dict.fromkeys(s.project for s in report.sessions):
        own = [s for s in report.sessions if s.project == name]
        changed = sum(len(s.plan.changes) for s in own)
        read = sum(s.status in ("synced", "nothing") for s in own)
        if read:
            root = projects[name].root if name in projects else ""
            lines.append(
                f"+ {root or name}: {counted(read, 'session')}, {counted(changed, 'record')} changed"
            )
    for session in report.failed:
        lines += _session_lines(session)
    read = len({s.meta.session for s in report.sessions if s.status in ("synced", "nothing")})
    lines.append(f"{counted(read, 'session')} read, {counted(len(report.changes), 'record')} changed")
    return "\n".join(lines)


def _by_project(plan: ImportPlan) -> list[tuple[str, str, int, int]]:
    """Id, root, sessions and bytes of each project, the largest first."""
    found: dict[str, tuple[str, int, int]] = {}
    for pending in plan.own:
        for project in pending.projects:
            root, n, size = found.get(project.id, (project.root, 0, 0))
            found[project.id] = (root, n + 1, size + max(0, pending.size))
    rows = [(name, *row) for name, row in found.items()]
    return sorted(rows, key=lambda row: (-row[3], row[0]))


def _span(plan: ImportPlan) -> tuple[str, str]:
    times = [p.meta.started_at for p in plan.own if p.meta.started_at]
    return (min(times), max(times)) if times else ("", "")


def _bytes(size: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def learned_line(changes: Sequence[Change]) -> str:
    """The wrapper's one line: what was learned and how to take it back; "" for nothing."""
    learned = [c for c in changes if c.after is not None and c.after.state == "active"]
    gone = [c for c in changes if c.before is not None and (c.after is None or c.after.state != "active")]
    parts = []
    if learned:
        texts = "; ".join(_clip(c.after.summary) for c in learned[:3] if c.after)
        more = f" and {len(learned) - 3} more" if len(learned) > 3 else ""
        parts.append(f"learned {len(learned)}: {texts}{more}")
    if gone:
        parts.append(f"no longer true: {'; '.join(_clip(c.before.summary) for c in gone[:3] if c.before)}")
    return " · ".join([*parts, "undo: cam undo"]) if parts else ""


def _session_data(session: SessionReport) -> dict[str, Any]:
    plan = session.plan
    return {
        "session": session.meta.session,
        "rollout": session.meta.path,
        "project": session.project,
        "status": session.status,
        "applied": [_change_data(c) for c in plan.changes],
        "noop": [_operation_data(o) for o in plan.noops],
        "suppressed": [
            {
                "summary": c.candidate.summary,
                "scope": str(c.candidate.scope),
                "topic": c.candidate.topic,
                "conflicts_with": [str(r.ref) for r in c.records],
                "reason": c.reason,
            }
            for c in session.conflicts
        ],
        "rejected": [{"text": r.text, "reason": r.reason} for r in session.rejections],
        "problems": [str(p) for p in session.problems],
        "error": session.error or None,
        "extractor": session.extractor,
        "fallback_reason": session.fallback_reason or None,
    }


def _unassigned_data(meta: RolloutMeta) -> dict[str, Any]:
    return {"session": meta.session, "rollout": meta.path, "cwd": meta.cwd, "remote": meta.git_remote}


def _change_data(change: Change) -> dict[str, Any]:
    return {
        "kind": str(change.operation.kind),
        "ref": str(change.ref),
        "reason": change.operation.reason,
        "rule": change.operation.rule,
        "before": record_to_data(change.before) if change.before else None,
        "after": record_to_data(change.after) if change.after else None,
        "quotes": [q.text for q in change.operation.quotes],
    }


def _operation_data(operation: MemoryOperation) -> dict[str, Any]:
    return {"kind": str(operation.kind), "ref": str(operation.record.ref), "reason": operation.reason}


def _session_lines(session: SessionReport) -> list[str]:
    if session.status == "failed":
        return [f"! session {session.meta.session} was not read: {session.error}"]
    lines = [f"! {session.fallback_reason}"] if session.fallback_reason else []
    for change in session.plan.changes:
        record = change.after or change.before
        assert record is not None
        lines.append(f"{sign_of(change)} {listed(record.summary)}\n    {change.ref}")
    lines += [
        f"? {listed(c.candidate.summary)}\n    not kept: {in_words(c.reason)} (cam review)"
        for c in session.conflicts[:_SHOWN]
    ]
    return lines


def _clip(text: str, width: int = 60) -> str:
    return shortened(one_line(text), width)
