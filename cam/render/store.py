"""What is said of the store itself."""

from typing import Any

from cam.core.display import counted, listed
from cam.memory.machines import Synced
from cam.render.records import problem_data, sign_of
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
            lines += [f"{word:<8} {finding.place}", f"         {finding.reason}"]
            lines += [f"         → {finding.advice}"] if finding.advice else []
    what = f"{counted(report.records, 'record')} in {counted(report.files, 'file')}"
    if report.problems:
        return "\n".join([*lines, f"{counted(len(report.problems), 'problem')} in the store: {what}."])
    return "\n".join([*lines, f"The store is sound: {what}."])


def restored_data(done: Restored) -> dict[str, Any]:
    """``store restore-ts --json``."""
    return {"backup": done.backup, "aside": done.aside or None, "files": done.files}


def restored_text(done: Restored) -> str:
    """Where everything is now."""
    lines = [f"{counted(done.files, 'file')} of the predecessor's store are back, from {done.backup}."]
    lines += [f"What stood there before: {done.aside}"] if done.aside else []
    return "\n".join(lines)


def synced_data(done: Synced) -> dict[str, Any]:
    """``store git sync --json``."""
    return {
        "where": done.where,
        "changes": [{"kind": str(c.operation.kind), "ref": str(c.ref)} for c in done.changes],
        "masked": done.masked,
        "refused": done.refused,
        "sent": done.sent,
    }


def synced_text(done: Synced) -> str:
    """What came, and whether something went."""
    lines = []
    for change in done.changes:
        record = change.after or change.before
        assert record is not None
        lines += [f"{sign_of(change)} {listed(record.summary)}", f"    {record.ref}"]
    came = counted(len(done.changes), "change") if done.changes else "nothing new"
    return "\n".join(
        [*lines, f"{came} from {done.where}; {'sent what is new here' if done.sent else 'sent nothing'}"]
    )


def synced_notes(done: Synced) -> tuple[str, ...]:
    """What was not taken as it came."""
    notes = []
    if done.masked:
        notes.append(
            f"cam: secrets or private spans were cut out of {counted(done.masked, 'record')} that came"
        )
    if done.refused:
        notes.append(
            f"cam: {counted(done.refused, 'record')} that came held nothing but a secret, or was erased here"
        )
    return tuple(notes)
