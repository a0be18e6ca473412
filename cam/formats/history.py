"""memory-history.jsonl: one line per event, applied or noop, with the record before and after.

Undo, why, timelines and tombstones are made from it. Lines of the predecessor, which knows no texts
before and after, are read as they are; a line that cannot be read is counted, never an end.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cam.core.operations import Change, MemoryOperation, OperationKind, Quote
from cam.core.records import MemoryRecord, MemoryState
from cam.formats.record_data import record_from_data, record_to_data

if TYPE_CHECKING:  # a timeline asks for neither, and would feel what they cost to import
    from cam.formats.file_step import FileStep
    from cam.formats.topic_file import Form

ARRIVED = "arrived from "
"""How the reason of an event begins that a sync between machines wrote, of actor ``git``."""


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One thing that happened to one record.

    Attributes:
        transaction: events of one commit share it.
        at: when it was written, ISO-8601 UTC.
        kind: what was done; ``noop`` where nothing was.
        before: None where the record did not exist.
        after: None where it is gone.
        versions: by state, the version that the topic file of that state was in afterwards; None if it went.
        form: how ``before`` stood in its file, where it does not stand there any more.
        files: what the transaction did to the files of the scope; the scope's first event has it.
        project: the project from which a global record was changed, "" where none was, or for older events.
        machine: the machine that wrote it, in a store that several share; "" in any other.
    """

    transaction: str
    at: str
    kind: OperationKind
    ref: str
    reason: str = ""
    actor: str = "user"
    before: MemoryRecord | None = None
    after: MemoryRecord | None = None
    quotes: tuple[Quote, ...] = ()
    replaced_by: str | None = None
    versions: Mapping[str, str | None] = field(default_factory=dict)
    form: "Form | None" = None
    files: tuple["FileStep", ...] = ()
    project: str = ""
    machine: str = ""

    @property
    def applied(self) -> bool:
        """Whether it changed anything."""
        return self.kind is not OperationKind.NOOP


class Headline(NamedTuple):
    """What an event is about, and the way to the rest of it.

    Attributes:
        transaction: as in ``HistoryEvent``; so are ``at``, ``applied``, ``ref``, ``actor`` and ``machine``.
        kind: the same, as a text.
        reason: in a line that was not read, with JSON's escapes.
        line: as it stands in the file.
        event: the rest, where it was read.
    """

    transaction: str
    at: str
    kind: str
    applied: bool
    ref: str
    reason: str
    actor: str
    machine: str = ""
    line: str = ""
    event: HistoryEvent | None = None

    def whole(self, *, with_files: bool = False) -> HistoryEvent | None:
        """The event, of the machine that the headline names; None where its line cannot be read.

        Args:
            with_files: as in ``parse_history``.
        """
        event = self.event
        if event is None or (with_files and self.line):
            event = _parse_event(self.line, with_files=with_files)
        if event is None or event.machine == self.machine:
            return event
        return replace(event, machine=self.machine)


_HEAD = re.compile(
    r'\{"tx":"([^"\\]*+)","at":"([^"\\]*+)","kind":"([a-z]++)","outcome":"([a-z]++)","ref":"([^"\\]*+)",'
    r'"reason":"((?:[^"\\]|\\.)*+)","actor":"([^"\\]*+)"'
)
"""How ``render_event`` begins a line."""

_ADDED = re.compile(
    _HEAD.pattern + r',"before":null,"after":\{"ref":"[^"\\]*+","scope":"[a-z-]++","state":"([a-z]++)",'
    r'"topic":"[^"\\]*+","id":"[^"\\]*+","type":"[a-z]++","summary":"((?:[^"\\]|\\.)*+)","details":\['
)
"""How it begins one of a new record."""

_END = re.compile(r',"machine":"([^"\\]*+)"\}$')
"""How it ends one of a machine that has a name."""


