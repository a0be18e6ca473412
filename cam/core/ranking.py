"""The one ranking: BM25 over weighted fields, in any language, the same for search, recall and payload.

Text becomes tokens: NFKC and case folded; words stemmed (Snowball); identifiers and paths kept whole and
split (``camelCase``, ``snake_case``, ``v1.2.3``, ``docs/runbook.md``); Chinese, Japanese, Korean and other
scripts without spaces as pairs of characters, single ones too. A query loses its stop and question words
unless nothing else is left, and each word also stands for its synonyms at a lower weight.

A document scores, for each query word, ``idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))``
with ``tf`` summed over the fields by their weights; the sum is multiplied by the share of the query's words
that match, to the power of ``COVERAGE``. Prefixes and typing mistakes are tried only where no document
matches. With a recency weight ``w`` a score is multiplied by ``1 + w * 0.5 ** (age / 30 days)``: that
reorders matches and never adds one. Equal scores stand in the order of their keys.

Statistics come from the documents given. What holds an index on disk implements ``Postings`` and gets the
same scores from ``rank_in``.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import log
from typing import Protocol
from unicodedata import normalize

from cam.core.language import CJK_STOP, STOP_WORDS, SYNONYMS
from cam.core.records import MemoryRecord

K1 = 0.9
B = 0.44
COVERAGE = 0.1
FIELDS = ("summary", "details", "topic", "id")
WEIGHTS = {"summary": 1.0, "details": 0.75, "topic": 0.3, "id": 0.2}
SYNONYM_WEIGHT = 0.5
HALF_LIFE_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class Document:
    """Something that can be found.

    Attributes:
        key: its name; decides between equal scores.
        fields: name and text, names from ``FIELDS``.
        at: ISO-8601 UTC, for recency.
    """

    key: str
    fields: tuple[tuple[str, str], ...]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that matches.

    Attributes:
        number: its place in what was searched, from 0.
        key: its name.
        score: above 0, rounded to 6 decimals.
        fields: where a word matched, in the order of ``FIELDS``.
        terms: the words of the query that matched, as typed, in order.
    """

    number: int
    key: str
    score: float
    fields: tuple[str, ...]
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One document as tokens.

    Attributes:
        length: its number of words.
        tokens: each token's weighted count, and the fields it stands in as a bit mask over ``FIELDS``.
    """

    length: float
    tokens: dict[str, tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query.

    Attributes:
        word: as typed.
        tokens: what a document may hold for it, with the weight of such a match.
    """

    word: str
    tokens: tuple[tuple[str, float], ...]


class Postings(Protocol):
    """Where tokens stand, in memory or on disk."""

    count: int
    """How many documents."""
    total_length: float
    """The sum of their lengths."""

    def find(self, token: str) -> Iterable[tuple[int, float, int]]:
        """Number of each document with ``token``, its weighted count, and its fields as a bit mask."""

    def length(self, number: int) -> float:
        """Length of a document."""

    def key(self, number: int) -> str:
        """Key of a document."""

    def at(self, number: int) -> str:
        """Time of a document."""

    def smallest(self, numbers: Sequence[int], count: int) -> Sequence[int]:
        """The ``count`` of ``numbers`` whose keys come first; ties are decided so."""

    def vocabulary(self) -> Sequence[str]:
        """Every token, sorted; asked for only where nothing matches."""


def rank(query: str, documents: Sequence[Document], *, recency: float = 0.0, now: str = "") -> list[Hit]:
    """Every document that matches ``query``, best first.

    Args:
        query: words in any language; one without a word or sign matches nothing.
        documents: all that statistics are taken from.
        recency: weight of newness, 0 or more; 0 leaves time out.
        now: ISO-8601 UTC, needed for recency.
    """
    return rank_in(query, Index(documents), recency=recency, now=now)


def document_of(record: MemoryRecord) -> Document:
    """A record as something that can be found, under its ref."""
    return Document(
        str(record.ref),
        (
            ("summary", record.summary),
            ("details", "\n".join(record.details)),
            ("topic", record.topic),
            ("id", record.id),
        ),
        record.updated_at,
    )


