"""Memory in one file: export and import, as JSON or Markdown, without loss. Pure.

JSON: ``{"schema": "cam-export/v1", "project", "at", "records": […], "notes": {scope: text}}``, a record as
``memory list --json`` shows it. Markdown: a line ``<!-- cam:export {…} -->``, then behind each line
``<!-- cam:file {"scope", "state", "topic"} -->`` a topic file; ``<!-- cam:notes {"scope", "text"} -->`` has
what a person wrote in MEMORY.md.

Import also takes a plain JSON list of ``{scope, topic, summary, details?}``.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from cam.core.errors import CamError, InvalidInputError
from cam.core.operations import MemoryOperation, OperationKind, RecordKey
from cam.core.private import strip
from cam.core.records import (
    MemoryRecord,
    MemoryRef,
    MemoryScope,
    MemoryState,
    Source,
    check_topic,
    new_id,
    parse_scope,
    split_text,
)
from cam.core.secrets import MASK, mask
from cam.core.tombstones import normal, tombstone_key
from cam.formats.record_data import record_from_data, record_to_data
from cam.formats.topic_file import apply_to_topic_file, new_topic_file, parse_topic_file, render_topic_file

SCHEMA = "cam-export/v1"

_EXPORT = re.compile(r"<!-- cam:export (\{.*\}) -->")
_PART = re.compile(r"<!-- cam:(file|notes) (\{.*\}) -->")


@dataclass(frozen=True, slots=True)
class Export:
    """What one file carries.

    Attributes:
        records: of every scope, active and archived.
        notes: what a person wrote in MEMORY.md, by scope.
        plain: whether it is a list that somebody wrote, whose ids and times are ours to give.
    """

    records: tuple[MemoryRecord, ...]
    notes: Mapping[MemoryScope, str]
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Intake:
    """What an import does.

    Attributes:
        operations: adds and updates.
        known: records that stand there already, or newer.
        masked: records in which secrets were masked or private spans cut.
        refused: records that were not taken: nothing but a secret, or erased for good.
    """

    operations: tuple[MemoryOperation, ...] = ()
    known: int = 0
    masked: int = 0
    refused: int = 0


def export_json(export: Export, project: str | None, at: str) -> str:
    """One JSON document, a record a line."""
    head = json.dumps({"schema": SCHEMA, "project": project, "at": at})[1:-1]
    notes = json.dumps({str(scope): text for scope, text in export.notes.items()})
    records = ",\n".join(json.dumps(record_to_data(r)) for r in export.records)
    return f'{{{head},\n"notes": {notes},\n"records": [\n{records}\n]}}\n'


def export_markdown(export: Export, project: str | None, at: str) -> str:
    """One Markdown document that people can read."""
    head = json.dumps({"schema": SCHEMA, "project": project, "at": at})
    parts = [f"<!-- cam:export {head} -->\n"]
    for scope, text in export.notes.items():
        # As JSON: any line of it may look like one of ours.
        parts.append(f"\n<!-- cam:notes {json.dumps({'scope': scope, 'text': text})} -->\n")
    files: dict[tuple[MemoryScope, MemoryState, str, int], dict[str, MemoryRecord | None]] = {}
    seen: Counter[MemoryRef] = Counter()
    for record in export.records:  # an id may stand twice: its second record is in a file of its own
        key = (record.scope, record.state, record.topic, seen[record.ref])
        files.setdefault(key, {})[record.id] = record
        seen[record.ref] += 1
    for (scope, state, topic, _), records in files.items():
        line = json.dumps({"scope": scope, "state": state, "topic": topic})
        body = render_topic_file(apply_to_topic_file(new_topic_file(scope, state, topic), records))
        parts.append(f"\n<!-- cam:file {line} -->\n{body.decode()}")
    return "".join(parts)


def read_export(
    data: bytes, *, default_scope: MemoryScope, topic_of: Callable[[str], str], at: str
) -> Export:
    """Read a file that was exported, or a plain list.

    Args:
        data: the file's bytes.
        default_scope: of entries of a plain list that name none.
        topic_of: finds the topic of a summary that comes without one.
        at: time of entries that have none.

    Raises:
        InvalidInputError: it is neither; the message says where.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"the file is not UTF-8 (byte {error.start})") from None
    match = _EXPORT.match(text)
    if match is not None:
        _check_schema(match.group(1))
        return _read_markdown(text)
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"the file is no export: neither Markdown of ours nor JSON ({error})"
        ) from None
    if isinstance(raw, list):
        found = [_plain(item, n, default_scope, topic_of, at) for n, item in enumerate(raw, 1)]
        return Export(tuple(found), {}, plain=True)
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        raise InvalidInputError(
            f"the file is no export: a list of entries, or an object with schema {SCHEMA}"
        )
    return _read_json(raw)


def decide_import(
    export: Export,
    records: Iterable[MemoryRecord],
    *,
    is_erased: Callable[[str], bool] = lambda _: False,
    origin: str = "",
) -> Intake:
    """What importing does to ``records``: nothing is lost, and a second time nothing is done.

    What has the same id is updated where the import's one is newer; the same text under another id is known.
    An id that stands twice in the file is given anew to the second of its records.

    Args:
        export: what was read.
        records: every record of the scopes, active and archived.
        is_erased: whether a text, by its ``tombstone_key``, may not come back.
        origin: the file's name, kept as source of plain entries.
    """
    standing = list(records)
    present = {r.key: r for r in standing}
    texts = {_text(r) for r in standing}
    came: dict[RecordKey, MemoryRecord] = {}
    operations: list[MemoryOperation] = []
    known = masked = refused = 0
    for item in export.records:
        clean = screened_record(item)
        if clean is None or is_erased(tombstone_key(clean.summary)):
            refused += 1
            continue
        masked += clean != item
        record = _named(clean, present, origin) if export.plain else clean
        if came.setdefault(clean.key, clean) != clean and not export.plain:
            record = replace(clean, id=_own_id(clean, present))
        before = None if export.plain else present.get(record.key)
        is_said = _text(record) in texts and (before is None or _text(before) != _text(record))
        if before == record or is_said:
            known += 1
            continue
        if before is not None and before.updated_at >= record.updated_at:
            known += 1
            continue
        kind = OperationKind.ADD if before is None else OperationKind.UPDATE
        operations.append(MemoryOperation(kind, record, "imported", "import"))
        present[record.key] = record
        texts.add(_text(record))
    return Intake(tuple(operations), known, masked, refused)


