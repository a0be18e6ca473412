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

Statistics come from the documents given. An index is one or more segments (``Segment``), in memory or on
disk; both are scored by the same code, and so alike. Occurrences that count alike – the same weighted count,
fields and length of document – are one class: a query works out a class once and adds a number per posting.

Types here are tuples: a search in a new process would feel what frozen dataclasses cost to make.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from heapq import nlargest
from itertools import chain, compress, repeat
from math import log
from operator import add, eq
from typing import NamedTuple, Protocol
from unicodedata import normalize

from cam.core.language import CJK_STOP, KINDS, STOP_WORDS, SYNONYMS
from cam.core.records import MemoryRecord

K1 = 0.9
B = 0.44
COVERAGE = 0.1
FIELDS = ("summary", "details", "topic", "id")
WEIGHTS = {"summary": 1.0, "details": 0.75, "topic": 0.3, "id": 0.2}
SYNONYM_WEIGHT = 0.5
HALF_LIFE_DAYS = 30.0


class Document(NamedTuple):
    """Something that can be found.

    Attributes:
        key: its name; decides between equal scores.
        fields: name and text, names from ``FIELDS``.
        at: ISO-8601 UTC, for recency.
    """

    key: str
    fields: tuple[tuple[str, str], ...]
    at: str = ""


class Hit(NamedTuple):
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


class Entry(NamedTuple):
    """One document as tokens.

    Attributes:
        length: its number of words.
        tokens: each token's weighted count, and the fields it stands in as a bit mask over ``FIELDS``.
    """

    length: float
    tokens: dict[str, tuple[float, int]]


class Term(NamedTuple):
    """One word of a query.

    Attributes:
        word: as typed.
        tokens: what a document may hold for it, with the weight of such a match.
    """

    word: str
    tokens: tuple[tuple[str, float], ...]


class Classes(NamedTuple):
    """What occurrences there are in a segment, by number.

    Attributes:
        counts: weighted count of the token.
        masks: fields it stands in, a bit each in the order of ``FIELDS``.
        lengths: words of the document.
    """

    counts: Sequence[float]
    masks: Sequence[int]
    lengths: Sequence[float]


class Segment(Protocol):
    """Some documents, numbered from 0, and where tokens stand in them."""

    @property
    def size(self) -> int:
        """How many documents, those that do not count among them."""

    @property
    def count(self) -> int:
        """How many of them count."""

    @property
    def gone(self) -> bytearray | None:
        """1 for each document that does not count; None where all do."""

    @property
    def total_length(self) -> float:
        """Words of the documents that count."""

    @property
    def classes(self) -> Classes:
        """The classes of occurrences."""

    def find(self, token: str) -> tuple[Sequence[int], Sequence[int]]:
        """Documents with ``token``, ascending, and the class of each occurrence."""

    def vocabulary(self, start: str) -> Iterable[str]:
        """Tokens that begin with ``start``, a letter at least; asked for only where nothing matches."""


class Postings(Protocol):
    """An index; its documents are numbered through its segments."""

    @property
    def segments(self) -> Sequence[Segment]:
        """Its parts."""

    def key(self, number: int) -> str:
        """Key of a document."""

    def at(self, number: int) -> str:
        """Time of a document."""

    def smallest(self, numbers: Sequence[int], count: int) -> Sequence[int]:
        """The ``count`` of ``numbers`` whose keys come first; ties are decided so."""


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
    """An index in memory: one segment in which every document counts."""

    gone = None

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = list(documents)
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        classes = ClassTable()
        self.total_length = 0.0
        for number, document in enumerate(self._documents):
            entry = entry_of(document)
            self.total_length += entry.length
            add_postings(self._postings, classes, number, entry)
        self.size = self.count = len(self._documents)
        self.classes = classes.table()
        self.segments = (self,)

    def find(self, token: str) -> tuple[Sequence[int], Sequence[int]]:
        """See ``Segment``."""
        return self._postings.get(token, ((), ()))

    def vocabulary(self, start: str) -> Iterable[str]:
        """See ``Segment``."""
        return [token for token in self._postings if token.startswith(start)]

    def key(self, number: int) -> str:
        """See ``Postings``."""
        return self._documents[number].key

    def at(self, number: int) -> str:
        """See ``Postings``."""
        return self._documents[number].at

    def smallest(self, numbers: Sequence[int], count: int) -> Sequence[int]:
        """See ``Postings``."""
        return sorted(numbers, key=self.key)[:count]


