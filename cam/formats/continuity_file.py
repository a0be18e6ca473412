"""active.md: where the last session stopped, as one layer holds it (docs/continuity.md).

A file is front matter (``key: value`` between two ``---``), a title and sections. Six sections are known by
their titles: Goal, Confirmed Working, Tried and Failed, Not Yet Tried, Incomplete / Next, Files / Decisions /
Environment. The goal stands on lines that begin with ``| ``, every other item on one line that begins with
``- ``; a section with nothing holds a fixed placeholder, which reads as nothing. Everything else (further
sections, text, lines below an item) is a person's: it is kept where it is, byte for byte.

``parse`` keeps every byte, so ``render(parse(data)) == data`` for any file; ``put`` exchanges the items that
are cam's and leaves the rest.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from cam.core.display import one_line

GOAL = "goal"
SECTIONS: Mapping[str, str] = {
    GOAL: "Goal",
    "working": "Confirmed Working",
    "failed": "Tried and Failed",
    "untried": "Not Yet Tried",
    "next_steps": "Incomplete / Next",
    "notes": "Files / Decisions / Environment",
}
"""Titles by field of ``ContinuityState``, in the order of the file."""

LISTS = tuple(key for key in SECTIONS if key != GOAL)
"""The fields that are lists."""

PLACEHOLDERS: Mapping[str, str] = {
    GOAL: "No active goal recorded.",
    "working": "Nothing confirmed yet.",
    "failed": "No failed approaches recorded.",
    "untried": "No untried approaches recorded.",
    "next_steps": "No next step recorded.",
    "notes": "No additional file, decision, or environment notes.",
}

MAX_GOAL = 400
MAX_ITEM = 240
"""Characters of a goal and of an item."""
MAX_ITEMS = 8
"""Items of a section that are cam's."""

TITLE = "Session Continuity"

_KEYS = {title.casefold(): key for key, title in SECTIONS.items()}
_HEADING = re.compile(r"##[ \t]+(.*?)[ \t]*#*[ \t]*\r?\n?$")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ContinuityState:
    """What a layer says.

    Attributes:
        goal: one line, "" for none.
        working: confirmed working.
        failed: tried and failed.
        untried: not yet tried.
        next_steps: incomplete, or next.
        notes: files, decisions, environment.
    """

    goal: str = ""
    working: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return self == ContinuityState()

    def items(self, key: str) -> tuple[str, ...]:
        """The items of a field; the goal as a list of one or none."""
        if key == GOAL:
            return (self.goal,) if self.goal else ()
        found: tuple[str, ...] = getattr(self, key)
        return found