def screened_record(record: MemoryRecord) -> MemoryRecord | None:
    """The record without secrets and private spans, the same if it has none; None if nothing is left."""
    text = "\n".join((record.summary, *record.details))
    stripped = strip(text)
    masked = mask(stripped.text)
    if masked.text == text:
        reason = mask(record.reason) if record.reason else None
        return replace(record, reason=reason.text) if reason is not None and reason.count else record
    if not normal(masked.text.replace(MASK, " ")):
        return None
    summary, details = split_text(masked.text)
    return replace(record, summary=summary, details=details, reason=mask(record.reason).text)


def _named(record: MemoryRecord, present: Mapping[Any, MemoryRecord], origin: str) -> MemoryRecord:
    """A plain entry with an id that its text gives it, so that a second import meets itself."""
    name = _own_id(record, present)
    return replace(record, id=name, sources=(Source("import", name=origin or None),))


def _own_id(record: MemoryRecord, present: Mapping[Any, MemoryRecord]) -> str:
    """An id from the text that no other text of the topic has."""
    digest = sha256(record.text.encode("utf-8", "surrogatepass")).hexdigest()
    for length in range(6, len(digest)):
        name = new_id(record.summary, digest[:length])
        other = present.get((record.scope, record.topic, name))
        if other is None or _text(other) == _text(record):
            break
    return name


def _text(record: MemoryRecord) -> tuple[MemoryScope, str, str, tuple[str, ...]]:
    return record.scope, record.topic, normal(record.summary), record.details


def _plain(
    item: Any, number: int, scope: MemoryScope, topic_of: Callable[[str], str], at: str
) -> MemoryRecord:
    where = f"entry {number}"
    if not isinstance(item, dict):
        raise InvalidInputError(f"{where} is no object with scope, topic and summary")
    details = item.get("details", [])
    details = [details] if isinstance(details, str) else details
    words = [item.get("summary"), *(details if isinstance(details, list) else [None])]
    if any(not isinstance(word, str) for word in words) or not words[0].strip():
        raise InvalidInputError(f"{where} needs a summary, a text; details are a list of texts")
    try:
        summary, lines = split_text("\n".join(words))
        topic = check_topic(str(item["topic"])) if item.get("topic") else topic_of(summary)
        wanted = parse_scope(str(item["scope"])) if item.get("scope") else scope
    except CamError as error:
        raise InvalidInputError(f"{where}: {error}") from None
    return MemoryRecord(wanted, topic, "new", summary, lines, created_at=at, updated_at=at)


def _read_json(raw: Mapping[str, Any]) -> Export:
    records, notes = raw.get("records"), raw.get("notes", {})
    if not isinstance(records, list) or not isinstance(notes, dict):
        raise InvalidInputError("the file is no export: records is a list, notes an object")
    found = []
    for number, item in enumerate(records, 1):
        try:
            found.append(record_from_data(item))
            check_topic(found[-1].topic)
        except (ValueError, AttributeError, InvalidInputError) as error:
            raise InvalidInputError(f"record {number}: {error}") from None
    return Export(tuple(found), {parse_scope(k): str(v) for k, v in notes.items()})


def _read_markdown(text: str) -> Export:
    records: list[MemoryRecord] = []
    notes: dict[MemoryScope, str] = {}
    key: tuple[MemoryScope, MemoryState, str] | None = None
    begin = 0
    body: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate([*lines, '<!-- cam:notes {"scope":"global","text":""} -->'], 1):
        match = _PART.fullmatch(line.rstrip("\r"))
        if match is None:
            body.append(line)
            continue
        if key is not None:
            records += _section_records("\n".join(body), key, begin)
        try:
            data = json.loads(match.group(2))
            if match.group(1) == "notes":
                key = None
                if data["text"]:
                    notes[MemoryScope(data["scope"])] = str(data["text"])
            else:
                topic = check_topic(data["topic"])
                key = MemoryScope(data["scope"]), MemoryState(data["state"]), topic
        except (ValueError, KeyError, TypeError, InvalidInputError) as error:
            raise InvalidInputError(f"line {number}: this line of ours is broken: {error}") from None
        begin, body = number, []
    return Export(tuple(records), notes)


def _section_records(
    text: str, key: tuple[MemoryScope, MemoryState, str], begin: int
) -> Sequence[MemoryRecord]:
    scope, state, topic = key
    file = parse_topic_file(text.encode(), path="", scope=scope, state=state, topic=topic)
    if file.problems:
        problem = file.problems[0]
        raise InvalidInputError(f"line {begin + problem.line}: {problem.reason}")
    return file.records


def _check_schema(head: str) -> None:
    try:
        schema = json.loads(head).get("schema")
    except (ValueError, AttributeError):
        schema = None
    if schema != SCHEMA:
        raise InvalidInputError(f"the file's first line does not say schema {SCHEMA}")
