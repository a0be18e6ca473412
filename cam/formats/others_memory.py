"""What other tools keep as Markdown, taken apart into notes. Pure; nothing is written in these forms.

Instruction files (AGENTS.md and its kin): each item of a list and each paragraph is a note; what is indented
below an item belongs to it. Headings, fences, tables, quotations, comments and what stands between
``<!-- x:start -->`` and ``<!-- x:end -->`` say nothing that lasts.

Claude Code's memory: a file with front matter (``name``, ``description``, ``type``) is one note; others are
read like instruction files. An item of ``MEMORY.md`` that only links to such a file is its index.

Codex's native ``MEMORY.md``: blocks ``# Task Group: …`` with ``applies_to: cwd=PATH; …``; of them the items
of ``## User preferences``, ``## Reusable knowledge`` and ``## Failures and how to do differently``, without
the ``[Task 1]`` they end with. Lists of rollouts and keywords are its index. Newer releases keep one
``memory_summary.md`` instead: of it the items of ``## User preferences`` and ``## General Tips``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MANAGED = re.compile(r"<!--\s*\S+:(?P<edge>start|end)\b")
_TASKS = re.compile(r"(?:\s*+\[Task \d+\])++\s*+$")
_LINK_ONLY = re.compile(r"\[[^\]]*\]\(\s*(?P<file>[^)\s]+\.md)\s*\).*")
_FIELD = re.compile(r"(?P<name>[a-z_]+):[ \t]*(?P<value>.*)")
_CWD = re.compile(r"\bcwd=(?P<path>/[^;,\n]*)")

_NATIVE_SECTIONS = ("user preferences", "reusable knowledge", "failures and how to do differently")
_SUMMARY_SECTIONS = ("user preferences", "general tips")
_CLAUDE_TOPICS = {"user": "preferences", "feedback": "preferences", "reference": "reference"}


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that somebody keeps.

    Attributes:
        text: its first line says it.
        details: further lines.
        line: 1-based, where it begins.
        topic: None where its words have to say it.
        folder: absolute path of the folder that it is about, "" where the source does not say.
    """

    text: str
    details: tuple[str, ...] = ()
    line: int = 0
    topic: str | None = None
    folder: str = ""


def instruction_notes(text: str) -> list[Note]:
    """The notes of an instruction file, in order."""
    return list(_notes(list(enumerate(text.split("\n"), 1))))


def claude_notes(text: str, files: frozenset[str] = frozenset()) -> list[Note]:
    """The notes of one file of Claude Code's memory.

    Args:
        text: the file's.
        files: names of the files beside it; an item that only links to one of them is left out.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    end = lines.index("---", 1) if lines[0] == "---" and "---" in lines[1:] else 0
    if not end:
        return [note for note in instruction_notes(text) if not _links_to(note.text, files)]
    fields = {m["name"]: m["value"].strip().strip("\"'") for m in map(_FIELD.fullmatch, lines[1:end]) if m}
    body = [line.strip() for line in lines[end + 1 :] if line.strip()]
    says = fields.get("description") or (body.pop(0) if body else "")
    if not says:
        return []
    details = tuple(line for line in body if line != says)
    return [Note(says, details, end + 2, _CLAUDE_TOPICS.get(fields.get("type", "")))]


def native_notes(text: str) -> list[Note]:
    """The notes of Codex's own ``MEMORY.md``, in order."""
    return _sections(text, _NATIVE_SECTIONS)


def summary_notes(text: str) -> list[Note]:
    """The notes of Codex's own ``memory_summary.md``, in order."""
    return _sections(text, _SUMMARY_SECTIONS)


def _sections(text: str, names: tuple[str, ...]) -> list[Note]:
    """The notes of some sections, each with the folder that its block is about."""
    found: list[Note] = []
    folder, section = "", ""
    lines: list[tuple[int, str]] = []

    def close() -> None:
        if section in names:
            topic = "preferences" if section == "user preferences" else None
            for note in _notes(lines):
                said = _TASKS.sub("", note.text)
                if said:
                    found.append(replace(note, text=said, topic=topic, folder=folder))
        lines.clear()

    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            close()
            level = len(line) - len(line.lstrip("#"))
            section = line[level:].strip().lower() if level > 1 else ""
            folder = folder if level > 1 else ""
        elif line.startswith("applies_to:"):
            hit = _CWD.search(line)
            folder = hit["path"].strip() if hit else ""
        else:
            lines.append((number, line))
    close()
    return found


def _links_to(text: str, files: frozenset[str]) -> bool:
    link = _LINK_ONLY.fullmatch(text)
    return link is not None and link["file"] in files


def _notes(lines: list[tuple[int, str]]) -> Iterator[Note]:
    """Items and paragraphs of Markdown lines, each with its number."""
    current: Note | None = None
    depth, after_blank = -1, False  # of the item; a paragraph has none
    for number, line in _spoken(lines):
        if not line.strip():
            after_blank = True
            continue
        item = _ITEM.fullmatch(line)
        indent = len(line) - len(line.lstrip())
        if current is not None and 0 <= depth < indent:  # below an item
            more = item["text"] if item else line.strip()
            current = replace(current, details=(*current.details, more.strip()))
        elif current is not None and item is None and not after_blank:  # the same paragraph, or a lazy line
            current = replace(current, text=f"{current.text} {line.strip()}")
        else:
            if current is not None:
                yield current
            text, depth = (item["text"], indent) if item else (line, -1)
            current = Note(text.strip(), line=number)
        after_blank = False
    if current is not None:
        yield current


def _spoken(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines that say something; a blank one stands for what is left out."""
    fence, comment, managed = "", False, False
    for number, raw in lines:
        line = raw.rstrip("\r")
        edge = _MANAGED.search(line)
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
        elif edge is not None:
            managed = edge["edge"] == "start"
        elif comment or managed:
            comment = comment and "-->" not in line
        elif (opened := _FENCE.match(line)) is not None:
            fence = opened[1]
        elif line.lstrip().startswith("<!--"):
            comment = "-->" not in line
        elif not line.lstrip().startswith(("#", "|", ">", "---", "===")):
            yield number, line
            continue
        yield number, ""
