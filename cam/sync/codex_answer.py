"""Codex's answer, read like any input: what is not borne out by the person's own words is rejected.

An operation counts if it quotes numbered statements letter by letter, says what they say in their words,
keeps to the bounds and holds no secret. What it may overturn is decided by the words, not by the model: a
clause that reads as a hedge, a question or a quotation makes a passing mention at most, and ``global`` needs
words that say so.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cam.core import private, secrets
from cam.core.evidence import RolloutMeta
from cam.core.extraction import Candidate, ForgetRequest, Rejection, SpeechAct
from cam.core.operations import Quote
from cam.core.records import TOPICS, MemoryScope, Source
from cam.core.times import stamp
from cam.formats.structured_answer import BadAnswerError, read_object
from cam.language import candidates, placement
from cam.language.claims import Claim, claim, terms
from cam.language.lexicon import spoken_in
from cam.sync.codex_prompt import ACTS, Numbered, one_line

MAX_OPERATIONS = 40
MAX_TEXT = 300
"""Characters of a summary, and of each further line."""
MAX_DETAILS = 5
MAX_QUOTES = 4

_SHOWN = 200
_WEAK = frozenset(
    {
        SpeechAct.QUESTION, SpeechAct.HYPOTHETICAL, SpeechAct.HEDGE, SpeechAct.NEGATED, SpeechAct.REPORTED,
        SpeechAct.QUOTATION, SpeechAct.TEMPORARY,
    }
)  # fmt: skip
"""Acts of clauses that never overturn a rule, whoever reads them."""


def read_answer(
    text: str, sentences: Sequence[Numbered], meta: RolloutMeta
) -> tuple[tuple[Candidate | ForgetRequest, ...], tuple[Rejection, ...]]:
    """Candidates and requests in the order in which they were said, and what was rejected.

    Raises:
        BadAnswerError: it is no JSON object with a list of operations.
    """
    desk = _Desk(sentences, meta)
    for index, raw in enumerate(_operations(text)):
        if index >= MAX_OPERATIONS:
            desk.reject(raw, "too-many")
        else:
            desk.take(raw)
    desk.found.sort(key=lambda pair: pair[0])
    return tuple(item for _, item in desk.found), tuple(desk.rejections)


def _operations(text: str) -> list[Any]:
    operations = read_object(text).get("operations")
    if not isinstance(operations, list):
        raise BadAnswerError("Codex's answer has no list of operations")
    return operations


class _Desk:
    """What was taken so far."""

    def __init__(self, sentences: Sequence[Numbered], meta: RolloutMeta) -> None:
        self.by_number = {s.number: s for s in sentences}
        self.meta = meta
        self.found: list[tuple[int, Candidate | ForgetRequest]] = []
        self.rejections: list[Rejection] = []
        self.digests: set[tuple[int, str]] = set()

    def take(self, raw: Any) -> None:
        """Take one operation, or reject it with its reason."""
        shape = _shape(raw)
        if shape is None:
            self.reject(raw, "malformed")
            return
        quoted = self._quoted(raw["statements"])
        if quoted is None:
            self.reject(raw, "not-quoted")
            return
        why_not = _why_not(raw, [s for s, _ in quoted])
        if why_not is not None:
            self.reject(raw, why_not, quoted)
            return
        last, words = max(quoted, key=lambda pair: pair[0].number)
        quotes = tuple(self._quote(s, q) for s, q in sorted(quoted, key=lambda pair: pair[0].number))
        at = stamp(last.message.at or self.meta.started_at)
        summary = one_line(raw["summary"])
        source = self._source(last, words, summary)
        if raw["act"] == "forget":
            self.found.append((last.number, ForgetRequest(summary, at, source, quotes)))
            return
        act = SpeechAct(raw["act"])
        is_weak = any(j.act in _WEAK and not j.durable for j in _clauses(last, words))
        if is_weak and act is not SpeechAct.FACT:
            act = SpeechAct.FACT
        said = " ".join(s.text for s, _ in quoted)
        self.found.append(
            (
                last.number,
                Candidate(
                    scope=_scope(raw["scope"], said),
                    topic=raw["topic"],
                    summary=summary,
                    act=act,
                    at=at,
                    source=source,
                    quotes=quotes,
                    details=tuple(one_line(d) for d in raw["details"]),
                    denies=candidates.denials(said),
                    rule="passing:codex" if is_weak else "codex",
                ),
            )
        )

    def reject(self, raw: Any, reason: str, quoted: Sequence[tuple[Numbered, str]] = ()) -> None:
        """Leave a visible line, secrets masked."""
        text = raw.get("summary") if isinstance(raw, dict) else None
        shown = text if isinstance(text, str) and text.strip() else json.dumps(raw, ensure_ascii=False)
        shown = one_line(secrets.mask(private.strip(shown[: _SHOWN * 4]).text).text)
        short = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
        quote = self._quote(*quoted[0]) if quoted else None
        self.rejections.append(Rejection(short or "(nothing)", f"codex-{reason}", quote))

    def _quoted(self, statements: Sequence[Any]) -> list[tuple[Numbered, str]] | None:
        """The sentences quoted; None if one is not quoted letter by letter, or hardly at all."""
        found: dict[int, tuple[Numbered, str]] = {}
        for raw in statements:
            sentence, quote = self.by_number.get(raw["number"]), one_line(raw["quote"])
            if sentence is None or quote not in sentence.text:
                return None
            if not candidates.says_something(quote, spoken_in(quote)) and quote != sentence.text:
                return None
            found.setdefault(sentence.number, (sentence, quote))
        return list(found.values()) or None

    def _quote(self, sentence: Numbered, text: str) -> Quote:
        message = sentence.message
        return Quote(
            text, self.meta.session, message.ordinal, message.turn, message.line or None, self.meta.path
        )

    def _source(self, sentence: Numbered, quote: str, summary: str) -> Source:
        """Named after the clause, as by every extractor; a second fact of one clause by its text as well."""
        ordinal = sentence.message.ordinal
        clause = next((j.clause.text for j in _clauses(sentence, quote)), quote)
        digest = candidates.digest(clause)
        if (ordinal, digest) in self.digests:
            digest = candidates.digest(f"{clause}\n{summary}")
        self.digests.add((ordinal, digest))
        return Source("session", self.meta.session, ordinal, digest)


def _shape(raw: Any) -> Any:
    """``raw`` if it has exactly the form that was asked for."""
    checks: dict[str, Callable[[Any], bool]] = {
        "act": lambda v: v in ACTS,
        "statements": lambda v: (
            isinstance(v, list) and 0 < len(v) <= MAX_QUOTES and all(map(_is_statement, v))
        ),
        "summary": _is_text,
        "details": lambda v: isinstance(v, list) and len(v) <= MAX_DETAILS and all(map(_is_text, v)),
        "scope": lambda v: isinstance(v, str) and v in list(MemoryScope),
        "topic": lambda v: isinstance(v, str) and v in TOPICS,
    }
    if not isinstance(raw, dict) or raw.keys() != checks.keys():
        return None
    return raw if all(check(raw[name]) for name, check in checks.items()) else None


def _is_statement(raw: Any) -> bool:
    return (
        isinstance(raw, dict)
        and raw.keys() == {"number", "quote"}
        and isinstance(raw["number"], int)
        and not isinstance(raw["number"], bool)
        and isinstance(raw["quote"], str)
        and bool(raw["quote"].strip())
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(one_line(value)) <= MAX_TEXT and one_line(value).isprintable()


def _why_not(raw: dict[str, Any], sentences: Sequence[Numbered]) -> str | None:
    """Why the operation does not count; None if it does."""
    text = "\n".join([raw["summary"], *raw["details"]])
    langs = spoken_in(text)
    if private.strip(text).count:
        return "private"
    if secrets.find(text) or candidates.only_announces_a_secret(text, langs, least=5):
        return "secret"
    if not candidates.says_something(one_line(raw["summary"]), langs) and raw["act"] != "forget":
        return "unclear"
    if not _is_in_their_words(text, " ".join(s.text for s in sentences)):
        return "other-words"
    if raw["act"] != "forget" and _turns_round(claim(one_line(text)), sentences):
        return "turned-round"
    return None


def _is_in_their_words(text: str, said: str) -> bool:
    """Whether ``text`` says nothing that was not said: values all, three of four other words."""
    own, theirs = set(terms(text)), set(terms(said))
    values = {value for _, value in claim(one_line(text)).values}
    low = said.lower()
    if any(value not in low for value in values):
        return False
    new = own - theirs
    if any(not word.isalpha() for word in new):
        return False
    return len(new) * 4 <= len(own)


def _turns_round(mine: Claim, sentences: Sequence[Numbered]) -> bool:
    """Whether the summary asks for what was forbidden, or forbids what was asked for."""
    denied = {d.lower() for s in sentences for d in candidates.denials(s.text)}
    if any(d.lower() not in denied for d in mine.denials if mine.content):
        return True
    asserted = mine.content | {name for names in mine.tools.values() for name in names}
    if any(set(terms(d)) and set(terms(d)) <= asserted for d in denied):
        return True
    for clause in (j.clause for s in sentences for j in s.said):
        theirs = claim(clause.text)
        if mine.negative == theirs.negative or not mine.content or not theirs.content:
            continue
        if (
            mine.content <= theirs.content
            and not theirs.denials
            and len(mine.content) * 3 >= len(theirs.content) * 2
        ):
            return True
    return False


def _clauses(sentence: Numbered, quote: str) -> Iterator[Any]:
    """The judged clauses of a sentence that ``quote`` overlaps; all of them where that cannot be told."""
    inside = [j for j in sentence.said if (c := one_line(j.clause.text)) in quote or quote in c]
    return iter(inside or sentence.said)


def _scope(asked: str, said: str) -> MemoryScope:
    """``global`` only where the words say so: a fact that is told in every repository must be meant so."""
    scope = MemoryScope(asked)
    if scope is MemoryScope.GLOBAL and placement.scope_of(said) is not MemoryScope.GLOBAL:
        return MemoryScope.PROJECT
    return scope
