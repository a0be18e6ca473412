"""What a person types, as it may be stored: private spans cut, secrets masked. Pure."""

from collections.abc import Sequence

from cam.core.display import without_escapes
from cam.core.errors import InvalidInputError, WriteRefusedError
from cam.core.private import strip
from cam.core.records import split_text
from cam.core.secrets import MASK, mask

MAX_TEXT = 65_536
"""Characters of one fact; more belongs into a file that the fact names."""


def screened(text: str, details: Sequence[str]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Summary and details as they may be stored, and what a person should know of it.

    Raises:
        InvalidInputError: no text, or too much.
        WriteRefusedError: nothing is left.
    """
    from cam.language.candidates import MASKED, only_announces_a_secret  # noqa: PLC0415 - words of six languages
    from cam.language.lexicon import spoken_in  # noqa: PLC0415

    if len(text) + sum(map(len, details)) > MAX_TEXT:
        raise InvalidInputError(
            f"that is more than {MAX_TEXT} characters; keep it in a file and remember where"
        )
    whole = without_escapes("\n".join((text, *details)))
    stripped = strip(whole)
    masked = mask(stripped.text)
    warnings = []
    if stripped.count:
        warnings.append(f"{times(stripped.count, 'private span')} cut out")
    if masked.count:
        warnings.append(f"{times(masked.count, 'secret')} masked; cam keeps none")
    if warnings and not _has_words(masked.text.replace(MASK, " ")):
        raise WriteRefusedError("there is nothing to remember but a secret, and cam keeps none")
    if MASKED.search(masked.text) and only_announces_a_secret(masked.text, spoken_in(masked.text), least=3):
        raise WriteRefusedError("that says nothing but a secret, and cam keeps none")
    summary, lines = split_text(masked.text)
    return summary, lines, tuple(warnings)


def _has_words(text: str) -> bool:
    from cam.core.ranking import query_terms  # noqa: PLC0415 - stop words and stems

    return bool(query_terms(text))


def times(n: int, noun: str) -> str:
    """``n`` of something, and the verb that goes with it."""
    return f"1 {noun} was" if n == 1 else f"{n} {noun}s were"
