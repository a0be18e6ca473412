"""Codex's summary, read like any input: what the cited lines do not bear out does not count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cam.continuity.codex_question import LISTS, USER, Line
from cam.continuity.said import exact_names
from cam.core import private, secrets
from cam.formats.continuity_file import MAX_GOAL, MAX_ITEM, MAX_ITEMS, tidy
from cam.formats.structured_answer import BadAnswerError, read_object
from cam.language.claims import terms

_SHAPE = {"goal", *LISTS}


@dataclass(frozen=True, slots=True)
class Answer:
    """What counts of an answer.

    Attributes:
        goal: "" where there is none.
        lists: items by name, each as it was said.
        rejected: how many texts did not count.
    """

    goal: str
    lists: Mapping[str, tuple[str, ...]]
    rejected: int


def read_answer(text: str, lines: Mapping[int, Line]) -> Answer:
    """What counts.

    Raises:
        BadAnswerError: it is not of the form that was asked for.
    """
    raw = read_object(text)
    if raw.keys() != _SHAPE or not all(isinstance(raw[name], list) for name in LISTS):
        raise BadAnswerError("Codex's answer is not of the form that was asked for")
    goal = _text(raw["goal"], lines, MAX_GOAL, said_by=USER)
    rejected = int(bool(_given(raw["goal"])) and not goal)
    lists: dict[str, tuple[str, ...]] = {}
    for name in LISTS:
        found = [_text(item, lines, MAX_ITEM) for item in raw[name][:MAX_ITEMS]]
        lists[name] = tuple(item for item in found if item)
        rejected += len(raw[name]) - len(lists[name])
    return Answer(goal, lists, rejected)


def _text(raw: Any, lines: Mapping[int, Line], most: int, said_by: str = "") -> str:
    """The text of an item, "" if it does not count."""
    text, numbers = _given(raw), _cited(raw)
    cited = [lines[n] for n in numbers if n in lines]
    if not text or len(text) > most or not cited or len(cited) != len(numbers):
        return ""
    if private.strip(text).count or secrets.find(text):
        return ""
    if said_by and not any(line.kind == said_by for line in cited):
        return ""
    return text if _is_borne_out(text, cited) else ""


def _is_borne_out(text: str, cited: Sequence[Line]) -> bool:
    """Whether every exact name stands in the lines, and at least half of the other words."""
    said = " ".join(line.text for line in cited)
    if not all(name in said for name in exact_names(text)):
        return False
    own = set(terms(text))
    return bool(own) and 2 * len(own & set(terms(said))) >= len(own)


def _given(raw: Any) -> str:
    text = raw.get("text") if isinstance(raw, dict) else None
    return tidy(text, 10 * MAX_GOAL) if isinstance(text, str) else ""


def _cited(raw: Any) -> list[int]:
    found = raw.get("lines") if isinstance(raw, dict) else None
    return [n for n in found if isinstance(n, int)] if isinstance(found, list) else []