class Index:
    """Postings in memory."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._postings: dict[str, list[tuple[int, float, int]]] = {}
        self._lengths: list[float] = []
        self._documents = list(documents)
        for number, document in enumerate(self._documents):
            entry = entry_of(document)
            self._lengths.append(entry.length)
            for token, (weight, mask) in entry.tokens.items():
                self._postings.setdefault(token, []).append((number, weight, mask))
        self.count = len(self._documents)
        self.total_length = sum(self._lengths)

    def find(self, token: str) -> Sequence[tuple[int, float, int]]:
        """See ``Postings``."""
        return self._postings.get(token, ())

    def length(self, number: int) -> float:
        """See ``Postings``."""
        return self._lengths[number]

    def key(self, number: int) -> str:
        """See ``Postings``."""
        return self._documents[number].key

    def at(self, number: int) -> str:
        """See ``Postings``."""
        return self._documents[number].at

    def smallest(self, numbers: Sequence[int], count: int) -> Sequence[int]:
        """See ``Postings``."""
        return sorted(numbers, key=self.key)[:count]

    def vocabulary(self) -> Sequence[str]:
        """See ``Postings``."""
        return sorted(self._postings)


def rank_in(query: str, postings: Postings, *, recency: float = 0.0, now: str = "") -> list[Hit]:
    """``rank`` over an index."""
    return best_in(query, postings, recency=recency, now=now)[0]


def best_in(
    query: str,
    postings: Postings,
    *,
    top: int | None = None,
    every: bool = False,
    recency: float = 0.0,
    now: str = "",
) -> tuple[list[Hit], int]:
    """The best of what ``rank_in`` finds, and how many documents match in all.

    Args:
        query: words in any language.
        postings: what is searched.
        top: so many hits at most; None for all.
        every: only documents that match every word of the query.
        recency: weight of newness.
        now: ISO-8601 UTC, needed for recency.
    """
    terms = query_terms(query)
    found = _score(terms, postings)
    if not found and terms:
        found = _score(_tolerant(terms, postings.vocabulary()), postings)
    if every:
        found = {n: hit for n, hit in found.items() if len(hit[2]) == len(terms)}
    scores = {n: round(hit[0], 6) for n, hit in found.items()}
    if recency:
        fresh = {n: 1 + recency * _freshness(postings.at(n), now) for n in found}
        scores = {n: round(found[n][0] * factor, 6) for n, factor in fresh.items()}
    numbers = list(scores)
    if top is not None and top < len(numbers):
        least = sorted(scores.values(), reverse=True)[top - 1] if top else float("inf")
        numbers = [n for n in numbers if scores[n] > least]
        ties = [n for n in scores if scores[n] == least]
        numbers += postings.smallest(ties, top - len(numbers))
    hits = [
        Hit(
            number,
            postings.key(number),
            scores[number],
            tuple(name for bit, name in enumerate(FIELDS) if found[number][1] >> bit & 1),
            tuple(dict.fromkeys(terms[i].word for i in found[number][2])),
        )
        for number in numbers
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.key))
    return hits[:top], len(found)


def entry_of(document: Document) -> Entry:
    """Tokens of a document."""
    counts: dict[str, tuple[float, int]] = {}
    length = 0
    for name, text in document.fields:
        weight, bit, is_body = WEIGHTS[name], 1 << FIELDS.index(name), name in _BODY
        language = _language(text) if is_body else ""
        for piece in _pieces(text):
            if is_body and piece.kind in _COUNTED:
                length += 1
            for token in _indexed(piece, language):
                had, mask = counts.get(token, (0.0, 0))
                counts[token] = (had + weight, mask | bit)
    return Entry(length, counts)


def query_terms(query: str) -> tuple[Term, ...]:
    """What of a query is searched, each thing once."""
    pieces = [piece for piece in _pieces(query) if piece.kind != "char" or len(piece.word) == 1]
    language = _language(query)
    stops = STOP_WORDS["english"] | STOP_WORDS.get(language, frozenset())
    telling = [p for p in pieces if p.text.casefold() not in stops and p.text not in CJK_STOP]
    terms: dict[str, Term] = {}
    for piece in telling or pieces:
        own = _asked(piece)
        weights = dict.fromkeys(own, 1.0)
        for other in _synonyms(own[0]):
            weights.setdefault(other, SYNONYM_WEIGHT)
        terms.setdefault(own[0], Term(piece.word, tuple(weights.items())))
    return tuple(terms.values())


def count_terms(query: str) -> int:
    """How many words and signs a query has, repeated ones too; a run of CJK is one."""
    return sum(1 for _ in _chunks(query))


# --- text to pieces -----------------------------------------------------------------------------------------

_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\u1100-\u11ff\U00020000-\U0003ffff"
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3"
)
"""Scripts without spaces, and Hangul, whose endings vary."""
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
"""What belongs to a word and is no letter: accents, vowel signs."""
_SIGNS = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_BODY = frozenset({"summary", "details"})
_COUNTED = frozenset({"word", "pair", "sign"})


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of a text.

    Attributes:
        text: as written, NFKC; folded for a ``whole``.
        kind: ``word``, ``whole`` (an identifier beside its words), ``pair`` or ``char`` (of CJK), ``sign``.
        word: what a person would call it.
    """

    text: str
    kind: str
    word: str


