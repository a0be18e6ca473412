"""Export and import: read the store or a file, decide, write once."""

import os
from dataclasses import dataclass

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.operations import MemoryPlan, build_plan
from cam.core.private import strip
from cam.core.problems import Problem
from cam.core.records import MemoryScope
from cam.core.seams import Attachment, Snapshot
from cam.core.secrets import mask
from cam.formats.audit import render_audit
from cam.formats.memory_index import with_note
from cam.language.placement import topic_of
from cam.memory.transfer import (
    Export,
    Intake,
    decide_import,
    export_json,
    export_markdown,
    read_export,
)
from cam.store.memory_store import MarkdownStore, transact
from cam.store.tombstones import read_tombstones
from cam.system.clock import now_stamp
from cam.system.files import read_bytes


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do.

    Attributes:
        plan: changes alone; what was known is a number.
        decided: the same before planning.
        notes: scopes whose MEMORY.md got a person's text.
    """

    plan: MemoryPlan
    decided: Intake
    notes: tuple[MemoryScope, ...] = ()


def export_memory(store: MarkdownStore, form: str) -> tuple[str, int, tuple[Problem, ...]]:
    """Every scope that the project sees as one file.

    Returns:
        The file's text, how many records it holds, and what could not be read and is not in it.

    Raises:
        InvalidInputError: there is no such form.
        CamError: the store cannot be read at all.
    """
    if form not in ("json", "markdown"):
        raise InvalidInputError(f"no format {form!r}; formats are json and markdown")
    snapshot = store.view()
    notes = {scope: text for scope in store.layout.scopes if (text := store.person_notes(scope))}
    export = Export(snapshot.records, notes)
    write = export_json if form == "json" else export_markdown
    return write(export, store.layout.project, now_stamp()), len(snapshot.records), snapshot.problems


def import_memory(
    store: MarkdownStore, path: str, default_scope: MemoryScope, *, dry_run: bool = False
) -> Imported:
    """Take in what a file holds; what is known already changes nothing.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it cannot be read as an export or a list; nothing was written.
    """
    data = read_bytes(path)
    if data is None:
        raise NotFoundError(f"there is no file {path}")
    export = read_export(data, default_scope=default_scope, topic_of=topic_of, at=now_stamp())
    for scope in {*(r.scope for r in export.records), *export.notes}:
        store.layout.scope_folder(scope)  # refuses a project's scope where there is no project
    tombstones = read_tombstones(store)
    origin = os.path.basename(path)
    decided = Intake()
    notes: dict[MemoryScope, str] = {}

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment | None]:
        nonlocal decided, notes
        decided = decide_import(export, snapshot.records, is_erased=tombstones.is_erased, origin=origin)
        made = MemoryPlan(build_plan(decided.operations, snapshot.records).changes)
        notes = _new_notes(store, export)
        if not made.changes and not notes:
            return made, None
        more = {"file": mask(origin).text, "known": decided.known, "refused": decided.refused}
        line = render_audit(at=now_stamp(), kind="import", actor="user", plan=made, more=more)
        log = os.path.relpath(store.layout.audit_file, store.layout.root)
        return made, Attachment(((log, line),), notes=notes)

    made = plan(store.snapshot())[0] if dry_run else transact(store, plan)[0]
    return Imported(made, decided, tuple(notes))


def _new_notes(store: MarkdownStore, export: Export) -> dict[MemoryScope, str]:
    """A person's own text of MEMORY.md, screened, by scope, unless it stands there already."""
    found = {}
    for scope, text in export.notes.items():
        clean, index = mask(strip(text).text).text, store.index(scope)
        if clean.strip() and with_note(index, clean) != index:
            found[scope] = clean
    return found
