"""A rollout's first line: whose session it is, where it ran, what it was forked from.

Three forms: ``{id,timestamp,instructions,git}`` without a folder (0.20-0.29), ``session_meta`` in an
envelope (from 0.36), and the same with an ordinal and ``history_mode`` (from 0.148), where a fork may point
at its base by ``history_base`` instead of repeating it.
"""

import re
from typing import Any

from cam.core.evidence import Generation, RolloutMeta
from cam.formats.rollout_lines import decode

_UUID = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:\.jsonl)?(?:\.zst)?$")
_FIELD = r'"{}":\s?"([^"\\]{{1,4096}})"'
_BOM = b"\xef\xbb\xbf"


def parse_header(line: bytes, path: str) -> RolloutMeta | None:
    """Read the first line of a rollout; None where it is not a header.

    Args:
        line: the line, with or without its line feed.
        path: the file, for the meta and, should the header lack an id, for the id in its name.
    """
    try:
        value, _ = decode(line.removeprefix(_BOM).strip(b"\0 \t\r\n"))
    except ValueError:
        return None
    return header_of(value, path) if isinstance(value, dict) else None


def header_of(record: dict[str, Any], path: str) -> RolloutMeta | None:
    """The same for a line that was parsed already."""
    if record.get("type") == "session_meta" and isinstance(record.get("payload"), dict):
        payload = record["payload"]
        paginated = "ordinal" in record or payload.get("history_mode") == "paginated"
        generation = Generation.PAGINATED if paginated else Generation.ENVELOPE
    elif (
        "type" not in record and "record_type" not in record and _text(record, "id") and "timestamp" in record
    ):
        payload, generation = record, Generation.BARE
    else:
        return None
    session = _text(payload, "id") or session_in_name(path)
    source, parent, primary = _source(payload)
    base = _dict(payload, "history_base")
    git = _dict(payload, "git")
    root = _text(payload, "session_id")
    end = base.get("end_ordinal_exclusive")
    return RolloutMeta(
        session=session,
        path=path,
        generation=generation,
        cwd=_text(payload, "cwd"),
        started_at=_text(payload, "timestamp") or _text(record, "timestamp") or "",
        cli_version=_text(payload, "cli_version") or "",
        source=source,
        is_primary=primary,
        parent=_text(payload, "forked_from_id") or parent or (root if root != session else None),
        base_session=_text(base, "thread_id"),
        base_ordinal=end if isinstance(end, int) and not isinstance(end, bool) else None,
        git_commit=_text(git, "commit_hash"),
        git_branch=_text(git, "branch"),
        git_remote=_text(git, "repository_url"),
    )


def recover_header(line: bytes, path: str) -> RolloutMeta:
    """What is left of a header that is torn, together with the id in the file's name.

    Whether the session is a person's own must be seen in what is left: sub-agents write far more files than
    people do, so a file that does not say is not taken for a person's.
    """
    left = line.decode("utf-8", "replace")
    version = _left(left, "cli_version")
    bare = '"instructions":' in left and '"cli_version"' not in left and '"payload"' not in left
    hidden = re.search(r'sub_?agent|memory_consolidation|"internal"|"parent_thread_id"', left) is not None
    shown = re.search(r'"thread_source":\s?"user"|"source":\s?"[a-z_-]+"', left) is not None
    old = bare or (release(version) or (1,)) < (0, 47)
    if bare:
        generation = Generation.BARE
    else:
        paginated = re.search(r'"ordinal":|"paginated"', left) is not None
        generation = Generation.PAGINATED if paginated else Generation.ENVELOPE
    return RolloutMeta(
        session=session_in_name(path),
        path=path,
        generation=generation,
        cwd=_left(left, "cwd"),
        started_at=_left(left, "timestamp") or "",
        cli_version=version or "",
        source=_left(left, "source") or "",
        is_primary=not hidden and (shown or old),
        parent=_left(left, "forked_from_id"),
        base_session=_left(left, "thread_id"),
        git_commit=_left(left, "commit_hash"),
        git_branch=_left(left, "branch"),
        git_remote=_left(left, "repository_url"),
    )


def session_in_name(path: str) -> str:
    """The id in ``rollout-<time>-<uuid>.jsonl``; the bare name where there is none."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    found = _UUID.search(name)
    return found[1].lower() if found else name.split(".jsonl", 1)[0]


def release(version: str | None) -> tuple[int, ...] | None:
    """``0.98.0-alpha.1`` as (0, 98); None where it is no version."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})", version or "")
    return (int(found[1]), int(found[2])) if found else None


def _source(payload: dict[str, Any]) -> tuple[str, str | None, bool]:
    """Where the session came from, its parent, and whether a person talks in it."""
    source = payload.get("source")
    parent = _text(payload, "parent_thread_id")
    primary = True
    if isinstance(source, dict):
        custom = _text(source, "custom")
        primary = custom is not None
        name = custom or next(iter(source), "")
        for detail in source.values():
            spawn = _dict(detail, "thread_spawn") if isinstance(detail, dict) else {}
            parent = _text(spawn, "parent_thread_id") or parent
    else:
        name = source if isinstance(source, str) else ""
    asked = _text(payload, "thread_source") or ""
    if isinstance(payload.get("thread_source"), dict) or _not_a_person(asked) or _not_a_person(name):
        primary = False
    return name, parent, primary


def _not_a_person(word: str) -> bool:
    """Whether a source's name says that a machine talks in it."""
    return word.replace("_", "").lower().startswith(("subagent", "memory", "internal"))


def _text(record: dict[str, Any], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def _dict(record: dict[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _left(text: str, key: str) -> str | None:
    found = re.search(_FIELD.format(key), text)
    return found[1] if found else None