def _pieces(text: str) -> Iterator[_Piece]:
    for chunk in _chunks(text):
        if chunk.isascii() and chunk.isalpha() and (chunk.islower() or not _hump().search(chunk)):
            yield _Piece(chunk, "word", chunk)
        elif _cjk_run().match(chunk):
            yield from (_Piece(chunk[i : i + 2], "pair", chunk[i : i + 2]) for i in range(len(chunk) - 1))
            yield from (_Piece(char, "char", chunk) for char in chunk)
        elif _sign().match(chunk):
            yield _Piece(chunk, "sign", chunk)
        else:
            yield from _identifier(chunk)


def _identifier(chunk: str) -> Iterator[_Piece]:
    """A chunk's words, and the chunk and its last part of a path as they are."""
    plain = _possessive().sub("", chunk)
    words = [w for part in _joint().split(plain) for w in _humps().findall(part)]
    words = [w for w in words if len(w) > 1 or w.isdigit()] or words
    wholes = {}
    if len(words) > 1:
        bare = chunk.casefold()
        wholes = dict.fromkeys((bare, bare.rsplit("/", 1)[-1]))
        if len(words) <= 4 and "/" not in bare and "." not in bare:
            wholes["".join(words).casefold()] = None  # front-end, frontEnd and frontend are one
        if bare[0] == "v" and bare[1:2].isdigit():
            wholes[bare[1:]] = None
    for whole in wholes:
        if len(words) == 1 or whole != words[0].casefold():
            yield _Piece(whole, "whole", chunk)
    for word in words or [plain]:
        yield _Piece(word, "word", chunk)


@cache
def _chunk() -> re.Pattern[str]:
    letter = rf"[\w{_MARKS}]"
    return re.compile(rf"[A-Za-z](?:\+\+|#)(?![\w+#])|{letter}+(?:[-._/:@'’]{letter}+)*|[{_SIGNS}]")


@cache
def _cjk_run() -> re.Pattern[str]:
    return re.compile(f"[{_CJK}]+")


@cache
def _sign() -> re.Pattern[str]:
    return re.compile(f"[{_SIGNS}]")


@cache
def _hump() -> re.Pattern[str]:
    return re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")


@cache
def _humps() -> re.Pattern[str]:
    """Words within one: ``HTTPServer2`` is http, server, 2."""
    return re.compile(
        rf"[A-Za-z](?:\+\+|#)|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+(?![\w{_MARKS}])|[A-Z]?[a-z]+(?=[A-Z\d_])"
        rf"|[A-Z]+(?=[\d_]|$)|\d+|(?:[^\W\d_]|[{_MARKS}])+"
    )


