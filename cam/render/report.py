"""``cam report``: one HTML page that needs nothing but itself.

No address, no request, no script but the one below, whose hash the page's own policy names; every stored text
is escaped and freed of what hides or turns text around. Light and dark, keyboard and screen readers by plain
HTML: headings, lists, tables with captions, ``details``.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from cam.core.display import counted, one_line
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.receipts import InjectionReceipt
from cam.memory.log import Lesson, LogEntry
from cam.render.doctor import SIGNS
from cam.setup.doctor import Finding
from cam.startup.stats import Stats

_SCOPES = {
    MemoryScope.PROJECT_LOCAL: "This worktree",
    MemoryScope.PROJECT: "This project",
    MemoryScope.GLOBAL: "Every repository",
}
_GROUPS = {
    "learned": "learned", "restored": "learned", "corrected": "corrected", "changed": "corrected",
    "forgotten": "forgotten", "deleted": "forgotten",
}  # fmt: skip
_NOWHERE = "base-uri 'none'; form-action 'none'"
_TOPICS = 12
"""Topics that the chart shows."""

_OPEN = 200
"""Records up to which every topic is unfolded."""
_WHO = {"user": "you", "file": "by hand"}
_ENTRIES = 200
_LESSONS = 50
_ROWS = 100


@dataclass(frozen=True, slots=True)
class Report:
    """What the page is made of.

    Attributes:
        project: its name, "" where there is none.
        at: when it was made, ISO-8601 UTC.
        records: active and archived ones.
        entries: what was learned, corrected and forgotten, newest first.
        stats: tokens, receipts, use.
        receipts: of this project, oldest first.
        sessions: how many were read.
        findings: of doctor.
        charts: SVG elements by name: ``topics``, ``time``, ``tokens``.
    """

    project: str
    at: str
    records: Sequence[MemoryRecord]
    entries: Sequence[LogEntry]
    stats: Stats
    receipts: Sequence[InjectionReceipt]
    sessions: int
    findings: Sequence[Finding]
    charts: Mapping[str, str] = field(default_factory=dict)

    @property
    def active(self) -> list[MemoryRecord]:
        """Records that hold."""
        return [record for record in self.records if record.state is MemoryState.ACTIVE]


def moments(entries: Iterable[LogEntry]) -> list[tuple[str, str]]:
    """When something was learned, corrected and forgotten, for the chart; what was taken back is left out."""
    return [
        (entry.at, _GROUPS[lesson.what])
        for entry in entries
        for lesson in entry.lessons
        if lesson.what in _GROUPS and not (entry.undone_by or entry.undoes)
    ]


def topic_counts(records: Iterable[MemoryRecord]) -> dict[str, int]:
    """How many records each of the twelve fullest topics has."""
    return dict(Counter(record.topic for record in records).most_common(_TOPICS))


def report_html(report: Report, style: str, script: str) -> str:
    """The whole page.

    Args:
        report: what it says.
        style: ``report.css``.
        script: ``report.js``, the only one that the page's policy lets run.
    """
    title = f"What cam remembers: {_text(report.project)}" if report.project else "What cam remembers"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; {_NOWHERE}"
    parts = {
        "records": ("Remembered", _records(report)),
        "timeline": ("Learned, corrected, forgotten", _timeline(report)),
        "told": ("What Codex was told", _told(report)),
        "unused": ("Never used", _unused(report)),
        "health": ("Health", _health(report.findings)),
    }
    links = "".join(f'<a href="#{name}">{head}</a>' for name, (head, _) in parts.items())
    sections = "\n".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{head}</h2>\n{body}</section>'
        for name, (head, body) in parts.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title><style>{style}</style></head>
<body><a class="skip" href="#main">To the content</a>
<header><h1>{title}</h1>
<p class="soft">Made {_day(report.at)} from local files. Nothing here is loaded from elsewhere.</p>
<nav aria-label="Sections">{links}</nav></header>
<main id="main">{_numbers(report)}
{sections}</main>
<script>{script}</script></body></html>
"""


def _numbers(report: Report) -> str:
    rows = (
        (len(report.active), "record that holds", "records that hold"),
        (len(report.records) - len(report.active), "archived", "archived"),
        (report.sessions, "session read", "sessions read"),
        (report.stats.arrived, "start that was told", "starts that were told"),
        (report.stats.tokens, "token told", "tokens told"),
    )
    tiles = (f"<div><dt>{one if n == 1 else many}</dt><dd>{n:,}</dd></div>" for n, one, many in rows)
    return f"<dl>{''.join(tiles)}</dl>"


def _records(report: Report) -> str:
    if not report.records:
        return '<p>Nothing yet. <code>cam remember "…"</code> keeps a fact.</p>'
    search = (
        '<p id="search" hidden><label for="filter">Find in records</label><br>'
        '<input id="filter" type="search" autocomplete="off"> '
        '<span id="found" class="soft" role="status"></span></p>'
    )
    is_open = " open" if len(report.records) <= _OPEN else ""
    topics = len({record.topic for record in report.active})
    first = f", the {_TOPICS} largest of {topics:,}" if topics > _TOPICS else ""
    parts = [_figure(report, "topics", f"Records that hold, by topic{first}"), search]
    for scope, whose in _SCOPES.items():
        own: dict[str, list[MemoryRecord]] = {}
        for record in report.records:
            if record.scope is scope:
                own.setdefault(record.topic, []).append(record)
        parts += [f"<h3>{whose}</h3>"] if own else []
        for topic, items in sorted(own.items()):
            rows = "".join(_record(record) for record in sorted(items, key=lambda r: (r.state, r.summary)))
            parts.append(
                f"<details{is_open}><summary>{_text(topic)} ({len(items)})</summary><ul>{rows}</ul></details>"
            )
    return "\n".join(parts)


