"""Whether two sentences say the same. Pure; light, as a hook asks."""

import re
from collections.abc import Iterable

from cam.startup.frame import record_text
from cam.startup.handoff import Ledger

Meaning = tuple[str, ...]
"""The words that carry a sentence, turned so that a clause in front or at the end makes no difference."""


def meaning_of(summary: str) -> Meaning:
    """The same for two sentences that differ in case, number, politeness or which clause comes first.

    The words' order stays otherwise, as it tells ``npm, not pnpm`` from ``pnpm, not npm``.
    """
    text = summary.casefold().replace("’", "'").replace("n't", " not").replace("cannot", "can not")
    telling = (word for word in _WORD.findall(text) if word not in _EMPTY)
    words = tuple(_SAME.get(word) or _stem(word) for word in telling) or (text,)
    if len(words) > _LONG:
        return words
    return min(words[place:] + words[:place] for place in range(len(words)))


def lines_said(entries: Ledger, sentences: Iterable[str]) -> frozenset[str]:
    """The lines of records that say what one of ``sentences`` says."""
    meanings = frozenset(map(meaning_of, sentences))
    if not meanings:
        return frozenset()
    return frozenset(line for _, line in entries.values() if meaning_of(record_text(line)) in meanings)


_LONG = 40
_WORD = re.compile(r"[^\W_]+|[^\w\s.,;:!?'\"`()\[\]。，；：！？、（）-]")
_SAME = {"never": "not", "no": "not", "ca": "can", "dont": "not"}
_EMPTY = frozenset(
    "a an the is are be am was were do does of in on at for and please always must should shall we you i it "
    "this that these those our your us sure remember note keep use using".split()
)


def _stem(word: str) -> str:
    """The word without a plural's ending."""
    if word.isascii() and len(word) > 3 and word[-1] == "s" and word[-2] not in "su":
        return word[:-1]
    return word
