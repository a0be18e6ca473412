"""Records as JSON data: markers, history, transactions, answers and the sidecar use the same names."""

from collections.abc import Mapping
from typing import Any

from cam.core.records import MemoryRecord, MemoryScope, MemoryState, RecordType, Source

# Looked up: thousands of records are read at once, and calling an enum takes as long as all else of one.
_SCOPES = {str(scope): scope for scope in MemoryScope}
_STATES = {str(state): state for state in MemoryState}
_TYPES = {str(kind): kind for kind in RecordType}
_TEXT = frozenset({str})
_LIST = frozenset({list, tuple})
_TEXT_OR_NONE = frozenset({str, type(None)})


def record_to_data(record: MemoryRecord) -> dict[str, Any]:
    """A record as JSON data: history, transactions and ``--json`` use the same names."""
    data: dict[str, Any] = {
        "ref": str(record.ref),
        "scope": str(record.scope),
        "state": str(record.state),
        "topic": record.topic,
        "id": record.id,
        "type": str(record.type),
        "summary": record.summary,
        "details": list(record.details),
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "sources": [source_to_data(s) for s in record.sources],
        "reason": record.reason,
    }
    for name in ("valid_from", "valid_until"):
        if getattr(record, name) is not None:
            data[name] = getattr(record, name)
    if record.related:
        data["related"] = list(record.related)
    if record.pinned:
        data["pinned"] = True
    return data


def record_from_data(data: Mapping[str, Any]) -> MemoryRecord:
    """Read what ``record_to_data`` wrote.

    Raises:
        ValueError: it is not such data.
    """
    try:
        _check_types(data)
        return MemoryRecord(
            _SCOPES[data["scope"]],
            data["topic"],
            data["id"],
            data["summary"],
            tuple(data.get("details", ())),
            _STATES[data.get("state", "active")],
            _TYPES[data.get("type", "memory")],
            data["created_at"],
            data["updated_at"],
            tuple(map(source_from_data, data.get("sources", ()))),
            data.get("reason", ""),
            data.get("valid_from"),
            data.get("valid_until"),
            tuple(data.get("related", ())),
            bool(data.get("pinned")),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a record: {error}") from None


def _check_types(data: Mapping[str, Any]) -> None:
    """Refuse what a person or another program put in place of a text: compared later, it would stop all.

    Raises:
        ValueError: a field is no text, or no list of texts; it is named.
    """
    get = data.get
    details, related = get("details", ()), get("related", ())
    if (
        _TEXT.issuperset((type(data["summary"]), type(data["topic"]), type(data["id"])))
        and _TEXT.issuperset((type(data["created_at"]), type(data["updated_at"]), type(get("reason", ""))))
        and _TEXT_OR_NONE.issuperset((type(get("valid_from")), type(get("valid_until"))))
        and _LIST.issuperset((type(details), type(related)))
        and _TEXT.issuperset(map(type, details))
        and _TEXT.issuperset(map(type, related))
    ):
        return
    for name in ("summary", "topic", "id", "created_at", "updated_at", "reason"):
        if type(get(name, "")) is not str:
            raise ValueError(f"{name} is no text")
    for name in ("valid_from", "valid_until"):
        if type(get(name)) not in _TEXT_OR_NONE:
            raise ValueError(f"{name} is no date")
    raise ValueError("details and related are lists of texts")


def source_to_data(source: Source) -> dict[str, Any]:
    """A source as JSON data, empty fields left out."""
    fields = ("kind", "session", "ordinal", "digest", "name")
    return {name: getattr(source, name) for name in fields if getattr(source, name) is not None}


def source_from_data(data: Any) -> Source:
    """Read a source; a bare string (the predecessor's) is a session's path or a manual note.

    Raises:
        ValueError: neither.
    """
    if isinstance(data, str):
        return Source("person") if data == "manual" else Source("session", name=data)
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise ValueError("a source is an object with a kind")
    get = data.get
    session, digest, name, ordinal = get("session"), get("digest"), get("name"), get("ordinal")
    if not _TEXT_OR_NONE.issuperset((type(session), type(digest), type(name))):
        raise ValueError("a source's fields are texts")
    return Source(data["kind"], session, ordinal if isinstance(ordinal, int) else None, digest, name)
