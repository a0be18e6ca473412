"""Findings for people and as data."""

from collections.abc import Sequence
from typing import Any

from cam.core.display import one_line
from cam.setup.doctor import Finding, Severity

SIGNS = {Severity.OK: "ok", Severity.WARNING: "warning", Severity.CRITICAL: "broken"}
"""How bad a finding is, in a word."""


def doctor_data(findings: Sequence[Finding]) -> dict[str, Any]:
    """``doctor --json``."""
    rows = [
        {"check": f.check, "severity": f.severity.name.lower(), "text": f.text, "advice": f.advice or None}
        for f in findings
    ]
    return {"status": max(findings, key=lambda f: f.severity).severity.name.lower(), "findings": rows}


def doctor_text(findings: Sequence[Finding]) -> str:
    """One finding a line, what to do below it."""
    lines = []
    for finding in findings:
        lines.append(f"{SIGNS[finding.severity]:<8} {finding.check:<10} {one_line(finding.text)}")
        if finding.advice:
            lines.append(f"{'':<19} → {one_line(finding.advice)}")
    return "\n".join(lines)
