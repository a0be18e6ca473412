"""The payload for people and as data."""

from typing import Any

from cam.startup.result import StartupPayload


def startup_data(payload: StartupPayload) -> dict[str, Any]:
    """``memory --startup --json``: the text as sent, tokens per block, what was left out and why."""
    return {
        "text": payload.text,
        "lines": payload.lines,
        "tokens": payload.tokens,
        "blocks": [{"name": b.name, "lines": len(b.lines), "tokens": b.tokens} for b in payload.blocks],
        "refs": [str(e.ref) for e in payload.entries],
        "omissions": [{"what": o.what, "reason": o.reason, "stage": o.stage} for o in payload.omissions],
    }