class ClassTable:
    """Numbers the classes of occurrences while an index is built."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[float, int, float], int] = {}

    def number(self, count: float, mask: int, length: float) -> int:
        """The number of a class."""
        return self._numbers.setdefault((count, mask, length), len(self._numbers))

    def table(self) -> Classes:
        """What was numbered."""
        counts, masks, lengths = zip(*self._numbers, strict=True) if self._numbers else ((), (), ())
        return Classes(counts, masks, lengths)


def add_postings(
    postings: dict[str, tuple["array[int]", "array[int]"]], classes: ClassTable, number: int, entry: Entry
) -> None:
    """Put a document's tokens into ``postings``; documents come in the order of their numbers."""
    kinds: dict[tuple[float, int], int] = {}
    for token, place in entry.tokens.items():
        kind = kinds.get(place)
        if kind is None:
            kind = kinds[place] = classes.number(*place, entry.length)
        row = postings.get(token)
        if row is None:
            row = postings[token] = (array("I"), array("I"))
        row[0].append(number)
        row[1].append(kind)


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
    segments = postings.segments
    found = _Scored(terms, segments)
    if not found.total and terms:
        found = _Scored(_tolerant(terms, segments), segments)
    matched, total = found.best(top, every=every, slack=1 + recency)
    shares = [(number / len(terms)) ** COVERAGE for number in range(len(terms) + 1)] if terms else []
    scores = {n: worth * shares[len(hit)] for n, (worth, hit) in matched.items()}
    if recency:
        scores = {n: score * (1 + recency * _freshness(postings.at(n), now)) for n, score in scores.items()}
    scores = {n: round(score, 6) for n, score in scores.items()}
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
            tuple(name for bit, name in enumerate(FIELDS) if found.mask(number) >> bit & 1),
            tuple(dict.fromkeys(terms[i].word for i in matched[number][1])),
        )
        for number in numbers
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.key))
    return hits[:top], total


def entry_of(document: Document) -> Entry:
    """Tokens of a document."""
    counts: dict[str, tuple[float, int]] = {}
    length = 0
    for name, text in document.fields:
        weight, bit, is_body = WEIGHTS[name], 1 << FIELDS.index(name), name in _BODY
        language = _language(text) if is_body else ""
        for chunk in _chunks(text):
            words, tokens = _tokens_of(chunk, language)
            length += words if is_body else 0
            for token in tokens:
                had, mask = counts.get(token, (0.0, 0))
                counts[token] = (had + weight, mask | bit)
    return Entry(length, counts)


@lru_cache(maxsize=65536)
def _tokens_of(chunk: str, language: str) -> tuple[int, tuple[str, ...]]:
    """How many words a document's chunk counts for, and under which tokens it is found."""
    pieces = tuple(_pieces_of(chunk))
    words = sum(piece.kind in _COUNTED for piece in pieces)
    return words, tuple(token for piece in pieces for token in _indexed(piece, language))


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
        for other in (*_synonyms(own[0]), *_of_kind(own[0])):
            weights.setdefault(other, SYNONYM_WEIGHT)
        terms.setdefault(own[0], Term(piece.word, tuple(weights.items())))
    return tuple(terms.values())


def holders(term: Term, postings: Postings) -> int:
    """How many documents hold a term."""
    return sum(_ScoredSegment(segment, 1.0).look_up(term) for segment in postings.segments)