@cache
def _joint() -> re.Pattern[str]:
    return re.compile(r"[-._/:@'’]+")


@cache
def _possessive() -> re.Pattern[str]:
    return re.compile(r"['’][sS]\b")


def _chunks(text: str) -> Iterator[str]:
    """Runs of letters with what joins them; runs of CJK apart; single signs."""
    if not text.isascii():
        text = normalize("NFKC", text)
    for match in _chunk().finditer(text):
        chunk = match[0]
        if chunk.isascii() or not _cjk_run().search(chunk):
            if chunk.strip("_"):
                yield chunk
            continue
        at = 0
        for run in _cjk_run().finditer(chunk):
            yield from _chunk().findall(chunk[at : run.start()])
            yield run[0]
            at = run.end()
        yield from _chunk().findall(chunk[at:])


# --- pieces to tokens ---------------------------------------------------------------------------------------

_LATIN = tuple(name for name in STOP_WORDS if name not in {"english", "russian"})
_SCRIPTS = (
    (0x370, 0x3FF, "greek"),
    (0x400, 0x52F, "russian"),
    (0x530, 0x58F, "armenian"),
    (0x600, 0x6FF, "arabic"),
    (0x900, 0x97F, "hindi"),
    (0xB80, 0xBFF, "tamil"),
)


def _indexed(piece: _Piece, language: str) -> tuple[str, ...]:
    """Tokens under which a document's piece is found."""
    if piece.kind != "word":
        return (piece.text,)
    own = _token(piece.text)
    if language in _LATIN and (foreign := _foreign(piece.text, language)):
        return (own, foreign)
    return (own,)


def _asked(piece: _Piece) -> tuple[str, ...]:
    """Tokens any of which answers a query's piece, the common one first."""
    if piece.kind != "word":
        return (piece.text,)
    own = _token(piece.text)
    return (own, *(t for name in _LATIN if (t := _foreign(piece.text, name))))


def _language(text: str) -> str:
    """The language whose function words lead in ``text``; "" for English and for none."""
    words = text.casefold().split()
    counts = [(sum(w in stops for w in words), name) for name, stops in STOP_WORDS.items()]
    best, name = max(counts, key=lambda pair: pair[0])
    return name if best > counts[0][0] else ""


@lru_cache(maxsize=65536)
def _token(word: str) -> str:
    """A word folded and stemmed: Latin as English without accents, other scripts in their language."""
    word = word.casefold()
    if not word.isascii():
        script = next((name for low, high, name in _SCRIPTS if low <= ord(word[0]) <= high), None)
        if script is not None:
            return _stemmer(script)(word)
        if ord(word[0]) < 0x250 or 0x1E00 <= ord(word[0]) < 0x1F00:
            word = "".join(c for c in normalize("NFKD", word) if not "\u0300" <= c <= "\u036f")
    return _stemmer("english")(word)


@lru_cache(maxsize=65536)
def _foreign(word: str, language: str) -> str:
    """A Latin word stemmed in another language, marked as such; "" for other scripts and numbers."""
    word = word.casefold()
    if len(word) < 3 or not word.isalpha() or ord(word[0]) >= 0x250:
        return ""
    return f"{language}~{_stemmer(language)(word)}"


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    from Stemmer import Stemmer  # type: ignore[import-not-found]  # noqa: PLC0415 - not every text has letters

    stem: Callable[[str], str] = Stemmer(language).stemWord
    return stem


def _synonyms(token: str) -> tuple[str, ...]:
    """Tokens of the other words of the groups that ``token`` is in.

    Only words that begin alike are stemmed: the whole table would cost a cold search 5 ms.
    """
    others: dict[str, None] = {}
    for group in SYNONYMS:
        if any(word[:1].casefold() == token[:1] and _first_token(word) == token for word in group):
            others.update(dict.fromkeys(map(_first_token, group)))
    others.pop(token, None)
    return tuple(others)


