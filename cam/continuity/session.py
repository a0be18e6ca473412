"""One session's evidence, read once for all that is made of it. Pure; linear in the evidence."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cam.continuity import words
from cam.continuity.asking import Asked, read_message
from cam.continuity.commands import Run, run_of
from cam.continuity.said import Piece, clean, is_open_lead, parts, pieces
from cam.core.evidence import EvidenceItem, Message, Provenance, ToolCall
from cam.language.statements import shadow

_ABORTED = "turn_aborted"


@dataclass(slots=True)
class Session:
    """The evidence, read once."""

    asked: list[Asked] = field(default_factory=list)
    said: list[tuple[int, tuple[Piece, ...], bool]] = field(default_factory=list)  # at, pieces, ends its turn
    heard: list[tuple[int, tuple[Piece, ...]]] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    edited: set[int] = field(default_factory=set)
    plan: list[tuple[int, str, bool]] = field(default_factory=list)
    last_said: int = -1
    last_call: int = -1
    aborted: int = -1
    done: list[tuple[int, str]] = field(default_factory=list)


def read_session(
    items: Sequence[EvidenceItem], root: str | None, asking: Provenance = Provenance.USER
) -> Session:
    """Read the evidence.

    Args:
        items: in order.
        root: folder to which files are named relatively.
        asking: who asks: the person, or whoever a sub-agent works for.
    """
    found = Session()
    turn_ends = _turn_ends(items, asking)
    for at, item in enumerate(items):
        if isinstance(item, ToolCall):
            found.last_call = at
            _read_call(found, item, at, root)
        elif item.who is asking:
            found.asked.append(read_message(item, at))
            found.heard.append((at, pieces(found.asked[-1].said)))
        elif item.who is Provenance.ASSISTANT:
            found.said.append((at, pieces(clean(item.text)), at in turn_ends))
            found.last_said = at
        elif item.kind == "notice" and _ABORTED in item.text:
            found.aborted = at
    found.done = _done_parts(found)
    return found


def _turn_ends(items: Sequence[EvidenceItem], asking: Provenance) -> frozenset[int]:
    """Positions of the assistant's last words before the person speaks again, and at the end."""
    ends = set()
    last = -1
    for at, item in enumerate(items):
        if isinstance(item, Message) and item.who is asking:
            ends.add(last)
            last = -1
        elif isinstance(item, Message) and item.who is Provenance.ASSISTANT:
            last = at
        elif isinstance(item, ToolCall) and not _is_plan(item):
            last = -1 if last >= 0 and at > last else last
    # words before a last call of a session that was cut off are its last words all the same
    final = max(
        (n for n, i in enumerate(items) if isinstance(i, Message) and i.who is Provenance.ASSISTANT),
        default=-1,
    )
    return frozenset({*ends, last, final} - {-1})


def _read_call(found: Session, call: ToolCall, at: int, root: str | None) -> None:
    if _is_plan(call):
        found.plan = _plan(call, at) or found.plan
        return
    if call.files and call.exit_code in (0, None):
        for name in call.files:
            path = _relative(name, call.cwd, root)
            found.files.pop(path, None)
            found.files[path] = at
        found.edited.add(call.ordinal)
        return
    run = run_of(call, at)
    if run is not None:
        found.runs.append(replace(run, command=clean(run.command), says=clean(run.says)))


def _is_plan(call: ToolCall) -> bool:
    return call.name.rsplit(".", 1)[-1].rsplit("__", 1)[-1] in ("update_plan", "todo_write", "TodoWrite")


def _plan(call: ToolCall, at: int) -> list[tuple[int, str, bool]]:
    try:
        given = json.loads(call.input)
        rows = given.get("plan") or given.get("todos") or []
        return [
            (at, clean(str(r.get("step") or r.get("content") or "")), r.get("status") == "completed")
            for r in rows
        ]
    except (ValueError, AttributeError):
        return []


def _relative(name: str, cwd: str | None, root: str | None) -> str:
    path = name if name.startswith("/") or not cwd else os.path.normpath(f"{cwd}/{name}")
    if root and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return clean(path)


def everyone(session: Session, *, all_of_it: bool = False) -> list[tuple[int, tuple[Piece, ...]]]:
    """What both said, in order; of the assistant the words that end a turn, or all."""
    theirs = ((at, said) for at, said, ends in session.said if ends or all_of_it)
    return sorted([*theirs, *session.heard], key=lambda pair: pair[0])


def _done_parts(session: Session) -> list[tuple[int, str]]:
    """What the assistant says is done, in order; of long sentences each part by itself."""
    pieces_of = ((at, piece) for at, said, _ in session.said for piece in said)
    found = (
        (at, replace(piece, text=part, shade=shadow(part)))
        for at, piece in pieces_of
        for part in (parts(piece.text) if len(piece.text) > 80 else (piece.text,))
    )
    return [(at, piece.text) for at, piece in found if _says_done(piece)]


def _says_done(piece: Piece) -> bool:
    if piece.checked is not None:
        return piece.checked
    if is_open_lead(piece.lead):
        return False
    if piece.is_item and words.find("done_lead", shadow(piece.lead)):
        return not words.find("undone", piece.shade)
    return words.find("done", piece.shade) is not None and words.find("undone", piece.shade) is None
