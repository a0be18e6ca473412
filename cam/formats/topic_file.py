r"""Topic files: one Markdown file per topic, one section per record.

Grammar (docs/file-format.md has examples that are executed):

    file     = prelude section*
    prelude  = any text up to the first section: title, notice, whatever a person wrote
    section  = blank lines, [version NEWLINE], "## " heading NEWLINE [marker NEWLINE] body, up to the next
               section; a "## " inside a code fence begins none
    marker   = "<!-- cam:record " JSON " -->"      (records of cam; "cam:entry" is the predecessor's)
    body     = lines; blank ones do not count; a "- " before a line is taken off

The heading is the summary and the body the details, so a section that a person adds without a marker is
a record like any other. Where the visible form cannot carry the exact text (control characters, outer
blanks …) the marker's JSON holds ``summary`` or ``details`` as well; they count only as long as the
visible form still is what cam wrote for them: an edit by hand wins.

Above the first section that cam wrote stands ``<!-- cam:version HEX -->``: a digest of the records that the
file held when cam wrote it last. It tells an editor's stale save (written over records that came after the
version it had opened) from a deletion by hand.

Everything that is not a record stays where it is, byte for byte. A section that cannot be read is set
aside with its line and reason; the others live on. Two sections with one id, as of a block that was
copied, are two records and a problem that names both lines: a person must say which is meant. Files are
bytes here: line ends, a missing final newline and a byte order mark are kept.
"""

import functools
import json
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, RecordType, Source, new_id
from cam.formats.record_data import record_from_data, record_to_data, source_to_data

_MARKER = re.compile(r"<!-- cam:(record|entry) (\{.*\}) -->[ \t]*")
_VERSION = re.compile(r"<!-- cam:version ([0-9a-f]{10}) -->[ \t]*\r?\n")
_OURS = re.compile(r"## [^\n]*\n\s*<!-- cam:record \{")
_MARKER_START = re.compile(r"<!-- cam:(?:record|entry)\b")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

EPOCH = "1970-01-01T00:00:00.000Z"
"""Time of records whose file does not say when they were written."""


class Section(NamedTuple):
    """One section as it stands in the file.

    Attributes:
        raw: its text, with the blank lines before its heading.
        record: what it says, None where it cannot be read.
        ours: whether cam wrote it in its own form.
    """

    raw: str
    record: MemoryRecord | None
    ours: bool = False


class TopicFile(NamedTuple):
    """A topic file, read; ``render`` gives its bytes back."""

    scope: MemoryScope
    state: MemoryState
    topic: str
    prelude: str
    sections: tuple[Section, ...]
    problems: tuple[Problem, ...]
    newline: str = "\n"

    @property
    def records(self) -> tuple[MemoryRecord, ...]:
        """The records it holds, in file order."""
        return tuple(s.record for s in self.sections if s.record is not None)

    @property
    def version(self) -> str | None:
        """The version that cam wrote last and that what is here was made from; None if it never did."""
        matches = (_VERSION.search(_head(section.raw)) for section in self.sections)
        return next((match.group(1) for match in matches if match), None)

    @property
    def digest(self) -> str:
        """The version that cam would give the records as they stand here."""
        parts = sorted(_record_json(record) for record in self.records)
        return _sha256("\n".join(parts))[:10]


class Form(NamedTuple):
    """How a record stood in its file, for the day it comes back.

    Attributes:
        raw: its section without a version line, "" where cam writes the record just so.
        behind: id of the record before it, "" if it was the first.
    """

    raw: str = ""
    behind: str = ""