@dataclass(frozen=True, slots=True)
class Section:
    """One section as it stands.

    Attributes:
        key: its field, None for a section of a person's.
        heading: its line.
        lines: below it, each with its line feed.
    """

    key: str | None
    heading: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContinuityFile:
    """A file as it stands; joining its parts gives its bytes.

    Attributes:
        front: the lines of the front matter with its two fences; empty where there is none.
        top: lines before the first section.
        sections: in file order.
    """

    front: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def fields(self) -> dict[str, str]:
        """The front matter's values by key."""
        found = {}
        for line in self.front[1:-1]:
            key, colon, value = line.partition(":")
            if colon:
                found[key.strip()] = value.strip()
        return found

    @property
    def state(self) -> ContinuityState:
        """What it says, a person's items included; placeholders are nothing."""
        found: dict[str, list[str]] = {key: [] for key in SECTIONS}
        plain: list[str] = []
        for section in self.sections:
            if section.key is None:
                continue
            for kind, text in _said(section):
                if kind == "item" and text not in found[section.key]:
                    found[section.key].append(text)
                elif kind == "text" and section.key == GOAL:
                    plain.append(text)
        goal = " ".join(found.pop(GOAL) or plain)
        return ContinuityState(goal, **{key: tuple(items) for key, items in found.items()})

    @property
    def additions(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Sections of a person's: title and lines that are not blank."""
        found = []
        for section in self.sections:
            lines = tuple(line.strip() for line in section.lines if line.strip())
            if section.key is None and lines:
                found.append((_title(section.heading), lines))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Front:
    """What cam writes into the front matter.

    Attributes:
        scope: ``project`` or ``project-local``.
        project: the project's id.
        worktree: the worktree's id.
        updated_at: ISO-8601 UTC.
        session: the session that was read last, "" for none.
    """

    scope: str
    project: str
    worktree: str
    updated_at: str
    session: str = ""
    more: Mapping[str, str] = field(default_factory=dict)

    def fields(self) -> dict[str, str]:
        """Keys and values in the order of the file."""
        found = {
            "kind": "session-continuity",
            "scope": self.scope,
            "projectId": self.project,
            "worktreeId": self.worktree,
            "updatedAt": self.updated_at,
            "status": "active",
            "sourceSessionId": self.session,
        }
        return {key: one_line(value).strip() for key, value in (found | dict(self.more)).items() if value}


def tidy(text: str, most: int = MAX_ITEM) -> str:
    """``text`` as an item: one line, white space collapsed, no longer than ``most``."""
    text = _SPACE.sub(" ", one_line(text)).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def digest(key: str, text: str) -> str:
    """Stands for an item in the note of what cam wrote."""
    return sha256(f"{key}:{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def parse(data: bytes) -> ContinuityFile:
    """Read a file; any bytes are one."""
    lines = _lines(data.decode("utf-8", "surrogateescape"))
    front: list[str] = []
    if lines and lines[0].removeprefix("\ufeff").rstrip() == "---":
        end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
        front, lines = (lines[: end + 1], lines[end + 1 :]) if end else ([], lines)
    top: list[str] = []
    sections: list[tuple[str | None, str, list[str]]] = []
    fence = ""
    known: set[str] = set()
    for line in lines:
        mark = _FENCE.match(line)
        heading = None if fence else _HEADING.match(line)
        if mark and not fence:
            fence = mark[1][0] * 3
        elif mark and mark[1].startswith(fence):
            fence = ""
        if heading:
            key = _KEYS.get(heading[1].casefold())
            sections.append((None if key in known else key, line, []))
            known |= {key} if key else set()
        elif sections:
            sections[-1][2].append(line)
        else:
            top.append(line)
    return ContinuityFile(
        tuple(front), tuple(top), tuple(Section(key, head, tuple(below)) for key, head, below in sections)
    )


def render(file: ContinuityFile) -> bytes:
    """The file's bytes."""
    parts = [*file.front, *file.top]
    for section in file.sections:
        parts += [section.heading, *section.lines]
    return "".join(parts).encode("utf-8", "surrogateescape")


def new_file() -> ContinuityFile:
    """An empty file, every section with its placeholder."""
    sections = []
    keys = list(SECTIONS)
    for key in keys:
        blank = () if key == keys[-1] else ("\n",)
        line = _line(key, PLACEHOLDERS[key])
        sections.append(Section(key, f"## {SECTIONS[key]}\n", (line, *blank)))
    return ContinuityFile(("---\n", "---\n"), ("\n", f"# {TITLE}\n", "\n"), tuple(sections))


def put(
    file: ContinuityFile, state: ContinuityState, front: Front, written: Collection[str] | None = None
) -> ContinuityFile:
    """Exchange cam's items for those of ``state``.

    Args:
        file: as it stands.
        state: what shall stand in it; items that are a person's stay where they are and come once.
        front: values of the front matter; other keys stay.
        written: digests of the items that cam wrote; an item that is not among them is a person's. None
            where that is not known (the predecessor's files): all are taken for cam's.
    """
    sections = [
        s if s.key is None else Section(s.key, s.heading, _exchange(s, state.items(s.key), written))
        for s in file.sections
    ]
    top = file.top if file.front or file.top or sections else new_file().top
    last: tuple[Section, ...] = ()
    if _is_open(top):  # a code block that nobody closed would hide what comes after it
        top, last = new_file().top, (Section(None, "", top),)
    elif sections and _is_open(sections[-1].lines):
        last = (sections.pop(),)
    present = {s.key for s in (*sections, *last)}
    for key in SECTIONS:
        if key not in present and state.items(key):
            if sections:
                sections[-1] = _closed(sections[-1])
            elif top and not top[-1].endswith("\n"):
                top = (*top[:-1], f"{top[-1]}\n")
            lines = tuple(_line(key, item) for item in state.items(key))
            sections.append(Section(key, f"## {SECTIONS[key]}\n", lines))
    if sections and last:
        sections[-1] = _closed(sections[-1])
    return ContinuityFile(_front(file, front), top, (*sections, *last))


def theirs(file: ContinuityFile, written: Collection[str] | None) -> ContinuityState:
    """The items that a person added; nothing where it is not known what cam wrote."""
    if written is None:
        return ContinuityState()
    state = file.state
    lists = {
        key: tuple(item for item in state.items(key) if digest(key, item) not in written) for key in LISTS
    }
    return ContinuityState("", **lists)


def _front(file: ContinuityFile, front: Front) -> tuple[str, ...]:
    fields = front.fields()
    if not file.front:
        return ("---\n", *(f"{key}: {value}\n" for key, value in fields.items()), "---\n")
    lines = [file.front[0]]
    for line in file.front[1:-1]:
        key = line.partition(":")[0].strip()
        if key in fields:
            lines.append(f"{key}: {fields.pop(key)}\n")
        elif key != "sourceSessionId":  # the one key of cam's that may go
            lines.append(line)
    lines += [f"{key}: {value}\n" for key, value in fields.items()]
    return (*lines, file.front[-1])


def _exchange(section: Section, items: tuple[str, ...], written: Collection[str] | None) -> tuple[str, ...]:
    """A known section's lines with cam's items exchanged."""
    assert section.key is not None
    key = section.key
    kept: list[str] = []
    place: int | None = None
    own: set[str] = set()
    for line, (kind, text) in zip(section.lines, _kinds(section), strict=True):
        is_ours = kind == "placeholder" or (
            kind == "item" and (key == GOAL or written is None or digest(key, text) in written)
        )
        if is_ours:
            place = len(kept) if place is None else place
            continue
        own |= {text} if kind == "item" else set()
        kept.append(line)
    new = [_line(key, item) for item in items if item not in own]
    if not new and not own:
        new = [_line(key, PLACEHOLDERS[key])]
    if place is None:
        place = 0
    if place and not kept[place - 1].endswith("\n"):
        kept[place - 1] += "\n"
    return (*kept[:place], *new, *kept[place:])


def _said(section: Section) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text in _kinds(section) if kind in ("item", "text")]


def _kinds(section: Section) -> list[tuple[str, str]]:
    """What each line is: ``item``, ``placeholder``, ``text`` or ``blank``, and its text."""
    found = []
    mark = "|" if section.key == GOAL else "-"
    fence = ""
    for line in section.lines:
        fenced = _FENCE.match(line)
        if fence or fenced:
            if fenced and not fence:
                fence = fenced[1][0] * 3
            elif fenced and fenced[1].startswith(fence):
                fence = ""
            found.append(("other", ""))
            continue
        body = line.rstrip("\r\n")
        if not body.strip():
            found.append(("blank", ""))
        elif body.startswith(mark) and (len(body) == 1 or body[1] in " \t"):
            text = _SPACE.sub(" ", body[1:]).strip()
            is_nothing = not text or (section.key is not None and text == PLACEHOLDERS[section.key])
            found.append(("placeholder" if is_nothing else "item", "" if is_nothing else text))
        else:
            found.append(("text", body.strip()))
    return found


def _line(key: str, text: str) -> str:
    return f"{'|' if key == GOAL else '-'} {text}\n"


def _title(heading: str) -> str:
    hit = _HEADING.match(heading)
    return hit[1] if hit else heading.strip()


def _is_open(lines: tuple[str, ...]) -> bool:
    """Whether a code block begins in ``lines`` and does not end."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1][0] * 3
        elif mark and mark[1].startswith(fence):
            fence = ""
    return bool(fence)


def _closed(section: Section) -> Section:
    """The section with a blank line at its end."""
    lines = list(section.lines)
    if not lines:
        head = section.heading if section.heading.endswith("\n") else section.heading + "\n"
        return Section(section.key, head, ("\n",))
    if not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if lines[-1].strip():
        lines.append("\n")
    return Section(section.key, section.heading, tuple(lines))


def _lines(text: str) -> list[str]:
    """Lines with their line feeds; other separators are part of a line."""
    lines = text.split("\n")
    found = [f"{line}\n" for line in lines[:-1]]
    return [*found, lines[-1]] if lines[-1] else found