def count_terms(query: str) -> int:
    """How many words and signs a query has, repeated ones too; a run of CJK is one."""
    return sum(1 for _ in _chunks(query))


@lru_cache(maxsize=65536)
def token_of(word: str) -> str:
    """A word folded and stemmed: Latin as English without accents, other scripts in their language."""
    word = word.casefold()
    if not word.isascii():
        script = next((name for low, high, name in _SCRIPTS if low <= ord(word[0]) <= high), None)
        if script is not None:
            return _stemmer(script)(word)
        if ord(word[0]) < 0x250 or 0x1E00 <= ord(word[0]) < 0x1F00:
            word = "".join(c for c in normalize("NFKD", word) if not "\u0300" <= c <= "\u036f")
    return _stemmer("english")(word)


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


class _Piece(NamedTuple):
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
    return chain.from_iterable(map(_pieces_of, _chunks(text)))


def _pieces_of(chunk: str) -> Iterator[_Piece]:
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
    parts = _joint().split(plain)
    words = [w for part in parts for w in ([part] if _unit().fullmatch(part) else _humps().findall(part))]
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
def _unit() -> re.Pattern[str]:
    """Single letters and numbers that are one word: ``k8s``, ``e2e``, ``s3``, ``10k``; but not ``v2``."""
    return re.compile(r"(?![vV]\d+$)(?=\d*[A-Za-z])(?=[A-Za-z]*\d)(?:\d|[A-Za-z](?![A-Za-z]))+")


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
    own = token_of(piece.text)
    if language in _LATIN and (foreign := _foreign(piece.text, language)):
        return (own, foreign)
    return (own,)


def _asked(piece: _Piece) -> tuple[str, ...]:
    """Tokens any of which answers a query's piece, the common one first."""
    if piece.kind != "word":
        return (piece.text,)
    own = token_of(piece.text)
    return (own, *(t for name in _LATIN if (t := _foreign(piece.text, name))))


def _language(text: str) -> str:
    """The language whose function words lead in ``text``; "" for English and for none."""
    names, known = _function_words()
    counts = [0] * len(names)
    for word in text.casefold().split():
        for language in known.get(word, ()):
            counts[language] += 1
    best = max(counts)
    return names[counts.index(best)] if best > counts[0] else ""


@cache
def _function_words() -> tuple[tuple[str, ...], dict[str, list[int]]]:
    """Names of languages, English first, and the numbers of those that have a word."""
    known: dict[str, list[int]] = {}
    for number, stops in enumerate(STOP_WORDS.values()):
        for word in stops:
            known.setdefault(word, []).append(number)
    return tuple(STOP_WORDS), known


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
    for word, group in _words_by_letter().get(token[:1], ()):
        if _first_token(word) == token:
            others.update(dict.fromkeys(map(_first_token, group)))
    others.pop(token, None)
    return tuple(others)


def _of_kind(token: str) -> tuple[str, ...]:
    """Tokens of what is of the kind that ``token`` names."""
    alike = (kind for kind in KINDS if kind[0] == token[:1])
    found = (KINDS[kind].split() for kind in alike if _first_token(kind) == token)
    return tuple(map(_first_token, chain.from_iterable(found)))


@cache
def _words_by_letter() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    words: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for group in SYNONYMS:
        for word in group:
            words.setdefault(word[:1].casefold(), []).append((word, group))
    return words


@cache
def _first_token(word: str) -> str:
    if word[0] >= "\u2e80":  # CJK, whose pattern takes 2 ms to compile
        return word[:2]
    piece = next(_pieces(word))
    return piece.text if piece.kind != "word" else token_of(piece.text)


# --- scores ------------------------------------------------------------------------------------------


