"""Of which records sessions made use: a small sidecar that the start reads; ``cam.wrapper.use`` writes it."""

import json
from collections.abc import Sequence

from cam.core.errors import CamError
from cam.startup.selection import Hints
from cam.store.layout import StoreLayout
from cam.system.files import read_bytes


def read_hints(layout: StoreLayout, relevant: Sequence[str]) -> Hints:
    """What is known; nothing but ``relevant`` where the sidecar is not there, and recency decides alone."""
    try:
        known = json.loads(read_bytes(layout.cache_file("start", use_name(layout))) or b"{}")
        return Hints(relevant, frozenset(known.get("repeated", ())), known.get("used_at", {}))
    except (CamError, ValueError, TypeError, AttributeError):
        return Hints(relevant)


def use_name(layout: StoreLayout) -> str:
    """The sidecar's name."""
    return f"{layout.project or 'global'}.use.json"
