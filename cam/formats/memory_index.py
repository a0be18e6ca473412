"""MEMORY.md and ARCHIVE.md: a managed block with topics and counts, and around it a person's own text.

The managed block stands between two marker lines and holds nothing but ``- [topic](topic.md): N records``
lines; everything else in the file is the person's, kept byte for byte and quoted at start. A file of the
predecessor has no markers: only lines of its generated form are replaced.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from cam.core.records import NOTES_TOPIC, MemoryRecord, MemoryScope, MemoryState, Source, new_id, split_text

BEGIN = "<!-- cam:topics -->"
END = "<!-- /cam:topics -->"

# What the predecessor generated, line by line; anything else in its files a person wrote.
_GENERATED = re.compile(
    r"# (?:Archived )?(?:Global|Project|Project Local) Memory"
    r"|## Topics"
    r"|- \[[a-z0-9-]+\.md\]\([a-z0-9-]+\.md\): \d+ entr(?:y|ies)"
    r"|- No (?:archived )?topic files yet\."
    r"|This file is the concise startup index for this scope\."
    r"|It is intentionally short so it can be injected into Codex at session start\."
    r"|This file indexes archived memory that stays inspectable"
    r" but does not participate in default startup recall\."
)


def person_text(text: str) -> str:
    """What the person wrote in MEMORY.md: everything but the managed block and the titles cam gives."""
    before, _, after = _split(text)
    titles = {f"# {prefix}{title}" for title in _TITLES.values() for prefix in ("", "Archived: ")}
    lines = [line.removesuffix("\r") for line in (before + after).split("\n")]
    ours = titles.__contains__ if BEGIN in text else _GENERATED.fullmatch
    return "\n".join(line for line in lines if not ours(line)).strip("\n")


def note_records(data: bytes, scope: MemoryScope) -> list[MemoryRecord]:
    """What the person wrote in MEMORY.md as records of the topic ``memory``: one an item or paragraph.

    They can be found and read, not changed: the file is the person's. The heading above a piece is its last
    detail; an id holds until the piece's first line or its heading is changed.
    """
    records: list[MemoryRecord] = []
    taken: set[str] = set()
    for heading, lines in _pieces(person_text(data.decode("utf-8", "replace"))):
        summary, details = split_text("\n".join(lines))
        digest = sha256(f"{scope}\n{heading}\n{summary}".encode("utf-8", "surrogatepass")).hexdigest()
        name = new_id(summary, digest, taken)
        taken.add(name)
        own = (*details, heading) if heading else details
        records.append(
            MemoryRecord(scope, NOTES_TOPIC, name, summary, own, sources=(Source("file", name="MEMORY.md"),))
        )
    return records


def note_record(text: str, scope: MemoryScope, at: str) -> MemoryRecord:
    """Text that goes into a person's part of MEMORY.md, as a change of the store has it: all its lines.

    Args:
        text: not blank; blank lines at either end are left out.
        scope: whose MEMORY.md it is.
        at: when, ISO-8601 UTC.

    Returns:
        The record, with the id by which its first piece is found later (``note_records``).
    """
    text = _AROUND.sub("", text.replace("\r\n", "\n"))
    summary, *details = text.split("\n")
    pieces = note_records(text.encode("utf-8", "surrogatepass"), scope)
    name = pieces[0].id if pieces else new_id(summary, "0" * 8)
    return MemoryRecord(scope, NOTES_TOPIC, name, summary, tuple(details), created_at=at, updated_at=at)


_AROUND = re.compile(r"\A(?:[^\S\n]*\n)+|\s+\Z")


def _pieces(text: str) -> Iterator[tuple[str, list[str]]]:
    """Items and paragraphs, each with the heading it stands under."""
    heading = ""
    piece: list[str] = []
    for line in [*text.split("\n"), ""]:
        title = _HEADING.match(line)
        item = _ITEM.match(line)
        if piece and (title or item or not line.strip()):
            yield heading, piece
            piece = []
        if title:
            heading = title.group(1).strip()
        elif line.strip():
            piece.append(line[item.end() :] if item else line.strip())


_HEADING = re.compile(r"#{1,6} (.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]) +(?=\S)")


def update_index(data: bytes, scope: MemoryScope, state: MemoryState, counts: Mapping[str, int]) -> bytes:
    """MEMORY.md with its managed block renewed; the same bytes if nothing changed.

    Args:
        data: the file as it is, empty if there is none.
        scope: whose memory this is.
        state: ``active`` for MEMORY.md, ``archived`` for ARCHIVE.md.
        counts: records per topic; topics without records are left out.
    """
    text = data.decode("utf-8", "surrogateescape")
    newline = "\r\n" if "\r\n" in text else "\n"
    rows = [f"- [{topic}]({topic}.md): {_count(n)}" for topic, n in sorted(counts.items()) if n]
    block = newline.join([BEGIN, *(rows or ["- nothing yet"]), END])
    if not text:
        title = _TITLES[scope] if state is MemoryState.ACTIVE else f"Archived: {_TITLES[scope]}"
        text = f"# {title}{newline}{newline}{block}{newline}"
    elif BEGIN in text and END in text[text.index(BEGIN) :]:
        before, _, after = _split(text)
        text = before + block + after
    else:
        text = _without_generated(text, newline)
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        text = f"{text}{gap}{block}{newline}"
    return text.encode("utf-8", "surrogateescape")


def with_note(data: bytes, note: str) -> bytes:
    """MEMORY.md with ``note`` behind a person's own text; the same bytes if it says that already."""
    text = data.decode("utf-8", "surrogateescape")
    stands = _lines(note) in _lines(person_text(text)) or without_note(data, note) != data
    if stands or not note.strip():
        return data
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return (text + gap + newline.join(note.split("\n")) + newline).encode("utf-8", "surrogateescape")