class _Scored:
    """What terms are worth in each document, before it counts how many of them match."""

    def __init__(self, terms: Sequence[Term], segments: Sequence[Segment]) -> None:
        count = sum(s.count for s in segments)
        average = sum(s.total_length for s in segments) / count if count else 0.0
        self._terms = terms
        self._parts = [_ScoredSegment(segment, max(1.0, average)) for segment in segments]
        for term in terms:
            holders = sum(part.look_up(term) for part in self._parts)
            idf = log(1 + (count - holders + 0.5) / (holders + 0.5))
            for part in self._parts:
                part.add(idf)
        for part in self._parts:
            part.drop_gone()
        self.total = sum(len(part.scores) - part.scores.count(0.0) for part in self._parts)

    def best(
        self, top: int | None, *, every: bool, slack: float
    ) -> tuple[dict[int, tuple[float, list[int]]], int]:
        """Documents that may be among the ``top`` best, and how many match at all.

        Args:
            top: None for all that match.
            every: only documents that match every term.
            slack: what the best may still be multiplied by, beside their share of terms.

        Returns:
            By document what it is worth, and the terms that it matches; and their number.
        """
        near = (
            [part.at_least(0.0) for part in self._parts] if top is None or every else self._near(top, slack)
        )
        found: dict[int, tuple[float, list[int]]] = {}
        offset = 0
        for part, numbers in zip(self._parts, near, strict=True):
            matched = part.matched(numbers)
            if every:
                matched = {n: hit for n, hit in matched.items() if len(hit) == len(self._terms)}
            found |= {n + offset: (part.scores[n], hit) for n, hit in matched.items()}
            offset += len(part.scores)
        return found, len(found) if every else self.total

    def _near(self, top: int, slack: float) -> list[list[int]]:
        """Of each part the documents that may be among the ``top`` best.

        The share of terms takes something away from each; what is below by more cannot come back. The best of
        a few say what is surely not enough, so that not every score has to be compared with the best of all.
        """
        share = (1 / len(self._terms)) ** COVERAGE / slack if self._terms else 1.0

        def least(scores: Iterable[float]) -> float:
            largest = nlargest(top, scores)
            return largest[-1] * share - 2e-6 if 0 < len(largest) == top else 0.0

        some = least(chain.from_iterable(part.scores[:_SOME] for part in self._parts))
        near = [part.at_least(some) for part in self._parts]
        worth = (map(part.scores.__getitem__, own) for part, own in zip(self._parts, near, strict=True))
        enough = least(chain.from_iterable(worth))
        if enough <= some:
            return near
        return [
            [n for n in numbers if part.scores[n] >= enough]
            for part, numbers in zip(self._parts, near, strict=True)
        ]

    def mask(self, number: int) -> int:
        """The fields in which a document matches."""
        for part in self._parts:
            if number < len(part.scores):
                return part.mask(number)
            number -= len(part.scores)
        raise IndexError(number)


_SOME = 4096
"""Documents of a part among which the best are looked for first."""


