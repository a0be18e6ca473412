"""Two states of one file of the store as one, record by record, for a store that is kept in git.

Independent changes never conflict. Where two machines changed one record, both texts stay, the later one
under the id; a record that one deleted and the other changed stays. It does not matter which side merges.
Pure.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from cam.core.records import MemoryRecord, MemoryScope, MemoryState, is_topic
from cam.formats.memory_index import counts_in_index, person_text, update_index
from cam.formats.topic_file import (
    TopicFile,
    apply_to_topic_file,
    new_topic_file,
    parse_topic_file,
    render_topic_file,
)

CONFLICT = "changed on two machines at once; both are kept"

_INDEXES = ("MEMORY.md", "ARCHIVE.md")


def merge_file(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """The file that both made of ``base``.

    Args:
        path: relative to the store; decides what kind of file it is.
        base: the common ancestor, empty if there is none.
        ours: as it is here.
        theirs: as it is there.

    Returns:
        None for a kind of file that is not merged.
    """
    if theirs in (base, ours):
        return ours
    folder, _, name = path.rpartition("/")
    if name.endswith(".jsonl"):
        return merge_lines(ours, theirs)
    if not name.endswith(".md"):
        return None
    state = MemoryState.ARCHIVED if folder.endswith("archive") else MemoryState.ACTIVE
    scope = scope_of_path(path)
    if name in _INDEXES:
        return _merge_index(base, ours, theirs, scope, state)
    files = (
        parse_topic_file(data, path=path, scope=scope, state=state, topic=name[:-3])
        if data
        else new_topic_file(scope, state, name[:-3])
        for data in (base, ours, theirs)
    )
    return render_topic_file(_merge_topic(*files))


def scope_of_path(path: str) -> MemoryScope:
    """Whose memory a file of the store is."""
    if path.startswith("global/"):
        return MemoryScope.GLOBAL
    return MemoryScope.PROJECT_LOCAL if "/locals/" in path else MemoryScope.PROJECT


def merge_lines(ours: bytes, theirs: bytes) -> bytes:
    """Two logs as one, in order of time; equal lines once."""
    lines: dict[bytes, str] = {}
    for data in (ours, theirs):
        at = ""
        for line in data.split(b"\n"):
            if line.strip():
                at = _time_of(line) or at
                lines.setdefault(line, at)
    return b"".join(line + b"\n" for line in sorted(lines, key=lambda line: lines[line]))


def _merge_topic(base: TopicFile, ours: TopicFile, theirs: TopicFile) -> TopicFile:
    before, here, there = ({r.id: r for r in file.records} for file in (base, ours, theirs))
    wanted: dict[str, MemoryRecord | None] = {}
    second: list[MemoryRecord] = []
    for name in {**here, **there}:
        wanted[name], lost = _merge_record(before.get(name), here.get(name), there.get(name))
        second += () if lost is None else (lost,)
    taken = before.keys() | here.keys() | there.keys()
    for record in sorted(second, key=lambda r: r.id):
        wanted |= _beside(record, wanted, taken)
    known = {section.raw.strip() for section in (*base.sections, *ours.sections)}
    foreign = [s for s in theirs.sections if s.record is None and s.raw.strip() not in known]
    prelude = merge_text(base.prelude, ours.prelude, theirs.prelude)
    ours = ours._replace(prelude=prelude, sections=(*ours.sections, *foreign))
    return apply_to_topic_file(ours, wanted)


def _merge_record(
    base: MemoryRecord | None, ours: MemoryRecord | None, theirs: MemoryRecord | None
) -> tuple[MemoryRecord | None, MemoryRecord | None]:
    """What becomes of a record, and the other text where two machines gave it one each."""
    if theirs in (ours, base):
        return ours, None
    if ours == base:
        return theirs, None
    if ours is None or theirs is None:
        return ours or theirs, None  # deleted here and changed there: what was changed counts
    later, earlier = sorted((ours, theirs), key=lambda r: (r.updated_at, r.text), reverse=True)
    return later, None if later.text == earlier.text else earlier


def _beside(
    record: MemoryRecord, wanted: dict[str, MemoryRecord | None], taken: Collection[str]
) -> dict[str, MemoryRecord]:
    """The record under an id of its own, the same on every machine; nothing where its text has one."""
    for name in _ids(record):
        there = wanted.get(name)
        if there is not None and there.text == record.text:
            return {}
        if there is None and name not in taken:
            reason = f"{record.reason}; {CONFLICT}".lstrip("; ")
            return {name: replace(record, id=name, reason=reason)}
    raise AssertionError  # there is always another id


def _ids(record: MemoryRecord) -> Iterator[str]:
    digest = hashlib.sha256(record.text.encode("utf-8", "surrogatepass")).hexdigest()
    number = 0
    while True:
        yield f"{record.id}-{digest[:8]}" + (f"-{number}" if number else "")
        number += 1


def _merge_index(base: bytes, ours: bytes, theirs: bytes, scope: MemoryScope, state: MemoryState) -> bytes:
    """A person's own text of both; the counts are put right by the next write."""
    texts = [data.decode("utf-8", "surrogateescape") for data in (base, ours, theirs)]
    notes = [person_text(text) for text in texts]
    counts = {**counts_in_index(theirs), **counts_in_index(ours)}
    if notes[2] not in (notes[0], notes[1]):
        if notes[0] == notes[1]:
            ours = theirs
        else:
            known = set(notes[1].split("\n"))
            new = [line for line in notes[2].split("\n") if line not in known]
            gap = "" if not texts[1] or texts[1].endswith("\n") else "\n"
            ours = (texts[1] + gap + "".join(f"{line}\n" for line in new)).encode("utf-8", "surrogateescape")
    return update_index(ours, scope, state, counts)


def merge_text(base: str, ours: str, theirs: str) -> str:
    """Text that is nobody's record: the side that changed it, or both one behind the other."""
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    known = set(ours.splitlines())
    new = [line for line in theirs.splitlines() if line not in known]
    return _closed(ours) + "".join(f"{line}\n" for line in new)


def _closed(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _time_of(line: bytes) -> str:
    try:
        data = json.loads(line)
    except ValueError:
        return ""
    if not isinstance(data, dict):
        return ""
    at = next((data[name] for name in ("at", "appliedAt", "recordedAt", "generatedAt") if name in data), "")
    return at if isinstance(at, str) else ""


_SHARED = re.compile(
    r"projects/[^./][^/]*/project\.json"
    r"|projects/[^./][^/]*/audit/sync-log\.jsonl|global/audit/sync-log\.jsonl"
    r"|(?:global|projects/[^./][^/]*/(?:project|locals/[^./][^/]*))"
    r"/(?:memory-history\.jsonl|MEMORY\.md|archive/ARCHIVE\.md|(?:archive/)?(?P<topic>[^./][^/]*)\.md)"
)


def is_shared(path: str) -> bool:
    """Whether a file of the store is one that machines share: topics, indexes, history, audit, identity."""
    match = _SHARED.fullmatch(path)
    return match is not None and (match["topic"] is None or is_topic(match["topic"]))
