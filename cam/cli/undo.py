"""cam undo."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.display import counted, listed
from cam.core.errors import InvalidInputError
from cam.core.records import NOTES_TOPIC, MemoryRef
from cam.memory.flow import undo
from cam.memory.result import Undone
from cam.render.records import sign_of

_CHANGE = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")  # as the store names its transactions
_SHOWN = 10
"""Records of one change that are named because they stay as they are; ``--json`` has all."""
_LISTED = 20
"""Records that are named because they were taken back; likewise."""


def undo_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[N|CHANGE]",
            help="How many changes to take back, or the one that 'cam why' and 'cam memory diff' name.",
        ),
    ] = "1",
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Take back the last change made here (a sync, a remember, an edit); again for the one before."""
    respond("undo", as_json, Access.WRITES, lambda: _undo(what, cwd))


def _undo(what: str, cwd: str | None) -> Answer:
    steps = min(int(what[:20]), 10**9) if what.isdecimal() else None
    if steps == 0:
        raise InvalidInputError("undo takes back 1 change or more")
    if steps is None and not _CHANGE.fullmatch(what):
        raise InvalidInputError(
            f"{what!r} is neither a number nor the name of a change; 'cam memory diff --since 7d' names them"
        )
    done = undo(enter_context(cwd).store, what if steps is None else steps)
    taken = [step for step in done if step.transaction]
    notes = [note for step in done for note in _reasons(step)]
    notes += [
        f"cam: so nothing of {step.undoes} was there to take back; the change before it was taken"
        for step, after in pairwise(done)
        if not step.transaction and after.transaction
    ]
    notes += [
        f"cam: {what} since; that stays (cam undo {change})" for step in done for change, what in step.passed
    ]
    notes += [
        f"cam: a proposal that you accepted changed {target} since; that stays, git takes it back"
        for step in done
        for target in step.files
    ]
    if steps is not None and 0 < len(taken) < steps:
        was = "change was" if len(taken) == 1 else "changes were"
        notes.append(f"cam: only {len(taken)} {was} there to take back")
    data = {
        "steps": [
            {
                "undoes": s.undoes,
                "transaction": s.transaction,
                "refs": [str(c.ref) for c in s.changes],
                "kept": list(s.kept),
                "same": list(s.same),
                "passed": [change for change, _ in s.passed],
                "files": list(s.files),
            }
            for s in done
        ]
    }
    return Answer(data, _text(taken), tuple(notes))


def _reasons(step: Undone) -> list[str]:
    """Why records of a step stay as they are; of what it did the rest of the answer tells."""
    notes = [f"cam: {ref} was {_became(ref, step)} since and stays as it is" for ref in step.kept]
    notes += [
        f"cam: {ref} {'is gone' if ref in step.gone else 'is as it was before'} already" for ref in step.same
    ]
    more = len(notes) - _SHOWN
    return [*notes[:_SHOWN], *([f"cam: so it is with {counted(more, 'more record')}"] if more > 0 else [])]


def _became(ref: str, step: Undone) -> str:
    """What somebody did to a record that is kept; of a text in MEMORY.md that is not told apart."""
    if MemoryRef.parse(ref).topic == NOTES_TOPIC:
        return "changed or taken out"
    return "taken out" if ref in step.gone else "changed"


def _text(done: Sequence[Undone]) -> str:
    changes = [change for step in done for change in step.changes]
    if not changes:
        return "Nothing was taken back."
    lines = []
    for change in changes[:_LISTED]:
        record = change.after or change.before
        assert record is not None
        lines.append(f"{sign_of(change)} {listed(record.summary)}\n    {record.ref}")
    if len(changes) > _LISTED:
        lines.append(f"… and {len(changes) - _LISTED:,} more, all of them with --json")
    redo = [f"redo: {done[0].redo}"] if len(done) == 1 and done[0].redo else []
    return "\n".join(["Taken back:", *lines, *redo])