def parse_topic_file(
    data: bytes, *, path: str, scope: MemoryScope, state: MemoryState, topic: str
) -> TopicFile:
    """Read a topic file.

    Args:
        data: the file's bytes; what is not UTF-8 is kept and read as best it can be.
        path: named in problems and in the ids of sections that people wrote.
        scope: scope of the folder.
        state: ``active``, or ``archived`` for files under ``archive/``.
        topic: the file's name without ``.md``.
    """
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    headings = _headings(lines)
    starts = [_with_blanks(lines, heading) for heading in headings]
    prelude = "".join(lines[: starts[0]] if starts else lines)
    sections: list[Section] = []
    problems: list[Problem] = []
    taken: dict[str, int] = {}
    for start, heading, end in zip(starts, headings, [*starts, len(lines)][1:], strict=True):
        record: MemoryRecord | None = None
        try:
            record = _read_section("".join(lines[heading:end]), scope, state, topic, taken.keys())
            first = taken.setdefault(record.id, heading + 1)
            if first != heading + 1:
                problems.append(_stands_twice(path, heading + 1, record.id, first))
        except ValueError as error:
            problems.append(Problem(path, heading + 1, f"this section cannot be read: {error}", _ADVICE))
        raw = "".join(lines[start:end])
        sections.append(Section(raw, record, record is not None and _is_ours(raw)))
    newline = "\r\n" if "\r\n" in text and text.count("\r\n") * 2 > text.count("\n") else "\n"
    return TopicFile(scope, state, topic, prelude, tuple(sections), tuple(problems), newline)


def heading_lines(data: bytes) -> list[str]:
    """Lines of a topic file that are or may be summaries, found without reading the records.

    Args:
        data: the file's bytes.
    """
    text = "\n" + data.decode("utf-8", "replace")
    starts = ("\n## ", "\nSummary: ")  # the second one is the predecessor's
    pieces = (piece for start in starts for piece in text.split(start)[1:])
    return [piece.partition("\n")[0].strip() for piece in pieces]


def new_topic_file(scope: MemoryScope, state: MemoryState, topic: str) -> TopicFile:
    """An empty topic file with its title."""
    title = topic.replace("-", " ").title()
    if state is MemoryState.ARCHIVED:
        title = f"Archived: {title}"
    return TopicFile(scope, state, topic, f"# {title}\n", (), ())


def form_of(file: TopicFile, name: str) -> Form | None:
    """How the record ``name`` stands in the file; None if it does not."""
    behind = ""
    for section in file.sections:
        if section.record is None:
            continue
        if section.record.id != name:
            behind = section.record.id
            continue
        raw = _without_version(section).raw
        plain = f"{file.newline}{_section_text(section.record, file.newline)}{file.newline}"
        return Form("" if raw == plain else raw, behind)
    return None


def lines_of(file: TopicFile, name: str) -> list[int]:
    """1-based lines of the headings of the records with the id ``name``."""
    found: list[int] = []
    at = 1 + file.prelude.count("\n")
    for section in file.sections:
        if section.record is not None and section.record.id == name:
            found.append(at + _head(section.raw).count("\n"))
        at += section.raw.count("\n")
    return found


def split_version(text: str) -> tuple[str, int, str]:
    """A topic file's text without its version line, where that stood, and the line ("" if there is none)."""
    match = _VERSION.search(text)
    if match is None:
        return text, 0, ""
    return text[: match.start()] + text[match.end() :], match.start(), match.group()


def apply_to_topic_file(
    file: TopicFile,
    changes: Mapping[str, MemoryRecord | None],
    forms: Mapping[str, Form] | None = None,
) -> TopicFile:
    """The file with each record of ``changes`` (by id) as given; None takes it out.

    Sections whose record is not named, or already is as given, keep their bytes; new ones stand at the
    end. A file that has no final newline gets none.

    Args:
        file: as it is.
        changes: records by id.
        forms: how records stood that come back, by id: they get that text and that place again, where they
            still read as the record.

    Raises:
        ValueError: what would be written does not read back as the same records.
    """
    if forms:
        try:
            return _apply(file, changes, {n: f for n, f in forms.items() if _says(f, changes.get(n), file)})
        except ValueError:
            pass  # in the company it has now, such a text reads differently: cam's own form does not
    return _apply(file, changes, {})


