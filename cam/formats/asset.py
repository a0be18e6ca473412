"""Files that cam puts beside a host's own: each says which version it is and whether somebody changed it.

One line of an asset holds the stamp ``cam:asset NAME VERSION sha256:HEX`` in a comment; HEX stands for all
else. A file that does not match its own stamp was edited by hand and is left alone.
The predecessor's stamps (``cam:asset-version …``, ``cam:agents-guidance-version …``) have no hash.
"""

import re
from enum import StrEnum
from hashlib import sha256

PLACE = "{stamp}"
"""Where a template has its stamp."""

_STAMP = re.compile(r"cam:asset ([a-z-]+) (\d{1,6}) sha256:([0-9a-f]{16})")
_PREDECESSOR = re.compile(r"cam:(?:asset|agents-guidance)-version [\w.-]+")


class AssetState(StrEnum):
    """How an installed asset stands to the one that this cam has."""

    MISSING = "missing"
    CURRENT = "current"
    OLDER = "older"
    NEWER = "newer"
    EDITED = "edited"
    FOREIGN = "foreign"


def stamped(template: str, name: str, version: int) -> str:
    """The asset: its template with the stamp in its place.

    Raises:
        ValueError: the template has no place for it.
    """
    if template.count(PLACE) != 1:
        raise ValueError(f"the template of {name} must hold {PLACE} once")
    return template.replace(PLACE, f"cam:asset {name} {version} sha256:{_digest(template, PLACE)}")


def asset_state(found: str | None, wanted: str) -> AssetState:
    """How a file stands to the asset that is wanted in its place.

    Args:
        found: the file's text, None where there is none.
        wanted: the asset.
    """
    if found is None:
        return AssetState.MISSING
    found = found.replace("\r\n", "\n")
    if found == wanted:
        return AssetState.CURRENT
    stamp, ours = _STAMP.search(found), _STAMP.search(wanted)
    if stamp is None or ours is None:
        return AssetState.OLDER if _PREDECESSOR.search(found) else AssetState.FOREIGN
    if stamp[3] != _digest(found, stamp[0]):
        return AssetState.EDITED
    return AssetState.NEWER if int(stamp[2]) > int(ours[2]) else AssetState.OLDER


def _digest(text: str, stamp: str) -> str:
    """Of all that is not the stamp."""
    return sha256(text.replace(stamp, "", 1).encode("utf-8", "surrogateescape")).hexdigest()[:16]