class _ScoredSegment:
    """The scores of one segment's documents."""

    def __init__(self, segment: Segment, average: float) -> None:
        self.scores = [0.0] * segment.size
        self._segment = segment
        self._average = average
        self._gains: dict[float, list[float]] = {}
        self._found: list[list[tuple[Sequence[int], Sequence[int]]]] = []
        self._holders: list[Sequence[int]] = []
        self._in_order = False
        self._last: tuple[Sequence[int], Sequence[int], Sequence[float]] = ((), (), ())

    def look_up(self, term: Term) -> int:
        """Find a term; how many documents that count hold it."""
        found = [(weight, *self._segment.find(token)) for token, weight in term.tokens]
        found = [each for each in found if each[1]]
        self._in_order = len(found) == 1
        self._found.append([(documents, classes) for _, documents, classes in found])
        if len(found) == 1:
            weight, documents, classes = found[0]
            self._last = (documents, classes, self._gain(weight))
        else:
            best: dict[int, float] = {}
            for weight, documents, classes in found:
                gains = self._gain(weight)
                for number, kind in zip(documents, classes, strict=True):
                    if gains[kind] > best.get(number, 0.0):
                        best[number] = gains[kind]
            # Each document is a class of its own here.
            self._last = (list(best), range(len(best)), list(best.values()))
        holders = self._last[0]
        self._holders.append(holders)
        gone = self._segment.gone
        size = len(holders)
        return size - sum(map(gone.__getitem__, holders)) if gone else size

    def add(self, idf: float) -> None:
        """Count what was found last, a posting at a time: this is what a search of many records spends."""
        documents, classes, gains = self._last
        scores, worth = self.scores, [idf * gain for gain in gains]
        if self._in_order and len(documents) == len(scores):  # every document has it
            self.scores = list(map(add, scores, map(worth.__getitem__, classes)))
            return
        for number, kind in zip(documents, classes, strict=True):
            scores[number] += worth[kind]

    def drop_gone(self) -> None:
        """Documents that do not count match nothing."""
        if self._segment.gone:
            for number in compress(range(len(self.scores)), self._segment.gone):
                self.scores[number] = 0.0

    def at_least(self, least: float) -> list[int]:
        """Documents worth at least ``least`` and more than nothing."""
        worthy = map(least.__le__, self.scores) if least > 0 else self.scores  # half the time of a loop
        return list(compress(range(len(self.scores)), worthy))

    def matched(self, numbers: Sequence[int]) -> dict[int, list[int]]:
        """Of these documents, which ascend, the terms that match."""
        found: dict[int, list[int]] = {n: [] for n in numbers}
        few = 10 * len(found)
        for i, holders in enumerate(self._holders):
            if isinstance(holders, list) or len(holders) < few:
                both: Iterable[int] = found.keys() & holders
            else:  # in order, and many: looking each up is sooner than going through them
                both = _held(holders, numbers)
            for number in both:
                found[number].append(i)
        return found

    def mask(self, number: int) -> int:
        """The fields in which a document matches."""
        mask = 0
        for documents, classes in chain.from_iterable(self._found):
            at = bisect_left(documents, number)
            if at < len(documents) and documents[at] == number:
                mask |= self._segment.classes.masks[classes[at]]
        return mask

    def _gain(self, weight: float) -> list[float]:
        """What an occurrence of each class is worth, for a token that counts ``weight``."""
        if weight not in self._gains:
            counts, _, lengths = self._segment.classes
            base, slope = K1 * (1 - B), K1 * B / self._average
            self._gains[weight] = [
                weight * count * (K1 + 1) / (weight * count + base + slope * length)
                for count, length in zip(counts, lengths, strict=True)
            ]
        return self._gains[weight]


def _held(holders: Sequence[int], numbers: Sequence[int]) -> Iterable[int]:
    """Which of ``numbers`` are among ``holders``; both ascend. Without a loop, as there may be thousands."""
    own = numbers[: bisect_right(numbers, holders[-1])]
    places = map(bisect_left, repeat(holders), own)
    return compress(own, map(eq, map(holders.__getitem__, places), own))


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


def _tolerant(terms: Sequence[Term], segments: Sequence[Segment]) -> tuple[Term, ...]:
    """Terms that stand for what begins like them, else for what differs by a letter; when long, by two."""
    return tuple(Term(t.word, tuple((near, 1.0) for near in _near(t.tokens[0][0], segments))) for t in terms)


def _near(token: str, segments: Sequence[Segment]) -> list[str]:
    if len(token) < 3:
        return []

    def beginning(start: str) -> list[str]:
        return sorted(set(chain.from_iterable(segment.vocabulary(start) for segment in segments)))

    longer = beginning(token)
    if longer or len(token) < 4 or "~" in token:
        return longer[:_NEAR]
    reach = 1 if len(token) < 8 else 2
    near: dict[int, list[str]] = {}
    for word in beginning(token[0]):
        ending = 4 if len(word) >= 5 else 0
        if -reach <= len(token) - len(word) <= reach + ending:
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