def _apply(
    file: TopicFile, changes: Mapping[str, MemoryRecord | None], forms: Mapping[str, Form]
) -> TopicFile:
    rest = dict(changes)
    before = render_topic_file(file)
    closed = not before or before.endswith(b"\n")
    file = _with_known(file._replace(sections=tuple(map(_without_version, file.sections))), rest, forms)
    sections = list(file.sections)
    for wanted in rest.values():
        if wanted is not None:
            form = forms.get(wanted.id)
            place = len(sections) if form is None else _place(sections, form.behind)
            above = sections[place - 1].raw if place else file.prelude
            gap = "" if above.endswith("\n") or not above else file.newline
            sections.insert(place, _new_section(wanted, form, gap, file.newline))
    if not closed and sections:
        sections[-1] = sections[-1]._replace(raw=sections[-1].raw.removesuffix(file.newline))
    elif not closed:
        file = file._replace(prelude=file.prelude.removesuffix(file.newline))
    return _verified(sections, file)


def render_topic_file(file: TopicFile) -> bytes:
    """The file's bytes."""
    text = file.prelude + "".join(section.raw for section in file.sections)
    return text.encode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=1 << 15)
def _record_json(record: MemoryRecord) -> str:
    return json.dumps(record_to_data(record), sort_keys=True)


ONE_OF_THEM = "take one out, or its line '<!-- cam:record' to make it a record of its own"
"""What a person does where one id stands twice."""

_ADVICE = "mend the section or take it out; nothing of it was changed"


def _stands_twice(path: str, line: int, name: str, first: int) -> Problem:
    reason = f"the id {name} stands here and in line {first}: both are shown, neither can be changed"
    return Problem(path, line, reason, ONE_OF_THEM)


def _headings(lines: list[str]) -> list[int]:
    """Indexes of the lines that begin a section; a fence that is never closed is no fence."""
    found: list[int] = []
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        closing = _fence_end(lines, index, fence.group(1)) if fence else None
        if closing is not None:
            index = closing
        elif lines[index].startswith("## "):
            found.append(index)
        index += 1
    return found


def _with_blanks(lines: list[str], heading: int) -> int:
    # Blank lines before a heading are its own: taking a section out leaves what stood there before.
    start = heading
    # So is the version line.
    while start > 0 and (not lines[start - 1].strip() or _VERSION.fullmatch(lines[start - 1])):
        start -= 1
    return start


def _fence_end(lines: list[str], start: int, fence: str) -> int | None:
    for index in range(start + 1, len(lines)):
        line = lines[index].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return index
        if _MARKER_START.match(lines[index]) and lines[index - 1].startswith("## "):
            return None  # a record of ours begins: the fence was left open
    return None


def _read_section(
    text: str, scope: MemoryScope, state: MemoryState, topic: str, taken: AbstractSet[str]
) -> MemoryRecord:
    """The section's record.

    Raises:
        ValueError: why it cannot be read.
    """
    record = _read_marked(text, scope, state, topic)
    if record is not None:
        return record
    first, _, rest = text.partition("\n")
    heading = first[3:].strip()
    if not heading:
        raise ValueError("its heading is empty")
    name = new_id(heading, _person_digest(topic, heading), taken)
    details = _visible_details(_lines_of(rest))
    return MemoryRecord(scope, topic, name, heading, details, state, sources=(Source("file"),))


@functools.lru_cache(maxsize=1 << 15)  # a write reads its file three times, all but one section the same
def _read_marked(text: str, scope: MemoryScope, state: MemoryState, topic: str) -> MemoryRecord | None:
    """The record of a section with a marker, None if it has none.

    Raises:
        ValueError: why it cannot be read.
    """
    first, _, rest = text.partition("\n")
    body = _lines_of(rest)
    marker_at = next((i for i, line in enumerate(body) if line.strip()), None)
    if marker_at is None or not _MARKER_START.match(body[marker_at]):
        return None
    match = _MARKER.fullmatch(body[marker_at])
    if match is None:
        raise ValueError("its cam marker is broken")
    try:
        meta = json.loads(match.group(2))
    except ValueError as error:
        raise ValueError(f"its cam marker is not JSON: {error}") from None
    read = _predecessor_data if match.group(1) == "entry" else _marked_data
    heading = first[3:].strip()
    data = {**read(meta, heading, body[marker_at + 1 :]), "scope": scope, "state": state, "topic": topic}
    return record_from_data(data)


