"""Export and import: read the store or a file, decide, write once."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind, build_plan
from cam.core.private import strip
from cam.core.problems import Problem
from cam.core.records import MemoryScope
from cam.core.seams import Attachment, Snapshot
from cam.core.secrets import mask
from cam.core.tombstones import normal, tombstone_key
from cam.formats.audit import render_audit
from cam.formats.memory_index import note_record, with_note
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
        plan: changes alone, of records and of a person's part of MEMORY.md; what was known is a number.
        decided: the same before planning.
    """

    plan: MemoryPlan
    decided: Intake

    @property
    def records(self) -> tuple[Change, ...]:
        """Changes of records."""
        return tuple(change for change in self.plan.changes if not change.is_note)

    @property
    def notes(self) -> tuple[MemoryScope, ...]:
        """Scopes whose MEMORY.md got a person's text."""
        return tuple(change.ref.scope for change in self.plan.changes if change.is_note)


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
    from cam.language.placement import topic_of  # noqa: PLC0415 - an export places nothing

    data = read_bytes(path)
    if data is None:
        raise NotFoundError(f"there is no file {path}")
    export = read_export(data, default_scope=default_scope, topic_of=topic_of, at=now_stamp())
    for scope in {*(r.scope for r in export.records), *export.notes}:
        store.layout.scope_folder(scope)  # refuses a project's scope where there is no project
    tombstones = read_tombstones(store)
    origin = os.path.basename(path)
    decided = Intake()

    def plan(snapshot: Snapshot) -> tuple[MemoryPlan, Attachment | None]:
        nonlocal decided
        decided = decide_import(export, snapshot.records, is_erased=tombstones.is_erased, origin=origin)
        records = build_plan(decided.operations, snapshot.records).changes
        made = MemoryPlan((*records, *_new_notes(store, export, tombstones.is_erased)))
        if not made.changes:
            return made, None
        more = {"file": mask(origin).text, "known": decided.known, "refused": decided.refused}
        line = render_audit(at=now_stamp(), kind="import", actor="user", plan=made, more=more)
        log = os.path.relpath(store.layout.audit_file, store.layout.root)
        return made, Attachment(((log, line),))

    made = plan(store.snapshot())[0] if dry_run else transact(store, plan)[0]
    return Imported(made, decided)


def _new_notes(store: MarkdownStore, export: Export, is_erased: Callable[[str], bool]) -> Iterator[Change]:
    """A person's own text of MEMORY.md, screened, unless it stands there already; no line that was erased."""
    for scope, text in export.notes.items():
        whole = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")  # half a pair is no text
        lines = mask(strip(whole).text).text.split("\n")
        clean = "\n".join(each for each in lines if not (normal(each) and is_erased(tombstone_key(each))))
        if not clean.strip():
            continue
        note, index = note_record(clean, scope, now_stamp()), store.index(scope)
        if with_note(index, note.text) != index:
            yield Change(MemoryOperation(OperationKind.ADD, note, "imported", "import"), None, note)
