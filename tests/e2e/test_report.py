"""The page of ``cam report`` in a real browser; skipped where Chromium is not installed."""

import os
import shutil
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from cam.render.report import report_html
from tests.unit.render.test_report import SCRIPT, STYLE, report

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium"),
]


def browse(profile: Path, *arguments: str) -> str:
    assert BROWSER is not None
    line = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--mute-audio",
        "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}",
        *arguments,
    ]  # fmt: skip
    return subprocess.run(line, capture_output=True, text=True, check=True, timeout=90, env=os.environ).stdout


def test_hostile_records_do_nothing_and_ask_for_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    class Trap(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Trap) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{server.server_port}"
        marks = "document.title = 'run'"
        texts = [
            f"<script>{marks};fetch('{at}/fetch')</script>", f"<img src={at}/image onerror=\"{marks}\">",
            f"<link rel=stylesheet href={at}/style>", f"<iframe src={at}/frame></iframe>",
            f"<meta http-equiv=refresh content='0;url={at}/refresh'>", f"<a ping={at}/ping>x</a>",
        ]  # fmt: skip
        page = tmp_path / "report.html"
        page.write_text(report_html(report(texts), STYLE, SCRIPT), encoding="utf-8")
        dom = browse(tmp_path / "profile", "--dump-dom", "--virtual-time-budget=2000", page.as_uri())
        server.shutdown()
    assert asked == []
    assert "<title>What cam remembers: &lt;script&gt;" in dom
    assert dom.count("<script>") == 1
    assert '<p id="search">' in dom, "the page's own script runs"


def test_ten_thousand_records_open_at_once(tmp_path: Path) -> None:
    """Measured above what the browser takes for an empty page."""
    page, empty = tmp_path / "report.html", tmp_path / "empty.html"
    texts = [f"Fact {n}: the service {n % 97} 部署 listens on port {3000 + n % 5000}" for n in range(10_000)]
    page.write_text(report_html(report(texts), STYLE, SCRIPT), encoding="utf-8")
    empty.write_text("<!DOCTYPE html><title>empty</title>")

    def opened(path: Path) -> float:
        begun = time.perf_counter()
        browse(tmp_path / "profile", f"--screenshot={tmp_path / 'seen.png'}", path.as_uri())
        return time.perf_counter() - begun

    opened(empty)
    floor = min(opened(empty) for _ in range(2))
    best = min(opened(page) for _ in range(2))
    print(f"\n10,000 records: {best - floor:.2f} s above an empty page", file=sys.stderr)
    assert best - floor < 2
