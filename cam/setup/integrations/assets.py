"""The files that cam puts beside a host's own, made from the templates in ``cam/integrations``."""

import os
import shlex
from collections.abc import Sequence
from functools import cache

import cam
from cam.formats.asset import stamped

VERSIONS = {
    "skill": 2,
    "guidance": 2,
    "memory-recall.sh": 2,
    "memory-search.sh": 2,
    "memory-timeline.sh": 2,
    "memory-details.sh": 2,
    "recall-bridge.md": 2,
}
"""Raise an asset's number whenever its template changes; the predecessor's count as 1."""

BRIDGE_FILES = tuple(name for name in VERSIONS if "." in name)

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(cam.__file__)), "integrations")
_FILES = {"skill": "skill/SKILL.md", "guidance": "agents-guidance.md"}


def asset_text(name: str, words: Sequence[str]) -> str:
    """An asset, stamped.

    Args:
        name: a key of ``VERSIONS``.
        words: how cam is called.
    """
    text = _template(_FILES.get(name, f"bridge/{name}")).replace("{cam}", shlex.join(words))
    return stamped(text, name.replace(".", "-"), VERSIONS[name])


@cache
def _template(path: str) -> str:
    with open(os.path.join(_FOLDER, path), encoding="utf-8") as file:
        return file.read()