def _record(record: MemoryRecord) -> str:
    gone = ' class="gone"' if record.state is MemoryState.ARCHIVED else ""
    details = "".join(f"<br>{_text(line)}" for line in record.details)
    more = f'<small dir="auto">{details.removeprefix("<br>")}</small><br>' if details else ""
    state = "archived, " if gone else ""
    return (
        f'<li{gone}><p dir="auto">{_text(record.summary)}</p>{more}'
        f"<code>{_text(record.ref)}</code> <small>{state}{_day(record.updated_at)}</small></li>\n"
    )


def _timeline(report: Report) -> str:
    if not report.entries:
        return "<p>Nothing yet.</p>"
    parts = [_figure(report, "time", "By week")]
    for entry in report.entries[:_ENTRIES]:
        who = f"session {entry.session}" if entry.session else _WHO.get(entry.actor, entry.actor)
        way = f" · <code>cam undo {_text(entry.transaction)}</code>" if entry.can_undo else ""
        way = " · taken back" if entry.undone_by else way
        rows = "".join(_lesson(lesson) for lesson in entry.lessons[:_LESSONS])
        if len(entry.lessons) > _LESSONS:
            rows += f'<li class="soft">and {len(entry.lessons) - _LESSONS:,} more</li>'
        parts.append(
            f'<div class="entry"><small>{_day(entry.at)} · {_text(who)}{way}</small><ul>{rows}</ul></div>'
        )
    if len(report.entries) > _ENTRIES:
        rest = len(report.entries) - _ENTRIES
        parts.append(f'<p class="soft">{rest:,} earlier: <code>cam log</code></p>')
    return "\n".join(parts)


def _lesson(lesson: Lesson) -> str:
    said = lesson.record.summary if lesson.record else lesson.ref
    was = "".join(f' <small>was: <span dir="auto">{_text(r.summary)}</span></small>' for r in lesson.was)
    quotes = "".join(
        f'<blockquote dir="auto">“{_text(quote.text)}”</blockquote>'
        for quote in lesson.quotes
        if quote.session
    )
    sign = _GROUPS.get(lesson.what)
    head = f'<p class="{sign}" dir="auto">' if sign else f'<p dir="auto">{lesson.what}: '
    return f"<li>{head}{_text(said)}{was}</p>{quotes}</li>"


def _told(report: Report) -> str:
    known = [receipt for receipt in report.receipts if receipt.arrived is not None]
    if not known:
        return "<p>No session was told anything here yet.</p>"
    rows = "".join(
        f'<tr><td>{_day(r.at)}</td><td>{_text(r.source)}</td><td class="{"ok" if r.arrived else "broken"}">'
        f"{'arrived' if r.arrived else _text(r.reason or 'did not arrive')}</td>"
        f'<td class="number">{len(r.refs)}</td><td class="number">{r.tokens:,}</td></tr>'
        for r in list(reversed(known))[:_ROWS]
    )
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("when", "start", "memory", "records", "tokens")
    )
    missed = sum(not r.arrived for r in known)
    caption = f"{counted(len(known), 'start')}, {missed} of them without memory"
    return (
        f"{_figure(report, 'tokens', 'Tokens per start')}<table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _unused(report: Report) -> str:
    never = set(report.stats.never_told)
    rows = [
        (f"told {counted(u.use.shown, 'time')}, no sign of use", u.text, u.ref) for u in report.stats.unused
    ]
    rows += [("never told", r.summary, str(r.ref)) for r in report.active if str(r.ref) in never]
    if not rows:
        return "<p>Every record was told and used.</p>"
    shown = "".join(
        f'<li><p dir="auto">{_text(text)}</p><code>{_text(ref)}</code> <small>{why}</small></li>'
        for why, text, ref in rows[:_ROWS]
    )
    more = (
        f"<p class=soft>and {len(rows) - _ROWS:,} more: <code>cam stats --json</code></p>"
        if len(rows) > _ROWS
        else ""
    )
    return f"<details><summary>{counted(len(rows), 'record')}</summary><ul>{shown}</ul></details>{more}"


def _health(findings: Sequence[Finding]) -> str:
    rows = "".join(_finding(SIGNS[finding.severity], finding) for finding in findings)
    return f"<table><caption>As <code>cam doctor</code> finds it</caption><tbody>{rows}</tbody></table>"


def _finding(word: str, finding: Finding) -> str:
    advice = f"<br><small>{_text(finding.advice)}</small>" if finding.advice else ""
    return (
        f'<tr><td class="{word}">{word}</td><th scope="row">{_text(finding.check)}</th>'
        f"<td>{_text(finding.text)}{advice}</td></tr>"
    )


def _figure(report: Report, name: str, caption: str) -> str:
    svg = report.charts.get(name, "")
    return f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" if svg else ""


def _text(text: object) -> str:
    return escape(one_line(str(text)))


def _day(stamp: str) -> str:
    return escape(f"{stamp[:10]} {stamp[11:16]} UTC" if len(stamp) > 16 else stamp)