def event_of(
    change: Change,
    transaction: str,
    at: str,
    versions: Mapping[str, str | None] | None = None,
    form: "Form | None" = None,
    files: tuple["FileStep", ...] = (),
    project: str = "",
    machine: str = "",
) -> HistoryEvent:
    """The event of an applied change."""
    op = change.operation
    return HistoryEvent(
        transaction, at, op.kind, str(change.ref), op.reason, op.actor, change.before, change.after,
        op.quotes, op.replaced_by, versions or {}, form, files, project, machine,
    )  # fmt: skip


def noop_event(operation: MemoryOperation, transaction: str, at: str, machine: str = "") -> HistoryEvent:
    """The event of an operation that changed nothing."""
    ref = str(operation.record.ref)
    return HistoryEvent(
        transaction, at, OperationKind.NOOP, ref, operation.reason, operation.actor,
        quotes=operation.quotes, machine=machine,
    )  # fmt: skip


def render_event(event: HistoryEvent) -> str:
    """One line, without its line feed."""
    from cam.formats.file_step import step_to_data  # noqa: PLC0415 - as above
    from cam.formats.json_line import dump_line  # noqa: PLC0415

    data: dict[str, Any] = {
        "tx": event.transaction,
        "at": event.at,
        "kind": str(event.kind),
        "outcome": "applied" if event.applied else "noop",
        "ref": event.ref,
        "reason": event.reason,
        "actor": event.actor,
        "before": record_to_data(event.before) if event.before else None,
        "after": record_to_data(event.after) if event.after else None,
        "quotes": [quote_to_data(q) for q in event.quotes],
    }
    if event.replaced_by:
        data["replaced_by"] = event.replaced_by
    if event.versions:
        data["versions"] = dict(event.versions)
    if event.form:
        data["form"] = form_to_data(event.form)
    if event.files:
        data["files"] = [step_to_data(step) for step in event.files]
    if event.project:
        data["project"] = event.project
    if event.machine:
        data["machine"] = event.machine
    return dump_line(data)


def parse_history(lines: Iterable[str], *, with_files: bool = True) -> Iterator[HistoryEvent | None]:
    """Events in file order; None for a line that is neither ours nor the predecessor's.

    Args:
        lines: of the file.
        with_files: whether events know what became of files (``form`` and ``files``).
    """
    for line in lines:
        if line.strip():
            yield _parse_event(line, with_files=with_files)


class Passage(NamedTuple):
    """What an event did to what holds.

    Attributes:
        at: when, ISO-8601 UTC.
        gone: summary of the record that held before; None where none did.
        gone_at: since when that does not hold as it was.
        here: summary of the record that holds afterwards; None where none does.
    """

    at: str
    gone: str | None
    gone_at: str
    here: str | None


def passage(line: str) -> Passage | None:
    """What a line tells of what holds, hardly read where cam noted a new record; None for no event."""
    found = _ADDED.match(line)
    if found is not None and line.endswith("}"):
        _, at, _, _, _, _, _, state, summary = found.groups()
        text = json.loads(f'"{summary}"') if "\\" in summary else summary
        return Passage(at, None, "", text if state == "active" else None)
    event = _parse_event(line, with_files=False) if line.strip() else None
    if event is None:
        return None
    gone, here = (
        r.summary if r and r.state is MemoryState.ACTIVE else None for r in (event.before, event.after)
    )
    return Passage(event.at, gone, event.after.updated_at if event.after else event.at, here)


def last_step(
    data: bytes, path: str, counts: Callable[[HistoryEvent], bool] = lambda _: True
) -> "FileStep | None":
    """What the last commit that touched a file did to it, found from the end; a long history is not read.

    Args:
        data: the scope's history.
        path: of the file, relative to the folder of the scope.
        counts: whether an event does; others are passed over.
    """
    end, named = len(data), _named("path", path)
    while (at := data.rfind(named, 0, end)) >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        past = data.find(b"\n", at)
        line = data[begin : past if past >= 0 else len(data)].decode("utf-8", "replace")
        event = _parse_event(line, with_files=True)
        for step in event.files if event and counts(event) else ():
            if step.path == path:
                return step
        end = begin
    return None