def _lines_of(body: str) -> list[str]:
    """Lines without their ends; an end that closes the last line begins no further one."""
    lines = body.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _marked_data(meta: Mapping[str, Any], heading: str, body: list[str]) -> dict[str, Any]:
    data = dict(meta)
    exact = meta.get("summary")
    data["summary"] = exact if isinstance(exact, str) and _heading_of(exact) == heading else heading
    visible = _visible_details(body)
    exact = meta.get("details")
    data["details"] = visible
    if isinstance(exact, list) and _visible_details(_body_of(exact)) == visible:
        data["details"] = exact
    data["created_at"] = meta.get("created", EPOCH)
    data["updated_at"] = meta.get("updated", data["created_at"])
    return data


def _predecessor_data(meta: Mapping[str, Any], _heading: str, body: list[str]) -> dict[str, Any]:
    """A record of the TypeScript cam: ``Summary:`` line, ``Details:`` list, id from the marker."""
    lines = [line for line in body if line.strip()]
    if not lines or not lines[0].startswith("Summary: "):
        raise ValueError("there is no 'Summary:' line")
    summary = lines[0].removeprefix("Summary: ")
    # It wrote line feeds raw: what follows such a summary or detail is rescued as a line of its own.
    details = [line.removeprefix("- ") for line in lines[1:] if line != "Details:"]
    stamp = meta.get("updatedAt", EPOCH)
    return {
        "id": meta.get("id"),
        "summary": summary,
        "details": [d for d in details if d.strip() and d != summary],
        "created_at": stamp,
        "updated_at": stamp,
        "sources": meta.get("sources", []),
        "reason": meta.get("reason", ""),
    }


def _visible_details(body: list[str]) -> tuple[str, ...]:
    lines = (line.removeprefix("- ") for line in body if not _VERSION.fullmatch(f"{line}\n"))
    return tuple(line for line in lines if line.strip())


def _heading_of(summary: str) -> str:
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", summary).strip() or "\N{REPLACEMENT CHARACTER}"


def _body_of(details: list[Any] | tuple[str, ...]) -> list[str]:
    return [f"- {_UNSAFE.sub(chr(0xFFFD), str(line))}" for line in details]


def _with_known(
    file: TopicFile, rest: dict[str, MemoryRecord | None], forms: Mapping[str, Form]
) -> TopicFile:
    """The file with those of ``rest`` that stand in it as given; they are taken out of ``rest``."""
    prelude = file.prelude
    sections: list[Section] = []
    for section in file.sections:
        record = section.record
        if record is None or record.id not in rest:
            sections.append(section)
            continue
        wanted = rest.pop(record.id)
        blanks = _blanks_that_stay(section, file.newline)
        if wanted is not None:
            form = forms.get(record.id)
            sections.append(section if wanted == record else _rewritten(section, wanted, file.newline, form))
        elif sections:
            sections[-1] = sections[-1]._replace(raw=sections[-1].raw + blanks)
        else:
            prelude += blanks
    return file._replace(prelude=prelude, sections=tuple(sections))


def _verified(sections: list[Section], file: TopicFile) -> TopicFile:
    """The file with these sections, which reads back as their records.

    The ids of sections that people wrote depend on those above; one that would get another takes our form.

    Raises:
        ValueError: it does not read back.
    """
    changed = _with_version(list(sections), file)
    again = _again(changed)
    if again.records != changed.records and len(again.sections) == len(sections):
        for index, (section, read) in enumerate(zip(tuple(sections), again.sections, strict=True)):
            if section.record is not None and section.record != read.record:
                sections[index] = _rewritten(section, section.record, file.newline)
        changed = _with_version(sections, file)
        again = _again(changed)
    if again.records != changed.records:
        raise ValueError(f"topic {file.topic} would not read back as written")
    return changed


def _again(file: TopicFile) -> TopicFile:
    """The file written and read."""
    data = render_topic_file(file)
    return parse_topic_file(data, path="", scope=file.scope, state=file.state, topic=file.topic)


def _says(form: Form, record: MemoryRecord | None, file: TopicFile) -> bool:
    """Whether the form's text, alone, reads as ``record``."""
    if record is None or not form.raw:
        return record is not None
    data = form.raw.encode("utf-8", "surrogateescape")
    alone = parse_topic_file(data, path="", scope=file.scope, state=file.state, topic=file.topic)
    return len(alone.sections) == 1 and alone.records == (record,)


