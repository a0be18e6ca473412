"""Where a fact belongs: its scope and its topic, from its own words."""

from cam.core.records import MemoryScope
from cam.language.lexicon import Language, spoken_in
from cam.language.statements import shadow


def scope_of(text: str, languages: tuple[Language, ...] | None = None, *, around: str = "") -> MemoryScope:
    """``project`` unless the words say every repository, or this worktree, branch or machine.

    Args:
        text: the fact.
        languages: whose patterns apply; found out where not given.
        around: the sentence it stood in, whose scope words reach over its clauses.
    """
    langs = languages or spoken_in(text)
    for part in (text, around):
        if not part:
            continue
        low = part.lower()
        for lang in langs:
            for name, pattern in lang.scopes:
                if pattern.search(low):
                    return MemoryScope(name)
    return MemoryScope.PROJECT


def topic_of(text: str, languages: tuple[Language, ...] | None = None, *, default: str = "workflow") -> str:
    """The topic whose words ``text`` uses; the first of a language's list wins."""
    langs = languages or spoken_in(text)
    shade = shadow(text)
    low = text.lower()
    for lang in langs:
        for name, pattern in lang.topics:
            if pattern.search(shade) or pattern.search(low):
                return name
    return default