def lines_about(data: bytes, topic: str) -> list[str]:
    """Lines that may hold a record of ``topic``, for ``parse_history``."""
    named = _named("topic", topic)
    return [line.decode("utf-8", "replace") for line in data.split(b"\n") if named in line]


def headline(line: str) -> Headline | None:
    """What a line is about, without reading it as JSON where cam wrote it; None for no event."""
    found = _HEAD.match(line)
    if found is not None and line.endswith("}"):
        transaction, at, kind, outcome, ref, reason, actor = found.groups()
        wrote = _END.search(line, max(0, len(line) - 80))
        machine = wrote[1] if wrote else ""
        return Headline(transaction, at, kind, outcome == "applied", ref, reason, actor, machine, line)
    event = _parse_event(line, with_files=False) if line.strip() else None
    return None if event is None else headline_of(event)._replace(line=line)


def headline_of(event: HistoryEvent) -> Headline:
    """The headline of an event that was read."""
    return Headline(
        event.transaction, event.at, str(event.kind), event.applied, event.ref, event.reason, event.actor,
        event.machine, event=event,
    )  # fmt: skip


def quote_to_data(quote: Quote) -> dict[str, Any]:
    """A quote as JSON data, empty fields left out."""
    names = ("text", "session", "ordinal", "turn", "line", "rollout")
    return {name: getattr(quote, name) for name in names if getattr(quote, name) is not None}


def form_to_data(form: "Form") -> dict[str, str]:
    """A form as JSON data, an empty text left out."""
    return {"behind": form.behind} | ({"raw": form.raw} if form.raw else {})


def form_from_data(data: Mapping[str, str]) -> "Form":
    """Read what ``form_to_data`` wrote.

    Raises:
        KeyError: it is not such data.
    """
    from cam.formats.topic_file import Form  # noqa: PLC0415 - as above

    return Form(data.get("raw", ""), data["behind"])


def with_transaction(line: str, transaction: str) -> str:
    """A JSON line of another log that names the transaction it belongs to; any other line as it is."""
    return f'{{"tx":{json.dumps(transaction)},{line[1:]}' if line[:2] == '{"' else line


def _named(key: str, value: str) -> bytes:
    """How ``dump_line`` writes a key and its ASCII text."""
    return f'"{key}":{json.dumps(value)}'.encode()


def _parse_event(line: str, *, with_files: bool) -> HistoryEvent | None:
    try:
        data = json.loads(line)
        if "tx" not in data:
            return _predecessor_event(data)
        return HistoryEvent(
            data["tx"],
            data["at"],
            OperationKind(data["kind"]),
            data["ref"],
            data.get("reason", ""),
            data.get("actor", "user"),
            record_from_data(data["before"]) if data.get("before") else None,
            record_from_data(data["after"]) if data.get("after") else None,
            tuple(Quote(**q) for q in data.get("quotes", ())),
            data.get("replaced_by"),
            dict(data.get("versions", {})),
            form_from_data(data["form"]) if with_files and data.get("form") else None,
            _steps(data.get("files", ())) if with_files else (),
            data.get("project", ""),
            str(data.get("machine", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _steps(files: Iterable[Mapping[str, Any]]) -> tuple["FileStep", ...]:
    from cam.formats.file_step import step_from_data  # noqa: PLC0415 - as above

    return tuple(map(step_from_data, files))


def _predecessor_event(data: dict[str, Any]) -> HistoryEvent:
    kinds = {"restore": OperationKind.RESTORE, "noop": OperationKind.NOOP, "update": OperationKind.UPDATE}
    kind = kinds.get(data["action"]) or OperationKind(data["action"])
    ref = data.get("ref") or f"{data['scope']}:{data['state']}:{data['topic']}:{data['id']}"
    return HistoryEvent(
        "", data["at"], kind, ref, f"{data.get('reason', '')} {data.get('summary', '')}".strip()
    )
