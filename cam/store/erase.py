"""Take a text out of every file of the store: for secrets.

Topic files lose the record and hold every other one; logs lose its lines and entries; what is derived and
holds the text is deleted; anything else keeps its form around ``[erased]``. The live record goes last, so
that a crash in between leaves a ref with which the command can be given again.
"""

import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from cam.core.errors import CamError
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState, is_topic, new_id
from cam.core.tombstones import normal, tombstone_key
from cam.formats.history import HistoryEvent
from cam.formats.json_line import dump_line
from cam.formats.topic_file import (
    TopicFile,
    apply_to_topic_file,
    parse_topic_file,
    render_topic_file,
)
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.tombstones import bury
from cam.store.transaction import RecordPair, Transaction, repeat
from cam.system.files import read_bytes, remove_file, walk_files, write_atomic

ERASED = "[erased]"

_INDEXES = ("MEMORY.md", "ARCHIVE.md")
_KEPT_CACHE = ("cache/shadow/", "cache/runs/", "cache/sessions/", "cache/receipts", "cache/codex-version")
_SHADOWS = "cache/shadow/"
_HASHED_ID = re.compile(r"-[0-9a-f]{6,}(?:-\d+)?\Z")
_WORD = re.compile(r"[^\s`'\"“”‘’«»<>()\[\]{}]+")

Key = tuple[MemoryScope, str, str]


