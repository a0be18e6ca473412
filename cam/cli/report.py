"""cam report."""

import os
from importlib.util import find_spec
from typing import Annotated

import typer

from cam.cli.answer import Answer, respond, writes_unless
from cam.cli.app import enter_context
from cam.cli.doctor import findings_of
from cam.cli.options import Cwd, Json
from cam.context import Context
from cam.core.errors import CamError, InvalidInputError, StoreUnavailableError
from cam.memory.flow import tell
from cam.memory.log import log
from cam.render.report import Report, moments, report_html, topic_counts
from cam.startup.flow import memory_stats
from cam.store.processed import read_marks
from cam.store.receipts import read_receipts
from cam.system.clock import now_stamp
from cam.system.files import write_atomic

_EXTRA = "charts need an extra: pip install 'codex-auto-memory[report]'"


def report_command(
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """What is remembered, learned, told and unused, as one HTML page that loads nothing from elsewhere."""
    respond("report", as_json, writes_unless(output is None), lambda: _report(output, open_it, cwd))


def _report(output: str | None, open_it: bool, cwd: str | None) -> Answer:
    context = enter_context(cwd)
    path = _path(context, output)
    report, notes = _gather(context)
    page = report_html(report, _asset("report.css"), _asset("report.js")).encode("utf-8", "backslashreplace")
    try:
        write_atomic(path, page)
    except CamError as error:
        if output is None:
            raise StoreUnavailableError(f"{error}; --output FILE writes it elsewhere") from None
        raise
    if open_it and not _opened(path):
        notes = (*notes, f"cam: no browser could be started; open {path} yourself")
    data = {"path": path, "bytes": len(page), "records": len(report.records), "charts": sorted(report.charts)}
    return Answer(data, path, notes)


def _path(context: Context, output: str | None) -> str:
    if output is None:
        name = context.project.id if context.project is not None else "global"
        return context.layout.cache_file(f"report-{name}.html")
    path = os.path.join(context.environment.cwd, context.environment.expand(output))
    if not output or os.path.isdir(path):
        raise InvalidInputError(f"--output: {output!r} is no file")
    if not os.path.isdir(os.path.dirname(path)):
        raise InvalidInputError(f"--output: there is no folder {os.path.dirname(path)}")
    return path


def _gather(context: Context) -> tuple[Report, tuple[str, ...]]:
    events, snapshot = tell(context.store)
    entries = log(events)
    layout = context.layout
    receipts = [r for r in read_receipts(layout) if r.project == (layout.project or "")]
    sessions = len(read_marks(layout)) if context.project is not None else 0
    name = os.path.basename(context.project.root) if context.project is not None else ""
    report = Report(
        name, now_stamp(), snapshot.records, entries, memory_stats(layout), receipts, sessions,
        findings_of(context, asks=False), {},
    )  # fmt: skip
    if find_spec("matplotlib") is None:
        return report, (f"cam: {_EXTRA}",)
    return _with_charts(report, layout.cache_file("matplotlib")), ()


def _with_charts(report: Report, folder: str) -> Report:
    from dataclasses import replace

    if "MPLCONFIGDIR" not in os.environ:  # else it writes its font list into the person's home
        os.environ["MPLCONFIGDIR"] = _folder_to_write(folder)
    from cam.render.charts import time_chart, token_chart, topic_chart

    charts = {}
    if topics := topic_counts(report.active):
        charts["topics"] = topic_chart(topics)
    if when := moments(report.entries):
        charts["time"] = time_chart(when)
    if tokens := [r.tokens if r.arrived else 0 for r in report.receipts if r.arrived is not None][-60:]:
        charts["tokens"] = token_chart(tokens)
    return replace(report, charts=charts)


def _folder_to_write(folder: str) -> str:
    """``folder``, or where it cannot be written one that lasts as long as this process."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    from atexit import register
    from shutil import rmtree
    from tempfile import mkdtemp

    passing = mkdtemp(prefix="cam-report-")
    register(rmtree, passing, ignore_errors=True)
    return passing


def _asset(name: str) -> str:
    from importlib.resources import files

    return files("cam.render").joinpath(name).read_text(encoding="utf-8")


def _opened(path: str) -> bool:
    import webbrowser
    from urllib.request import pathname2url

    try:
        return webbrowser.open(f"file://{pathname2url(path)}")
    except webbrowser.Error:
        return False
