"""The page of ``cam report``: nothing of what is stored becomes markup, nothing is loaded from anywhere."""

import base64
import hashlib
import re
import shutil
from html.parser import HTMLParser
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.core.operations import Quote
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.receipts import InjectionReceipt
from cam.memory.log import Lesson, LogEntry
from cam.render.report import Report, moments, report_html, topic_counts
from cam.setup.doctor import Finding, Severity
from cam.startup.stats import Stats
from tests.unit.cli.run import run

AT = "2026-11-30T10:00:00.000Z"
HOSTILE = (
    *("<script>alert(1)</script>", "</style><script>x</script>", "<img src=x onerror=alert(1)>", "<!-- -->"),
    *('"><svg onload=x>', "javascript:alert(1)", "]]>", "&lt;b&gt;", "\u202e<b>", "</li></ul></details>"),
    *("<base href=//x.example>", "{x}", "%s"),
)
OWN = {"src", "href", "action", "formaction", "background", "poster", "data", "srcset", "xlink:href"}
STYLE, SCRIPT = (files("cam.render").joinpath(f"report.{kind}").read_text() for kind in ("css", "js"))


class Page(HTMLParser):
    """What a browser would see: elements, addresses, handlers, text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in OWN]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.said += data


def report(texts: list[str], charts: dict[str, str] | None = None) -> Report:
    records = [
        MemoryRecord(MemoryScope.PROJECT, "workflow", f"r{n}", text, (text,), created_at=AT, updated_at=AT)
        for n, text in enumerate(texts)
    ]
    gone = [record.archived("old", AT) for record in records[:1]]
    lessons = [Lesson("corrected", str(r.ref), r, (r,), (Quote(r.summary, "0190-x", 1),)) for r in records]
    entry = LogEntry(AT, "sync", "0190-x", "20261130T100000-00000000", "", "", tuple(lessons))
    stats = Stats(
        1, 1, ((texts[0], 1),), 0, 12, None, len(records), 0, (), (), (), tuple(str(r.ref) for r in records)
    )
    receipts = [
        InjectionReceipt("s", "hook", arrived=True, tokens=12, at=AT),
        InjectionReceipt("s", "hook", source=texts[0], arrived=False, reason=texts[0], at=AT),
    ]
    finding = Finding("store", Severity.WARNING, texts[0], texts[0])
    return Report(texts[0], AT, [*records, *gone], [entry], stats, receipts, 3, [finding], charts or {})


@given(st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30)), min_size=1, max_size=6))
def test_stored_text_is_text_and_nothing_else(texts: list[str]) -> None:
    texts = [text.replace("\n", " ") if text.strip() else "x" for text in texts]  # a summary is one line
    harmless, hostile = (
        Page(report_html(report(given), STYLE, SCRIPT)) for given in (["x"] * len(texts), texts)
    )
    assert hostile.tags == harmless.tags
    assert hostile.handlers == []
    assert all(address.startswith("#") for address in hostile.addresses)


def test_hostile_text_is_shown_as_it_was_written() -> None:
    said = Page(report_html(report(list(HOSTILE)), STYLE, SCRIPT)).said
    assert all(text.replace("\u202e", " ") in said for text in HOSTILE)


def test_the_policy_names_the_one_script_and_no_source() -> None:
    page = report_html(report(["x"]), STYLE, SCRIPT)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert len(scripts) == 1
    assert "default-src 'none'" in page
    assert f"script-src 'sha256-{digest}'" in page
    assert not re.search(r"https?:|//[a-z]|url\((?!#)|@import", page.replace(scripts[0], ""))


def test_what_was_taken_back_is_not_charted() -> None:
    entry = report(["x"]).entries[0]
    undone = LogEntry(AT, "user", "", "t", "", "t2", entry.lessons)
    assert moments([entry, undone]) == [(AT, "corrected")]
    archived = MemoryState.ARCHIVED
    assert topic_counts(r for r in report(["x", "y"]).records if r.state is not archived) == {"workflow": 2}


def test_charts_are_drawn_in_the_colours_of_the_page() -> None:
    if find_spec("matplotlib") is None:
        pytest.skip("needs the extra [report]")
    from cam.render.charts import time_chart, token_chart, topic_chart

    drawn = [
        topic_chart({"workflow": 3}),
        time_chart([(AT, "learned"), (AT, "forgotten")]),
        token_chart([0, 5]),
    ]
    for svg in drawn:
        assert svg.startswith("<svg ")
        assert "var(--ink)" in svg
        assert "<script" not in svg
        assert "<metadata" not in svg
    names = re.findall(r'\bid="([^"]+)"', "".join(drawn))
    assert len(names) == len(set(names))
    assert topic_chart({"workflow": 3}) == drawn[0]


def test_a_home_that_cannot_be_written_costs_no_report(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(own_home)
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    assert run(["remember", "Deploys run on Tuesdays", "--scope", "global"]) == 0
    shutil.rmtree(own_home / ".codex-auto-memory" / "cache")
    (own_home / ".codex-auto-memory" / "cache").write_text("a file in the way")
    page = tmp_path / "page.html"
    assert run(["report", "--output", str(page)]) == 0
    assert "<svg" in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert run(["report"]) != 0
    assert "--output FILE writes it elsewhere" in capsys.readouterr().err
