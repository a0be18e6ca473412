"""What is said of the store itself."""

from typing import Any

from cam.render.records import problem_data
from cam.store.predecessor import Restored
from cam.store.verify import Report


def verify_data(report: Report) -> dict[str, Any]:
    """``store verify --json``."""
    return {
        "sound": not report.problems,
        "projects": report.projects,
        "records": report.records,
        "files": report.files,
        "problems": problem_data(report.problems),
        "notes": problem_data(report.notes),
    }


def verify_text(report: Report) -> str:
    """A paragraph per finding, and a closing line."""
    lines = []
    for word, found in (("problem", report.problems), ("note", report.notes)):
        for finding in found:
            place = f"{finding.path}:{finding.line}" if finding.line else finding.path
            lines += [f"{word:<8} {place}", f"         {finding.reason}"]
            lines += [f"         → {finding.advice}"] if finding.advice else []
    what = f"{_count(report.records, 'record')} in {_count(report.files, 'file')}"
    if report.problems:
        return "\n".join([*lines, f"{_count(len(report.problems), 'problem')} in the store: {what}."])
    return "\n".join([*lines, f"The store is sound: {what}."])


def restored_data(done: Restored) -> dict[str, Any]:
    """``store restore-ts --json``."""
    return {"backup": done.backup, "aside": done.aside or None, "files": done.files}


def restored_text(done: Restored) -> str:
    """Where everything is now."""
    lines = [f"{_count(done.files, 'file')} of the predecessor's store are back, from {done.backup}."]
    lines += [f"What stood there before: {done.aside}"] if done.aside else []
    return "\n".join(lines)


def _count(n: int, noun: str) -> str:
    return f"1 {noun}" if n == 1 else f"{n} {noun}s"