class Needles:
    """What is looked for.

    Attributes:
        keys: identities of the record, former ones included.
        texts: its summaries, longer details and quotes, in every version.
        words: distinctive words of them (letters and digits or signs mixed), such as a secret has.
    """

    def __init__(self, keys: Iterable[Key], texts: Iterable[str], words: Iterable[str]) -> None:
        self.keys = frozenset(keys)
        self.texts = tuple(sorted({t for t in texts if t}, key=len, reverse=True))
        self.words = tuple(sorted(set(words), key=len, reverse=True))

    @cached_property
    def summaries(self) -> frozenset[str]:
        """Normal forms of the texts."""
        return frozenset(filter(None, map(normal, self.texts)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """How the record is named elsewhere: ``topic:id``, and ids that can be nobody else's."""
        found = [f"{topic}:{name}" for _, topic, name in self.keys]
        found += [name for _, _, name in self.keys if _HASHED_ID.search(name)]
        return tuple(sorted(set(found), key=len, reverse=True))

    def pattern(self, *, words: bool) -> re.Pattern[str]:
        """What to replace in running text; with ``words`` the distinctive ones too."""
        return self._patterns[words]

    @cached_property
    def _patterns(self) -> dict[bool, re.Pattern[str]]:
        base = (*(t for t in self.texts if is_telling(t)), *self.names)
        found = {}
        for words in (False, True):
            wanted = [form for text in (*base, *(self.words if words else ())) for form in forms(text)]
            found[words] = re.compile("|".join(map(re.escape, wanted)) or r"(?!)", re.IGNORECASE)
        return found

    def says(self, text: str) -> bool:
        """Whether ``text`` is one of the texts, as a whole."""
        return text in self.texts or normal(text) in self.summaries

    def found_in(self, data: bytes, *, words: bool) -> bool:
        """Whether any of it stands in ``data``, as it is or escaped."""
        return self.pattern(words=words).search(data.decode("utf-8", "surrogateescape")) is not None

    def may_be_in(self, data: bytes) -> bool:
        """Whether ``data`` is worth a closer look: short texts, and ids that others may have, count too."""
        text = data.decode("utf-8", "surrogateescape").casefold()
        short = (form for t in self.texts if not is_telling(t) for form in forms(t.casefold()))
        return (
            self.found_in(data, words=True)
            or any(name in text for _, _, name in self.keys)
            or any(form in text for form in short)
        )


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What was done.

    Attributes:
        files: paths that were changed or deleted, relative to the store.
        others: refs of further records that lost the text or went with it.
        left: paths in which some of it still stands.
    """

    files: tuple[str, ...]
    others: tuple[str, ...]
    left: tuple[str, ...]


def needles_of(record: MemoryRecord, events: Iterable[HistoryEvent]) -> Needles:
    """Everything by which the record's text is found, from what it says now and ever said."""
    events = list(events)
    keys = {record.key}
    grown = True
    while grown:
        grown = False
        for event in events:
            own = {r.key for r in (event.before, event.after) if r is not None}
            if own & keys and not own <= keys:
                keys |= own
                grown = True
    versions = [record]
    quotes: list[str] = []
    for event in events:
        own_records = [r for r in (event.before, event.after) if r is not None and r.key in keys]
        versions += own_records
        if own_records or _key_of(event.ref) in keys:
            quotes += [q.text for q in event.quotes]
    lines = [line for v in versions for line in v.details] + [line for q in quotes for line in q.split("\n")]
    summaries = {v.summary.strip(" .,;:!。") or v.summary for v in versions}
    words = {w for text in (*summaries, *lines) for w in distinctive(text)}
    texts = {*summaries, *(line.strip() for line in lines if is_telling(line.strip()))}
    return Needles(keys, texts, words)


def distinctive(text: str) -> list[str]:
    """Words such as no language has: six or more characters with letters and digits mixed."""
    found = (w.strip(".,;:!?") for w in _WORD.findall(text))
    return [w for w in found if len(w) >= 6 and any(c.isdigit() for c in w) and any(c.isalpha() for c in w)]


def is_telling(text: str) -> bool:
    """Whether a text is long or odd enough to be taken out from within another one."""
    return len(text.encode("utf-8", "surrogatepass")) >= 12 or bool(distinctive(text))


def forms(text: str) -> list[str]:
    """How a text may stand in a file: as it is, and as JSON writes it."""
    raw = json.dumps(text, ensure_ascii=False)[1:-1]
    found = [text, raw, json.dumps(text)[1:-1], raw.replace("--", "-\\u002d")]
    return list(dict.fromkeys(found))


def scrub(root: str, needles: Needles, at: str, extra: Iterable[str] = ()) -> Scrubbed:
    """Take it out of every file; leaves salted tombstones. The lock is taken.

    Args:
        root: the store.
        needles: what.
        at: time of the tombstones, ISO-8601 UTC.
        extra: absolute paths of further files of cam's own outside the store.

    Raises:
        StoreUnavailableError: the machine refuses; the record itself still stands, so a repeat goes on.
    """
    work = _Scrubber(root, needles)
    with MarkdownStore(StoreLayout(root)).locked():
        bury(root, [(tombstone_key(text), at) for text in needles.texts], erased=True)
        paths = [path for path in walk_files(root) if not path.startswith(".git/")]
        work.look_around(paths)
        live = [p for p in paths if work.is_live(p)]
        for path in (*(p for p in paths if p not in set(live)), *live):
            work.file(path)
        for path in extra:
            work.raw(path, path)
        left = [p for p in walk_files(root) if not p.startswith(".git/") and work.holds(p)]
    return Scrubbed(tuple(sorted(work.changed)), tuple(sorted(work.others)), tuple(left))


class _Scrubber:
    """Cleans one file after the other."""

    def __init__(self, root: str, needles: Needles) -> None:
        self.changed: set[str] = set()
        self.others: set[str] = set()
        self._root, self._needles = root, needles
        self._text, self._all = needles.pattern(words=False), needles.pattern(words=True)
        self._holders: set[Key] = set()
        self._ids: dict[str, str] = {}

    def look_around(self, paths: Iterable[str]) -> None:
        """Read all live topics first: who says the same, who holds the text, who shares but a word of it."""
        twins: set[Key] = set()
        words = [word.casefold() for word in self._needles.words]
        for path in paths:
            place = _place_of(self._root, path)
            full = os.path.join(self._root, path)
            if place is None or os.path.islink(full) or not os.path.isfile(full):
                continue
            _, scope, state, topic = place
            file = parse_topic_file(read_bytes(full) or b"", path=path, scope=scope, state=state, topic=topic)
            for record in file.records:
                clean = self._record(record)
                if clean is None:
                    twins.add(record.key)
                elif clean.text != record.text:
                    self._ids[record.id] = clean.id
                elif any(word in record.text.casefold() for word in words):
                    self._holders.add(record.key)
        self._needles = Needles({*self._needles.keys, *twins}, self._needles.texts, self._needles.words)
        self._text, self._all = self._needles.pattern(words=False), self._needles.pattern(words=True)

    def is_live(self, path: str) -> bool:
        """Whether the path is a topic file that holds the record itself."""
        place = _place_of(self._root, path)
        return place is not None and any((place[1], place[3]) == key[:2] for key in self._needles.keys)

    def holds(self, path: str) -> bool:
        """Whether some of the text still stands there."""
        try:
            data = read_bytes(os.path.join(self._root, path)) or b""
        except CamError:
            return False
        return self._needles.found_in(data, words=False)

    def file(self, path: str) -> None:
        """Clean one file of the store."""
        full = os.path.join(self._root, path)
        if os.path.islink(full) or not os.path.isfile(full):
            return
        name = os.path.basename(path)
        if path.startswith("cache/") and not path.startswith(_KEPT_CACHE):
            self._delete(path)  # an index holds words in a form of its own
            return
        data = read_bytes(full) or b""
        if not self._may_be_in(data):
            return
        if path.startswith("cache/") or name.endswith(".tmp") or name == "retrieval-index.json":
            if self._needles.found_in(data, words=True):
                self._delete(path)
        elif name.endswith(".jsonl"):
            self._write(path, data, self._log(data, name))
        elif name.endswith(".json"):
            self._write(path, data, self._json(data))
        elif name.endswith(".md") and is_topic(name[:-3]) and "/continuity/" not in path:
            self._topic(path, data)
        else:
            self.raw(path, full)

    def raw(self, path: str, full: str) -> None:
        """Clean a file without a form of ours."""
        data = read_bytes(full)
        if data is not None and self._needles.found_in(data, words=True):
            self._write(path, data, self._replaced(data))

    def _may_be_in(self, data: bytes) -> bool:
        return self._needles.may_be_in(data) or any(name.encode() in data for name in self._ids)

    def _topic(self, path: str, data: bytes) -> None:
        place = _place_of(self._root, path)
        nowhere = (None, MemoryScope.PROJECT, MemoryState.ACTIVE, os.path.basename(path)[:-3])
        layout, scope, state, topic = place or nowhere
        file = parse_topic_file(data, path=path, scope=scope, state=state, topic=topic)
        wanted: dict[str, MemoryRecord | None] = {}
        pairs: list[RecordPair] = []
        for record in file.records:
            clean = self._record(record)
            if clean == record:
                continue
            wanted[record.id] = None
            pairs.append((record, None))
            if clean is not None:
                wanted[clean.id] = clean
                pairs.append((None, clean))
                if place is not None:
                    self.others.add(str(clean.ref))
        if any(section.record is None for section in file.sections) or self._text.search(file.prelude):
            file = self._foreign(file)
        if layout is None:
            self._write(path, data, render_topic_file(apply_to_topic_file(file, wanted)))
            return
        self._write(path, data, render_topic_file(file))
        if pairs:
            self._commit(layout, tuple(pairs))
            self.changed.add(path)

    def _commit(self, layout: StoreLayout, pairs: tuple[RecordPair, ...]) -> None:
        """Change live records with their index, whole or not at all, and without a word in the history."""
        name = f"erase-{secrets.token_hex(8)}"
        journal = os.path.join(layout.journal_folder, f"{name}.json")
        transaction = Transaction(name, layout.project, layout.worktree, pairs)
        write_atomic(journal, transaction.to_json())
        repeat(transaction, self._root)
        remove_file(journal)

    def _record(self, record: MemoryRecord) -> MemoryRecord | None:
        """The record without the text; None where it is the one that goes, or nothing else is left."""
        if self._needles.says(record.summary) or self._is_it(record):
            return None
        summary = self._clean(record.summary)
        if not normal(summary.replace(ERASED, " ")):
            return None
        clean = replace(
            record,
            summary=summary,
            details=tuple(map(self._clean, record.details)),
            reason=self._clean(record.reason),
            related=tuple(r for r in record.related if not self._text.search(r)),
        )
        if clean.text == record.text:
            return clean
        # An id is made of the text.
        digest = sha256(clean.text.encode("utf-8", "surrogatepass")).hexdigest()
        return replace(clean, id=new_id(clean.summary.replace(ERASED, " "), digest))

    def _is_it(self, record: MemoryRecord) -> bool:
        """Whether it is the record, or a copy of it somewhere else; ids alone do not tell projects apart."""
        named = any(key[1:] == (record.topic, record.id) for key in self._needles.keys)
        return named and self._hit([record.summary, *record.details])

    def _clean(self, text: str, pattern: re.Pattern[str] | None = None) -> str:
        if self._needles.says(text):
            return ERASED
        for old, new in self._ids.items():
            text = text.replace(old, new)
        return (pattern or self._text).sub(ERASED, text)

    def _foreign(self, file: TopicFile) -> TopicFile:
        """What is no record: a person's own text, and sections that cannot be read."""
        sections = tuple(
            s if s.record is not None else s._replace(raw=self._all.sub(ERASED, s.raw)) for s in file.sections
        )
        return file._replace(prelude=self._all.sub(ERASED, file.prelude), sections=sections)

    def _log(self, data: bytes, name: str) -> bytes:
        lines = []
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            if not self._may_be_in(line):
                lines.append(line)
                continue
            try:
                parsed = json.loads(line)
            except ValueError:
                continue  # torn, and perhaps with the text in it
            is_event = name == "memory-history.jsonl"
            if is_event and self._is_its(parsed):
                continue
            clean = self._walk(parsed, words=not (is_event and self._is_holders(parsed)))
            lines.append(line if clean == parsed else dump_line(clean).encode("utf-8", "backslashreplace"))
        return b"".join(line + b"\n" for line in lines)

    def _is_its(self, event: Any) -> bool:
        """Whether an event is about the record."""
        return bool(_keys_of_event(event) & self._needles.keys) and self._hit(event)

    def _is_holders(self, event: Any) -> bool:
        """Whether an event is about another record that stands and may keep the words it shares."""
        return bool(_keys_of_event(event) & self._holders)

    def _json(self, data: bytes) -> bytes:
        try:
            return (
                json.dumps(self._walk(json.loads(data), words=True), indent=1, ensure_ascii=False).encode()
                + b"\n"
            )
        except ValueError:
            return self._replaced(data)

    def _walk(self, value: Any, *, words: bool) -> Any:
        """JSON data without the text; in lists, entries that held it go as a whole."""
        pattern = self._all if words else self._text
        if isinstance(value, str):
            return self._clean(value, pattern)
        if isinstance(value, list):
            return [self._walk(v, words=words) for v in value if not (isinstance(v, dict) and self._hit(v))]
        if isinstance(value, dict):
            return {self._clean(k, pattern): self._walk(v, words=words) for k, v in value.items()}
        return value

    def _hit(self, value: Any) -> bool:
        if isinstance(value, str):
            return self._text.search(value) is not None or self._needles.says(value)
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return any(map(self._hit, parts))

    def _replaced(self, data: bytes) -> bytes:
        return self._clean(data.decode("utf-8", "surrogateescape"), self._all).encode(
            "utf-8", "surrogateescape"
        )

    def _write(self, path: str, old: bytes, new: bytes | None) -> None:
        if new == old:
            return
        if new:
            write_atomic(os.path.join(self._root, path), new)
            self.changed.add(path)
        else:
            self._delete(path)

    def _delete(self, path: str) -> None:
        remove_file(os.path.join(self._root, path))
        if not path.startswith(_SHADOWS):  # the copy of a file that counts itself
            self.changed.add(path)


def _place_of(root: str, path: str) -> tuple[StoreLayout, MemoryScope, MemoryState, str] | None:
    """Which live topic file a path of the store is."""
    folder, name = os.path.split(path)
    if not name.endswith(".md") or name in _INDEXES or not is_topic(name[:-3]):
        return None
    state = MemoryState.ARCHIVED if folder.endswith("/archive") else MemoryState.ACTIVE
    parts = folder.removesuffix("/archive").split("/")
    if parts == ["global"]:
        return StoreLayout(root), MemoryScope.GLOBAL, state, name[:-3]
    if len(parts) == 3 and parts[0] == "projects" and parts[2] == "project":
        return StoreLayout(root, parts[1], parts[1]), MemoryScope.PROJECT, state, name[:-3]
    if len(parts) == 4 and parts[0] == "projects" and parts[2] == "locals":
        return StoreLayout(root, parts[1], parts[3]), MemoryScope.PROJECT_LOCAL, state, name[:-3]
    return None


def _keys_of_event(event: Any) -> set[Key]:
    """Identities of the records that a history line is about, the predecessor's lines included."""
    found: set[Key] = set()
    if not isinstance(event, dict):
        return found
    for item in (event, event.get("before"), event.get("after")):
        if isinstance(item, dict):
            ref = str(item.get("ref", ""))
            if not ref and {"scope", "topic", "id"} <= item.keys():
                ref = f"{item['scope']}:active:{item['topic']}:{item['id']}"
            key = _key_of(ref.replace(":deleted:", ":archived:"))
            found |= {key} if key is not None else set()
    return found


def _key_of(ref: str) -> Key | None:
    try:
        return MemoryRef.parse(ref).key
    except CamError:
        return None