@cache
def _first_token(word: str) -> str:
    piece = next(iter(_pieces(word)))
    return _asked(piece)[0]


# --- scores ------------------------------------------------------------------------------------------

_Found = dict[int, tuple[float, int, list[int]]]


def _score(terms: Sequence[Term], postings: Postings) -> _Found:
    """Score, fields and matched terms by number of document."""
    found: _Found = {}
    average = postings.total_length / postings.count if postings.count else 0.0
    for i, term in enumerate(terms):
        best: dict[int, tuple[float, int]] = {}
        for token, weight in term.tokens:
            for number, count, mask in postings.find(token):
                had, fields = best.get(number, (0.0, 0))
                best[number] = (max(had, weight * count), fields | mask)
        idf = log(1 + (postings.count - len(best) + 0.5) / (len(best) + 0.5))
        for number, (count, mask) in best.items():
            norm = 1 - B + B * postings.length(number) / max(1.0, average)
            score, fields, matched = found.get(number, (0.0, 0, []))
            matched.append(i)
            found[number] = (score + idf * count * (K1 + 1) / (count + K1 * norm), fields | mask, matched)
    return {
        number: (score * (len(matched) / len(terms)) ** COVERAGE, mask, matched)
        for number, (score, mask, matched) in found.items()
    }


def _freshness(at: str, now: str) -> float:
    """1 for ``now``, halved with every half-life before it."""
    return float(0.5 ** (max(0.0, _days(now) - _days(at)) / HALF_LIFE_DAYS)) if at and now else 0.0


def _days(stamp: str) -> float:
    """Days since an epoch, of ``YYYY-MM-DD[THH:MM[:SS]]``; ``datetime`` would cost a cold search too much."""
    year, month, day = int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10])
    if month < 3:
        year, month = year - 1, month + 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day
    clock = stamp[11:19].split(":") if len(stamp) > 10 else []
    return days + sum(int(part[:2]) / unit for part, unit in zip(clock, (24, 1440, 86400), strict=False))


# --- when nothing matches ----------------------------------------------------------------------------

_NEAR = 20
"""Words of the vocabulary that one word of a query may stand for."""


def _tolerant(terms: Sequence[Term], vocabulary: Sequence[str]) -> tuple[Term, ...]:
    """Terms that stand for what begins like them, else for what differs by a letter; when long, by two."""
    return tuple(
        Term(t.word, tuple((near, 1.0) for near in _near(t.tokens[0][0], vocabulary))) for t in terms
    )


def _near(token: str, vocabulary: Sequence[str]) -> list[str]:
    if len(token) < 3:
        return []
    begin = bisect_left(vocabulary, token)
    longer = []
    for word in vocabulary[begin : begin + 10 * _NEAR]:
        if not word.startswith(token):
            break
        longer.append(word)
    if longer or len(token) < 4 or "~" in token:
        return longer[:_NEAR]
    reach = 1 if len(token) < 8 else 2
    near: dict[int, list[str]] = {}
    for word in vocabulary:
        ending = 4 if len(word) >= 5 else 0
        if word[0] == token[0] and -reach <= len(token) - len(word) <= reach + ending:
            distance = _distance(word, token, reach, ending)
            near.setdefault(distance, []).append(word)
    nearest = min(near, default=reach + 1)
    return near[nearest][:_NEAR] if nearest <= reach else []


def _distance(a: str, b: str, most: int, ending: int) -> int:
    """Letters added, lost, changed or swapped with their neighbour; more than ``most`` is not counted out.

    Up to ``ending`` last letters of ``b`` are free: a mistake there keeps the stemmer from cutting them.
    """
    older: list[int] = []
    old = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(old[j] + 1, row[-1] + 1, old[j - 1] + (x != y))
            if older and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        older, old = old, row
    return min(old[len(b) - ending :]) if ending else old[-1]
