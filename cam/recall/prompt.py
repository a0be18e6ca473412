"""What of memory fits a prompt: a long, untidy text rather than a query."""

from functools import cache

from cam.core.language import STOP_WORDS, TASK_WORDS
from cam.core.ranking import Hit, Postings, best_in, holders, query_terms, token_of
from cam.core.records import MemoryRecord, MemoryState
from cam.recall.indexed import RecordsOnDisk, ask_disk
from cam.recall.request import Filters
from cam.store.layout import StoreLayout

MOST_WORDS = 64
MOST_CHARACTERS = 2000
"""Of a prompt that are looked at: its beginning and its end, where a person says what is wanted."""

_RARE = 0.02
"""Share of the records that hold a word, up to which it tells what a sentence is about."""

_FEW = 3
"""As many records may hold a telling word however few there are."""

_NEARLY = 0.55
"""Share of the best score below which a record is about something else that the prompt names in passing."""


def fitting_records(
    layout: StoreLayout,
    prompt: str,
    top: int,
    *,
    now: str = "",
    surely: bool = False,
    use_index: bool = True,
) -> list[tuple[MemoryRecord, bool]]:
    """The active records that fit best, best first; none for a prompt without words.

    Each with whether it is known to hold neither a private span nor a secret.

    Args:
        layout: of the project's store.
        prompt: as the user typed it.
        top: so many at most.
        now: ISO-8601 UTC; records not valid then are left out.
        surely: only records about the same thing: silence rather than something that shares a common word.
        use_index: whether the sidecar is used and kept (``recall_index``).
    """
    query = _asked(prompt)
    if not query:
        return []

    def ask(source: RecordsOnDisk) -> list[tuple[MemoryRecord, bool]]:
        chosen = source.select(MemoryState.ACTIVE, Filters(), now)
        # Twice as many: the person's own text is told in any case, and is no record.
        hits, _ = best_in(query, chosen.postings, top=2 * top)
        if surely:
            telling = _telling(query, chosen.postings)
            hits = [hit for hit in hits if _is_about(hit, telling) and hit.score >= _NEARLY * hits[0].score]
        found = [chosen.found(hit.number) for hit in hits]
        return [each for each in found if each[0].topic != "memory"][:top]

    return ask_disk(layout, ask, use_index=use_index)


def _asked(prompt: str) -> str:
    """The prompt, or its beginning and end where it is long."""
    half = MOST_CHARACTERS // 2
    text = prompt if len(prompt) <= 2 * half else f"{prompt[:half]} {prompt[-half:]}"
    words = text.split()
    if len(words) > MOST_WORDS:
        words = [*words[: MOST_WORDS // 2], *words[-MOST_WORDS // 2 :]]
    return " ".join(words)


def _telling(query: str, postings: Postings) -> dict[str, bool | None]:
    """The query's words, and whether each tells what the sentence is about; None for words of any task."""
    most = max(_FEW, _RARE * sum(segment.count for segment in postings.segments))
    tasks = _tasks()
    return {
        term.word: None if term.tokens[0][0] in tasks else 0 < holders(term, postings) <= most
        for term in query_terms(query)
    }


@cache
def _tasks() -> frozenset[str]:
    """Tokens of words of any task; a prompt of function words alone has no others."""
    return frozenset(map(token_of, (*TASK_WORDS, *STOP_WORDS["english"])))


def _is_about(hit: Hit, telling: dict[str, bool | None]) -> bool:
    """Two words in common of which one is telling; or that one alone where it is a name as code has them.

    Words of any task only count as company: three in common with a telling one are enough, two are not. What
    stands only in a record's topic or id does not make it be about a thing.
    """
    if not {"summary", "details"} & set(hit.fields):
        return False
    words = [word for word in hit.terms if telling.get(word) is not None]
    rare = [word for word in words if telling[word]]
    is_named = any("_" in word for word in rare)
    return bool(rare) and (len(words) >= 2 or len(hit.terms) >= 3 or is_named)
