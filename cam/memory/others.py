"""What other tools remember, as proposals: nothing of it is remembered before a person says so.

Looked at is one project's own: its instruction files, Claude Code's notes on its folder, and the blocks of
Codex's native memory that name its folder or none. A second run finds nothing new.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from cam.core.errors import CamError, InvalidInputError, WriteRefusedError
from cam.core.operations import Quote
from cam.core.records import MemoryScope, MemoryState, Source
from cam.core.tombstones import normal, tombstone_key
from cam.formats.audit import Waiting, item_id
from cam.formats.others_memory import Note, claude_notes, instruction_notes, native_notes, summary_notes
from cam.memory.agents import queue_proposals
from cam.memory.review import read_queue
from cam.memory.screen import screened
from cam.store.memory_store import MarkdownStore
from cam.store.tombstones import read_tombstones
from cam.system.clock import now_stamp
from cam.system.files import list_folder, read_bytes

MAX_FILE = 1 << 20
"""Bytes of a file that is read; a longer one is named and left out."""


@dataclass(frozen=True, slots=True)
class Found:
    """One file, and what it holds.

    Attributes:
        path: absolute.
        notes: in order; None where the file could not be read.
        scope: of what it says, None where its words say it.
        problem: why it could not be read.
    """

    path: str
    notes: tuple[Note, ...] = ()
    scope: MemoryScope | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class OthersPlan:
    """What would be proposed.

    Attributes:
        kind: ``agents-md``, ``claude`` or ``native``.
        files: that were looked at.
        items: what is new.
        known: notes that are remembered, wait or were decided already.
        refused: notes that hold nothing but a secret, or that a person took out.
    """

    kind: str
    files: tuple[Found, ...]
    items: tuple[Waiting, ...]
    known: int = 0
    refused: int = 0


def instruction_files_as(paths: Sequence[tuple[str, MemoryScope]]) -> tuple[Found, ...]:
    """Instruction files, each with the scope that it speaks for."""
    return tuple(_read(path, instruction_notes, scope) for path, scope in paths)


def claude_files(home: str, folders: Iterable[str]) -> tuple[Found, ...]:
    """Claude Code's memory of a project, by the folders that it is worked on in."""
    found: list[Found] = []
    names = dict.fromkeys(re.sub(r"[^A-Za-z0-9]", "-", folder) for folder in folders)
    for name in names:
        folder = os.path.join(home, ".claude", "projects", name, "memory")
        files = [f for f in list_folder(folder) if f.endswith(".md")] if os.path.isdir(folder) else []
        split = partial(claude_notes, files=frozenset(files))
        found += [_read(os.path.join(folder, f), split, MemoryScope.PROJECT) for f in sorted(files)]
    return tuple(found)


def native_files(codex_home: str, root: str) -> tuple[Found, ...]:
    """Codex's native memory, as far as it is about the folder ``root`` or no folder at all."""

    def about(text: str) -> list[Note]:
        own = os.path.realpath(root).rstrip("/")
        return [n for n in native_notes(text) if not n.folder or f"{n.folder}/".startswith(f"{own}/")]

    kept = (("memories", "MEMORY.md", about), ("memories_v2", "memory_summary.md", summary_notes))
    paths = ((os.path.join(codex_home, folder, name), split) for folder, name, split in kept)
    return tuple(_read(path, split, None) for path, split in paths if os.path.lexists(path))


def plan_others(store: MarkdownStore, kind: str, files: Sequence[Found]) -> OthersPlan:
    """What of the files would be new; nothing is written.

    Raises:
        StoreUnavailableError: the store cannot be read.
    """
    queue, tombstones = read_queue(store), read_tombstones(store)
    seen = {item.id for item in queue.waiting} | {item.id for item, _ in queue.settled}
    records = store.snapshot().records
    texts = {normal(r.summary) for r in records if r.state is MemoryState.ACTIVE}
    items: list[Waiting] = []
    known = refused = 0
    now = now_stamp()
    for file in files:
        for note in file.notes:
            try:
                summary, details, _ = screened(note.text, note.details)
            except (InvalidInputError, WriteRefusedError):
                refused += 1
                continue
            name = item_id(summary, ())
            if name in seen or normal(summary) in texts:
                known += 1
                continue
            seen.add(name)
            if tombstone_key(summary) in tombstones:
                refused += 1
                continue
            items.append(
                Waiting(
                    name, "proposed", summary, f"import-{kind}", now, details, file.scope, note.topic,
                    source=Source("import", name=file.path), quotes=(Quote(summary, line=note.line),),
                )
            )  # fmt: skip
    return OthersPlan(kind, tuple(files), tuple(items), known, refused)


def propose_others(store: MarkdownStore, plan: OthersPlan) -> None:
    """Let what is new wait for the person.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    if plan.items:
        queue_proposals(store, plan.items, f"import-{plan.kind}", "user")


def _read(path: str, split: Callable[[str], list[Note]], scope: MemoryScope | None) -> Found:
    try:
        if os.path.getsize(path) > MAX_FILE:
            return Found(path, problem=f"more than {MAX_FILE >> 20} MiB")
        data = read_bytes(path)
        text = (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError:
        return Found(path, problem="not UTF-8")
    except (OSError, CamError) as error:
        return Found(path, problem=str(error))
    return Found(path, tuple(split(text)), scope)