def _place(sections: list[Section], behind: str) -> int:
    """Where a section goes that stood behind the record ``behind``: there, or at the end if that is gone."""
    if not behind:
        return 0
    names = [s.record.id if s.record else None for s in sections]
    return names.index(behind) + 1 if behind in names else len(sections)


def _new_section(record: MemoryRecord, form: Form | None, gap: str, newline: str) -> Section:
    if form is None or not form.raw:
        return Section(f"{gap}{newline}{_section_text(record, newline)}{newline}", record, ours=True)
    end = "" if form.raw.endswith("\n") else newline
    return Section(gap + form.raw + end, record, _is_ours(form.raw))


def _is_ours(raw: str) -> bool:
    """Whether cam's marker stands right under the heading; further down it is somebody's text."""
    return _OURS.match(raw, max(0, raw.find("## "))) is not None


def _with_version(sections: list[Section], file: TopicFile) -> TopicFile:
    """The file with these sections; the version line stands above the first that is cam's."""
    file = file._replace(sections=tuple(sections))
    for index, section in enumerate(sections):
        if section.ours:
            head = _head(section.raw)
            line = f"<!-- cam:version {file.digest} -->{file.newline}"
            sections[index] = section._replace(raw=head + line + section.raw[len(head) :])
            break
    return file._replace(sections=tuple(sections))


def _without_version(section: Section) -> Section:
    head = _head(section.raw)
    return section._replace(raw=_VERSION.sub("", head) + section.raw[len(head) :])


def _head(raw: str) -> str:
    """What stands before a section's heading: blank lines, and perhaps the version line."""
    return raw[: raw.index("## ")]


def _blanks_that_stay(section: Section, newline: str) -> str:
    """Blank lines before a section that is taken out, but for the one that came with it."""
    blanks = _head(section.raw)
    return blanks.removesuffix(newline) if blanks.endswith(newline) else blanks.removesuffix("\n")


def _rewritten(old: Section, record: MemoryRecord, newline: str, form: Form | None = None) -> Section:
    """The section of a changed record, at its place and with the blank lines around it as they were.

    A form that it had before is put in as it was, the blank lines at its end included.
    """
    if form is not None and form.raw:
        core = form.raw[len(_head(form.raw)) :]
        if old.raw.endswith("\n") and not core.endswith("\n"):
            core += newline
        return Section(_head(old.raw) + core, record, _is_ours(form.raw))
    core = old.raw.strip("\r\n")
    start = old.raw.index(core)
    before, after = old.raw[:start], old.raw[start + len(core) :]
    return Section(before + _section_text(record, newline) + after, record, ours=True)


def _section_text(record: MemoryRecord, newline: str) -> str:
    heading, body = _heading_of(record.summary), _body_of(record.details)
    meta: dict[str, Any] = {"id": record.id, "created": record.created_at}
    optional: dict[str, Any] = {
        "updated": record.updated_at if record.updated_at != record.created_at else None,
        "type": str(record.type) if record.type is not RecordType.MEMORY else None,
        "sources": [source_to_data(s) for s in record.sources],
        "reason": record.reason,
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
        "related": list(record.related),
        "pinned": record.pinned,
        "summary": record.summary if heading != record.summary else None,
        "details": list(record.details) if _visible_details(body) != record.details else None,
    }
    meta.update({name: value for name, value in optional.items() if value})
    return newline.join([f"## {heading}", f"<!-- cam:record {_marker_json(meta)} -->", *body])


def _marker_json(meta: Mapping[str, Any]) -> str:
    text = json.dumps(meta, ensure_ascii=False, separators=(", ", ": "))
    text = _UNSAFE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)
    return text.replace("--", "-\\u002d")  # no text can close the comment


def _person_digest(topic: str, summary: str) -> str:
    """From path and heading, so that the id holds until the heading is changed."""
    return _sha256(f"{topic}\n{summary}")


def _sha256(text: str) -> str:
    from hashlib import sha256  # noqa: PLC0415 - loads a library that most reads do without

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