class NoteEdit(NamedTuple):
    """A change of a person's part of MEMORY.md.

    Attributes:
        gone: text that is taken out, "" for none.
        added: text that is put behind, "" for none.
    """

    gone: str = ""
    added: str = ""

    def apply(self, data: bytes) -> bytes:
        """The file with the change made; the same bytes where it is made already."""
        return with_note(without_note(data, self.gone), self.added)


NO_EDIT = NoteEdit()


def without_note(data: bytes, note: str) -> bytes:
    """MEMORY.md without ``note``, which ``with_note`` put there; the same bytes where it does not stand."""
    if not note.strip():
        return data
    before, block, after = _split(data.decode("utf-8", "surrogateescape"))
    lines = r"\r?\n".join(map(re.escape, note.split("\n")))
    # The blank line above it came with it.
    whole = re.compile(rf"(?:(?:\A|(?<=\n))\r?\n)?(?:\A|(?<=\n)){lines}(?:\r?\n|\Z)")
    for place in (after, before):
        last = None
        hit = whole.search(place)
        while hit is not None:  # one may begin within another, and the last is the one that was put there
            last = hit if last is None or hit.end() > last.end() else last
            hit = whole.search(place, hit.start() + 1)
        if last is not None:
            rest = place[: last.start()] + place[last.end() :]
            parts = (before, block, rest) if place is after else (rest, block, after)
            return "".join(parts).encode("utf-8", "surrogateescape")
    return data


def block_of(data: bytes) -> str:
    """The managed block, "" where there is none."""
    return _split(data.decode("utf-8", "surrogateescape"))[1]


def _lines(text: str) -> str:
    """A text such that whole lines of it are found in another."""
    return "\n" + text.replace("\r\n", "\n").strip("\n") + "\n"


def counts_in_index(data: bytes) -> dict[str, int]:
    """Records per topic as the managed block says; empty where there is none."""
    _, block, _ = _split(data.decode("utf-8", "surrogateescape"))
    return {m.group(1): int(m.group(2)) for m in _ROW.finditer(block)}


_ROW = re.compile(r"^- \[([a-z0-9-]+)\]\([a-z0-9-]+\.md\): (\d+) records?", re.MULTILINE)

_TITLES = {
    MemoryScope.GLOBAL: "Global memory",
    MemoryScope.PROJECT: "Project memory",
    MemoryScope.PROJECT_LOCAL: "Memory of this worktree",
}


def _count(n: int) -> str:
    return "1 record" if n == 1 else f"{n} records"


def _split(text: str) -> tuple[str, str, str]:
    """Text before, in and after the managed block; all of it is before where there is none."""
    start = text.find(BEGIN)
    end = text.find(END, start)
    if start < 0 or end < 0:
        return text, "", ""
    return text[:start], text[start : end + len(END)], text[end + len(END) :]


def _without_generated(text: str, newline: str) -> str:
    lines = text.split("\n")
    kept = [line for line in lines if not _GENERATED.fullmatch(line.rstrip("\r"))]
    if len(kept) == len(lines):
        return text
    return newline.join(line.rstrip("\r") for line in kept).strip("\r\n")
