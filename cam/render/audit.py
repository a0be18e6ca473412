"""What an audit covered and found, for people and as data."""

from collections.abc import Sequence
from typing import Any

from cam.core.display import counted, one_line
from cam.setup.audit import Area

_NAMED = 8
"""Names that a line of text holds; ``--json`` names all."""
_SHOWN = 50
"""Findings that are shown for one area."""


def audit_data(areas: Sequence[Area]) -> dict[str, Any]:
    """``audit --json``: every file by name, every finding masked."""
    return {"clean": not any(a.count for a in areas), "areas": [_area_data(a) for a in areas]}


def audit_text(areas: Sequence[Area]) -> str:
    """What was covered, then what was found."""
    lines: list[str] = []
    for area in areas:
        lines += _coverage(area)
    count = sum(a.count for a in areas)
    if not count:
        return "\n".join([*lines, "", "Nothing found."])
    for area in areas:
        lines += _findings(area)
    return "\n".join([*lines, "", counted(count, "finding")])


def _area_data(area: Area) -> dict[str, Any]:
    return {
        "area": area.name,
        "place": area.place,
        "bytes": area.size,
        "files": [{"name": one_line(name), "bytes": size} for name, size in area.covered],
        "objects": area.objects,
        "binary": area.binary,
        "links": area.links,
        "left_out": [{"name": name, "reason": why} for name, why in area.left_out],
        "unread": [{"name": name, "reason": why} for name, why in area.unread],
        "expected_paths": area.expected,
        "finding_count": area.count,
        "findings": [
            {"kind": f.kind, "place": f.place, "line": f.line or None, "excerpt": f.excerpt}
            for f in area.findings
        ],
    }


def _coverage(area: Area) -> list[str]:
    parts = [counted(len(area.covered), "file")]
    parts += [counted(n, kind) for kind, n in sorted(area.objects.items())]
    parts.append(counted(area.size, "byte"))
    lines = [f"{area.name:<11} {one_line(area.place)}: {', '.join(parts)}"]
    if area.binary:
        lines.append(f"{'':<11} no text, so only printable words were read: {_names(area.binary)}")
    if area.links:
        lines.append(f"{'':<11} links, not followed: {_names(area.links)}")
    if area.expected:
        count = sum(area.expected.values())
        lines.append(
            f"{'':<11} personal paths in logs, caches and notes on this machine: {count:,}, no finding"
        )
    lines += [
        f"{'':<11} not read, {why}: {_names([n for n, w in area.left_out if w == why])}"
        for why in dict.fromkeys(why for _, why in area.left_out)
    ]
    lines += [f"{'':<11} ! could not be read: {one_line(why)}" for _, why in area.unread]
    return lines


def _findings(area: Area) -> list[str]:
    lines = []
    for finding in area.findings[:_SHOWN]:
        place = one_line(finding.place) + (f":{finding.line}" if finding.line else "")
        lines += ["", f"! {finding.kind}  {area.name}  {place}", f"    {one_line(finding.excerpt)}"]
    more = area.count - min(len(area.findings), _SHOWN)
    if more:
        lines += ["", f"… and {more:,} more in the {area.name} (--json)"]
    return lines


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(n) for n in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED:,} more (--json)"
