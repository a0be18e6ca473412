"""What people and assistants say about work in hand, as data (``words.yaml``), compiled when first used."""

import functools
import os
import re
from collections.abc import Iterator
from typing import Any

import yaml

_FILE = os.path.join(os.path.dirname(__file__), "words.yaml")


@functools.cache
def vocabulary(group: str) -> frozenset[str]:
    """Words of a group, of all languages."""
    return frozenset(word for words in _data()[group].values() for word in words.split())


def find(group: str, shadow: str) -> re.Match[str] | None:
    """First hit of a group's patterns in ``shadow`` (lower case, code blanked), in any language."""
    for pattern in _patterns(group):
        hit = pattern.search(shadow)
        if hit is not None:
            return hit
    return None


@functools.cache
def _patterns(group: str) -> tuple[re.Pattern[str], ...]:
    found: Any = _data()
    for name in group.split("."):
        found = found[name]
    verbs = "(?:" + "|".join(sorted(vocabulary("verbs"), key=lambda verb: (-len(verb), verb))) + ")"
    return tuple(re.compile(source.replace("{{verbs}}", verbs)) for source in _sources(found))


def _sources(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    else:
        for item in found if isinstance(found, list) else found.values():
            yield from _sources(item)


@functools.cache
def _data() -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with open(_FILE, encoding="utf-8") as file:
        return yaml.load(file, Loader=loader)  # noqa: S506 - either one is a safe loader
