"""Secrets in any text, known by the shape of their value; the words around them are kept.

Three ways to know one: the form that a provider gives its tokens; the place where credentials stand (a URL,
an ``Authorization`` header, a private key block); or a word for a secret followed by a value
(``api_key: X``, ``PGPASSWORD=X cmd``, ``password is X``, 密码是 X). In the third way the word alone proves
nothing: what follows must look like a value, not like prose, a type, a reference or an algorithm.

Written here rather than taken from a scanner for repositories: such tools read files line by line, name
lines instead of values, cost more to import than a whole recall, and are tuned to source code, not prose.

Only ``re`` is needed and nothing is compiled before the first call. Every step is linear in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from cam.core.secret_forms import (
    ALONE,
    ANY_VALUE,
    ASIAN_LINKS,
    FORMS,
    FUNCTION_WORDS,
    GAP_WORDS,
    KEY_WORDS,
    LINK_WORDS,
    NO_VALUE_ENDS,
    NO_VALUES,
    ORDINARY,
    PASSWORD_WORDS,
    PLACES,
    RAW,
    STEMS,
    SUFFIXES,
)

MASK = "[masked]"
"""What stands in the place of a secret."""


class Secret(NamedTuple):
    """One secret in a text.

    Attributes:
        start: where its value begins, in characters.
        end: where it ends.
        kind: ``github-token``, ``password``, ``private-key`` …
    """

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets.

    Attributes:
        text: the text, each secret replaced by ``MASK``.
        count: how many were masked.
        kinds: what they were, each once, sorted.
    """

    text: str
    count: int = 0
    kinds: tuple[str, ...] = ()


def mask(text: str) -> Masked:
    """Mask every secret in ``text``; masking the result again changes nothing."""
    count = 0
    kinds: set[str] = set()
    for _ in range(_PASSES):
        secrets = find(text)
        if not secrets:
            break
        count += len(secrets)
        kinds.update(secret.kind for secret in secrets)
        pieces, at = [], 0
        for secret in secrets:
            pieces += [text[at : secret.start], MASK]
            at = secret.end
        text = "".join((*pieces, text[at:]))
    return Masked(text, count, tuple(sorted(kinds)))


def find(text: str) -> list[Secret]:
    """Every secret in ``text``, in order, none overlapping another."""
    found = _key_blocks(text)
    if _is_worth_reading(text):
        runs = _Runs(text)
        found += _provider_tokens(runs)
        found += _placed_credentials(text, runs)
        found += _named_values(text)
    return _merged(text, found)


def are_clean(texts: Sequence[str]) -> list[bool]:
    """Whether each of ``texts`` holds no secret: ``not find(text)``, at a fraction of the cost for many.

    They are looked through as one text, with something between them that no form of a secret reaches over;
    where that holds a secret, each half is looked through again.
    """
    if len(texts) < 2:
        return [not find(text) for text in texts]
    if not find(_APART.join(texts)):
        return [True] * len(texts)
    half = len(texts) // 2
    return are_clean(texts[:half]) + are_clean(texts[half:])


_APART = "\n\0\n\0\n\0\n"

_PASSES = 4
"""A masked value can uncover another; more rounds than this were never needed."""


def _merged(text: str, found: list[Secret]) -> list[Secret]:
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            if secret.end > last.end:
                merged[-1] = Secret(last.start, secret.end, last.kind)
        elif text[secret.start : secret.end] != MASK:
            merged.append(secret)
    return merged


@cache
def _hint() -> re.Pattern[str]:
    return re.compile(r"[0-9]|[=:\"'`\-]|(?i:pass|pw|secret|token|cred|phrase|pin\b)|[^\x00-\x7f]")


def _is_worth_reading(text: str) -> bool:
    return len(text) >= 4 and _hint().search(text) is not None


# --- private keys ------------------------------------------------------------------------------------

_KEY_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"


def _key_blocks(text: str) -> list[Secret]:
    """Whole blocks; one without its end goes as far as its lines look like a key."""
    if "PRIVATE" not in text and "PuTTY" not in text:
        return []
    found = []
    at, no_end = 0, False
    begin, end = re.compile(_KEY_BEGIN), re.compile(_KEY_END)
    body = re.compile(
        r"(?:[A-Za-z0-9+/=:,\-]|\\[nr]|\s(?=\s{0,8}[A-Za-z0-9+/=\\]{16})|\s(?=\s{0,8}[\w-]{1,40}: ))*"
    )
    while head := begin.search(text, at):
        tail = None if no_end else end.search(text, head.end())
        no_end = tail is None
        stop = tail.end() if tail else body.match(text, head.end()).end()  # type: ignore[union-attr]
        found.append(Secret(head.start(), stop, "private-key"))
        at = stop
    putty = re.compile(
        r"(?<=Private-Lines: )\d+(?:\s{1,2}[A-Za-z0-9+/=]{16,})+(?:\s{1,2}[A-Za-z0-9+/=]{1,15}=)?"
    )
    return found + [Secret(m.start(), m.end(), "private-key") for m in putty.finditer(text)]


# --- long runs without a space: nowhere else stand tokens and most credentials ---------------------------


class _Runs:
    """The long runs of a text, one a line, and where each stood: of prose it is a twentieth."""

    __slots__ = ("_here", "_there", "low", "text")

    def __init__(self, text: str) -> None:
        here, there, pieces, at = [], [], [], 0
        for run in _run().finditer(text):
            here.append(at)
            there.append(run.start())
            pieces.append(run[0])
            at += run.end() - run.start() + 1
        self._here, self._there = here, there
        self.text = "\n".join(pieces)
        self.low = _lowered(self.text)

    def place(self, at: int) -> int:
        """Where the character ``at`` of the runs stands in the text."""
        number = bisect_right(self._here, at) - 1
        return self._there[number] + at - self._here[number]


@cache
def _run() -> re.Pattern[str]:
    return re.compile(r"\S{10,}")


# --- tokens with a form of their own -------------------------------------------------------------------


@cache
def _form(index: int) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{FORMS[index][2]})", re.ASCII)


@cache
def _triggers() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row[1].split()) for row in FORMS)


def _provider_tokens(runs: _Runs) -> list[Secret]:
    """Only forms whose literal part occurs are searched, so most texts cost one pass of plain search."""
    found = []
    for index, triggers in enumerate(_triggers()):
        if any(trigger in runs.text for trigger in triggers):
            kind = FORMS[index][0]
            for m in _form(index).finditer(runs.text):
                start = runs.place(m.start())
                found.append(Secret(start, start + m.end() - m.start(), kind))
    return found


# --- places where credentials stand ---------------------------------------------------------------------


@cache
def _place(index: int) -> re.Pattern[str]:
    return re.compile(PLACES[index][2], re.IGNORECASE)


_WITHOUT_SPACE = frozenset({"://", "=", ":"})
"""Triggers of places that hold no space."""
_BEGINS = frozenset({"authorization", "bearer", "basic", "login", "mysql mariadb", "redis-cli", "cookie"})
"""Triggers with which their place begins."""
_BEFORE, _AFTER = 600, 1_000
"""How far any other place can reach from its trigger, in characters."""


def _at_triggers(index: int, text: str, low: str) -> Iterator[re.Match[str]]:
    triggers = PLACES[index][1]
    if not any(trigger in low for trigger in triggers.split()):
        return  # as in most texts: compiling all forms would cost more than the rest of a timeline
    form = _place(index)
    if triggers in _BEGINS:
        places = sorted(at for trigger in triggers.split() for at in _places(low, trigger))
        yield from (match for at in places if (match := form.match(text, at)) is not None)
        return
    for begin, end in around(low, triggers.split(), before=_BEFORE, after=_AFTER):
        yield from form.finditer(text, begin, end)


def _placed_credentials(text: str, runs: _Runs) -> list[Secret]:
    found = []
    low = _lowered(text)
    for index, (kind, triggers, _) in enumerate(PLACES):
        in_runs = triggers in _WITHOUT_SPACE
        for match in _at_triggers(index, *((runs.text, runs.low) if in_runs else (text, low))):
            value = match["value"]
            start = runs.place(match.start("value")) if in_runs else match.start("value")
            trimmed = value if kind == "url-password" else _trimmed(value)
            if _is_reference(trimmed):
                continue
            if kind in ANY_VALUE or _is_strong(trimmed, least=8) or _is_random(trimmed, least=8):
                found.append(Secret(start, start + len(trimmed), kind))
    return found


# --- a word for a secret, and its value -------------------------------------------------------------------


@cache
def _words() -> re.Pattern[str]:
    """The words, for a text in lower case; alternatives that begin with a letter make the search quick."""
    words = sorted((*PASSWORD_WORDS, *KEY_WORDS), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(words)}){SUFFIXES}(?![a-z0-9_])")


@cache
def _password_words() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(PASSWORD_WORDS)})(?:[^a-z]|$|{SUFFIXES}$)")


def _lowered(text: str) -> str:
    """``text`` in lower case, each character in its place."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _counts(text: str, word: re.Match[str]) -> bool:
    """Whether the word stands as one: ``pass`` is a verb, save in ``db_pass``, ``dbPass`` and ``pass=``."""
    name, before = word[0], text[word.start() - 1 : word.start()]
    if name in ALONE:
        return not before.isalpha()
    if name.startswith("pass") and not name.startswith(
        ("passw", "passc", "passp", "pass-", "pass_", "pass ")
    ):
        is_part = before in {"_", ".", "-"} or (before.islower() and text[word.start()] == "P")
        return is_part or (
            not before.isalpha() and re.match(r"=\S", text[word.end() : word.end() + 2]) is not None
        )
    return True


@cache
def _link() -> re.Pattern[str]:
    gap = (
        r"(?:\s?[(（][^()（）\n]{0,60}[)）])?"
        rf"(?:\s(?:{GAP_WORDS})\b(?:[^\n.;:=!?。；]|\.(?=\S)){{0,60}}?)??"
    )
    signs = r"[ \t]{0,8}(?P<sign>=>|:=|[=!]==?|:(?!//)|：|＝|=|→|[-=]>(?=\s))[ \t]{0,8}"
    asian = rf"[^\n。；;，,.:：=a-zA-Z]{{0,16}}?(?P<asian>{ASIAN_LINKS})[ \t]?[:：]?[ \t]?"
    verb = rf"\s{{1,4}}(?P<verb>{LINK_WORDS})\s{{1,4}}:?\s?|['’]s\s{{1,4}}"
    return re.compile(
        rf"(?P<close>(?:\\?[\"'`*\]]){{0,4}})(?:(?P<gap>{gap})(?:{signs}|{verb})|{asian}"
        r"|(?P<tag>>)|(?P<call>\(\s?)(?=[\"'])|(?P<beside>[ \t]{1,4}))",
        re.IGNORECASE,
    )


@cache
def _value() -> re.Pattern[str]:
    return re.compile(
        r"(?P<open>\\?[\"'`]|[“‘「『])(?P<quoted>[^\"'`”’」』\\\n]{1,512})\\?[\"'`”’」』]"
        rf"|(?P<lead>[*_({{]{{0,3}})(?P<raw>{RAW}{{1,256}})"
    )


@cache
def _login_words() -> re.Pattern[str]:
    return re.compile(r"logins?|basic auth|cred(?:ential)?s?")


@cache
def _pair() -> re.Pattern[str]:
    return re.compile(rf"[\w.@+-]{{1,64}}\s?[/:,|]\s?(?!//)({RAW}{{1,256}})")


@cache
def _rest() -> re.Pattern[str]:
    return re.compile(f"{RAW}*+")


@cache
def _clause_end() -> re.Pattern[str]:
    return re.compile(
        r"\W{0,3}(?:$|\n)|\s?[,;.!)\]}，。；！）]|\s(?:and|or|but|for|on|in|at|und|et|y|e)\b|\s?[&|#]|\s-"
    )


@cache
def _listed() -> re.Pattern[str]:
    return re.compile(r"\s?(?:,|/|、|;)?\s?(?:and |or |und |et |y |和|或)?\s?")


def _secret_words(low: str) -> Iterator[re.Match[str]]:
    """Every word for a secret in ``low``: looked for only near a part that all its forms share."""
    stems = (stem for stem in STEMS if stem.isascii() or not low.isascii())
    for begin, end in around(low, stems, before=_REACH, after=2 * _REACH):
        yield from _words().finditer(low, begin, end)


_REACH = 48
"""Longer than any word for a secret."""


def _places(text: str, mark: str) -> Iterator[int]:
    is_flag = mark.startswith("-")
    at = text.find(mark)
    while at >= 0:
        if not is_flag or text[at - 1 : at].isspace():
            yield at
        at = text.find(mark, at + 1)


def around(text: str, marks: Iterable[str], *, before: int, after: int) -> Iterator[tuple[int, int]]:
    """Spans of ``text`` from ``before`` each place where a mark stands to ``after`` it, none over another."""
    places = sorted(at for mark in marks for at in _places(text, mark))
    number = 0
    while number < len(places):
        first = last = places[number]
        while number < len(places) and places[number] - last <= before + after:
            last = places[number]
            number += 1
        yield max(0, first - before), min(len(text), last + after)


def _named_values(text: str) -> list[Secret]:
    found: list[Secret] = []
    at = 0
    for word in _secret_words(_lowered(text)):
        if word.start() < at or not _counts(text, word):
            continue
        kind = "password" if _password_words().match(word[0]) else "secret"
        for secret in (
            *_value_after(text, word, kind),
            *_value_before(text, word, kind),
            *_random_after(text, word),
        ):
            found.append(secret)
            at = max(at, secret.end if secret.start >= word.end() else at)
    return found


def _value_after(text: str, word: re.Match[str], kind: str) -> list[Secret]:
    link = _link().match(text, word.end())
    if link is None or text.startswith(MASK, link.end()):
        return []
    if _login_words().fullmatch(word[0]):
        pair = _pair().match(text, link.end())
        if pair and not _is_reference(pair[1]) and _is_strong(_trimmed(pair[1])):
            return [Secret(pair.start(1), pair.start(1) + len(_trimmed(pair[1])), "password")]
        if not word[0].startswith("cred"):
            return []
    value = _value().match(text, link.end())
    if value is None:
        return []
    if value["quoted"] is not None:
        return _quoted_value(value, kind, beside=link["beside"] is not None)
    return _raw_value(text, word, link, value, kind)


def _quoted_value(value: re.Match[str], kind: str, *, beside: bool) -> list[Secret]:
    quoted = value["quoted"]
    if not _fits_quoted(quoted, kind) or (beside and kind == "secret" and not _is_strong(quoted, least=8)):
        return []
    return [Secret(value.start("quoted"), value.end("quoted"), kind)]


def _raw_value(
    text: str, word: re.Match[str], link: re.Match[str], value: re.Match[str], kind: str
) -> list[Secret]:
    how = _how(text, word, link)
    start = value.start("raw") if how != "tight" else value.start()
    end = value.end() if how != "tight" else _stop_of_assignment(text, start, value.end())
    trimmed = _trimmed(text[start:end])
    if not trimmed or not _fits(text, start, trimmed, kind, how, word):
        return []
    whole = _rest().match(text, end) if end - start >= 256 else None  # the pattern reads so much and no more
    found = [Secret(start, whole.end() if whole else start + len(trimmed), kind)]
    while how in {"link", "verb"} and (more := _listed().match(text, found[-1].end)) and more[0].strip():
        nearby = _value().match(text, more.end())
        if nearby is None or nearby["raw"] is None or not _is_strong(_trimmed(nearby["raw"]), least=6):
            break
        begin = nearby.start("raw")
        found.append(Secret(begin, begin + len(_trimmed(nearby["raw"])), kind))
    return found


def _how(text: str, word: re.Match[str], link: re.Match[str]) -> str:
    """How word and value are joined, from the surest to the loosest."""
    if link["tag"]:
        return "tight"
    if link["sign"]:
        is_tight = link["sign"] == "=" and link[0].endswith("=") and not link["gap"] and " " not in link[0]
        return "tight" if is_tight else "link"
    if link["beside"]:
        before = text[max(0, word.start() - 32) : word.start()]
        return "flag" if re.search(r"(?:^|\s)--?(?:[\w]+-)*$", before) else "beside"
    if link["verb"]:
        return "to" if link["verb"].lower().endswith("to") else "verb"
    return "link" if link["call"] else "verb"


def _fits(text: str, start: int, value: str, kind: str, how: str, word: re.Match[str]) -> bool:
    """Whether an unquoted ``value`` is a secret's value."""
    if _is_reference(value):
        return False
    if kind == "secret":
        return _fits_key(value, how, word[0], shouted=_is_shouted(text, word))
    if how == "tight":
        return not _is_no_value(value) or (_is_shouted(text, word) and value.lower() in _DEFAULTS)
    if _is_strong(value):
        return True
    is_alone = _clause_end().match(text, start + len(value)) is not None
    if not is_alone or how in {"beside", "to"}:
        return False
    if value.isdigit():
        return len(value) >= 4
    if _is_joined(value):
        return True
    return not _is_no_value(value) and _is_plain_password(value)


_DEFAULTS = frozenset({"secret", "password", "passwd", "admin", "root", "pass"})
"""Words that are the value itself in ``DB_PASSWORD=secret``."""


def _fits_key(value: str, how: str, word: str, *, shouted: bool) -> bool:
    if how == "beside":
        return _is_random(value, least=16)
    if how == "to" and word.endswith("s"):  # "we moved the secrets to X"
        return False
    if how == "tight" and shouted:
        return (
            len(value) >= 4
            and not _is_no_value(value)
            and re.fullmatch(r"[\d.]{1,5}|\d+[a-z]{1,2}", value) is None
        )
    if word.startswith("pin") and re.fullmatch(r"\d{4,8}", value):
        return how in {"verb", "link", "tight"}
    return _is_strong(value, least=6 if how in {"tight", "link", "flag"} else 8)


def _is_shouted(text: str, word: re.Match[str]) -> bool:
    """Whether the word is part of the name of an environment variable."""
    name, before = text[word.start() : word.end()], text[word.start() - 1 : word.start()]
    return name.isupper() and not before.islower()


def _is_joined(value: str) -> bool:
    """Whether words and a number are joined as people make passwords: ``Blue-Harbor-42``, ``winter_24``."""
    parts = re.split(r"[-_.+]", value)
    if len(parts) == 1 or not all(part.isalnum() for part in parts):
        return False
    has_word = any(part.isalpha() and len(part) > 1 for part in parts)
    return has_word and any(part.isdigit() for part in parts) and _algorithm().match(value) is None


@cache
def _algorithm() -> re.Pattern[str]:
    return re.compile(r"(?i)(?:sha|aes|md|utf|iso|rsa|ed|argon|pbkdf|bcrypt|scrypt|base|win|latin)[-_]?\d")


def _is_plain_password(value: str) -> bool:
    """Whether a word without digits can be a password: ``swordfish``, ``four-words-joined-so``."""
    parts = value.split("-")
    if len(parts) == 2:
        return False
    if any(w in value.lower() for w in ("pass", "secret", "token", "cred", "getenv")):
        return False
    return len(value) >= 4 and all(re.fullmatch(r"[A-Z]?[a-z]+", part) for part in parts)


def _fits_quoted(value: str, kind: str) -> bool:
    if _is_reference(value) or _is_no_value(value.strip()):
        return False
    words = value.split()
    if len(words) > 1:
        is_prose = any(w.lower().strip(".,:!?") in FUNCTION_WORDS for w in words)
        is_phrase = kind == "password" and len(value) >= 8
        return not is_prose and (is_phrase or _is_strong(value.replace(" ", "")))
    if kind == "password":
        is_label = re.search(r"(?i)passw|contrase", value) is not None
        return (len(value) >= 3 and not is_label) or _is_strong(value)
    return _is_strong(value, least=6) or (len(value) >= 12 and value.isalpha() and value.islower())


def _value_before(text: str, word: re.Match[str], kind: str) -> list[Secret]:
    """``X is the password``, ``X 是密码``."""
    if not _clause_end().match(text, word.end()):
        return []
    begin = max(0, word.start() - 120)
    match = _before().search(text[begin : word.start()])
    if match is None:
        return []
    value = match["value"]
    trimmed = _trimmed(value).lstrip("*_(\"'`")
    if _is_reference(trimmed) or not _is_strong(trimmed, least=5 if kind == "password" else 8):
        return []
    start = begin + match.start("value") + value.index(trimmed)
    return [Secret(start, start + len(trimmed), kind)]


@cache
def _before() -> re.Pattern[str]:
    return re.compile(
        rf"(?<!\S)(?P<value>\\?[\"'`]?{RAW}{{5,80}}[\"'`]?)(?:\s(?:is|as|was|ist|es|est)\s(?:(?:the|our|my|your|a|das|la|le)\s)?"
        r"(?:[\w'-]{1,20}\s){0,3}|\s?(?:是|就是|作为|が|は)[^\n，。a-zA-Z0-9]{0,12})[\w.-]{0,20}$"
    )


@cache
def _long_token() -> re.Pattern[str]:
    return re.compile(r"(?<![\w/.:@-])[A-Za-z0-9+/_=~-]{20,}")


def _random_after(text: str, word: re.Match[str]) -> list[Secret]:
    """Random values further on in the same sentence; hashes and ids in hex are no secrets there."""
    reach = re.compile(r"(?:[^\n.;!?。；]|\.(?=\S)){0,160}").match(text, word.end())
    assert reach is not None
    found = []
    for token in _long_token().finditer(text, word.end(), reach.end()):
        value = token[0]
        if token.end() == reach.end():
            value = _long_token().match(text, token.start())[0]  # type: ignore[index]
        if not _is_hex(value) and _is_random(value, least=20) and not _is_reference(value):
            found.append(Secret(token.start(), token.start() + len(value), "secret"))
    return found


# --- what a value looks like --------------------------------------------------------------------------------


def _trimmed(value: str) -> str:
    """``value`` without the punctuation of the sentence around it."""
    value = value.rstrip(".,;:*?_|…")
    while (
        value and value[-1] in ")]}" and value.count(value[-1]) > value.count("([{"[")]}".index(value[-1])])
    ):
        value = value[:-1].rstrip(".,;:*?_|…")
    return value


def _stop_of_assignment(text: str, start: int, end: int) -> int:
    """``A=x;B=y`` and ``?a=x&b=y`` end a value; so does a comma before the next name."""
    stop = re.compile(r";|&(?=[\w.-]{1,40}=|&)|,(?=[\w.-]{1,40}=)|\|\|?$").search(text, start, end)
    return stop.start() if stop and stop.start() > start else end


@cache
def _reference() -> re.Pattern[str]:
    return re.compile(
        r"#[0-9a-fA-F]{3,8}$|!\w+$|\$[A-Za-z_]\w*$|\$[{(]|%[A-Za-z_]\w*%|%[sd(]|\{\{?[^{}]*\}?\}?$|#\{|<|\*{3,}|[xX*•.…-]{3,}$|\?+$"
        r"|(?i:your|my|the|some|insert|replace)[-_].*|.*(?i:_here|-here)$|(?i:redacted|masked|hidden|omitted|placeholder)"
        r"|(?:process|import\.meta|os|sys|env|ENV|config|settings|self|this|req|request|secrets|vars|var|local|data|params|args"
        r"|opts|options|props|state|context|github|inputs|ctx)[.\[]"
        r"|[A-Za-z_][\w.:>-]*[(\[]|[a-z]\w*(?:\.[A-Za-z_]\w*)+$|[A-Z][A-Z]*(?:_[A-Z0-9]+)+$|@"
        r"|(?i:https?|op|vault|ssm|arn|file|gs|s3|env|secretsmanager|awssm|akv|keychain|projects):|arn:"
        r"|(?:~|\.{1,2})?/(?:[a-z0-9_.-]*[a-z][a-z0-9_.-]*/?)+$|~/|\./"
        r"|(?:[\w.-]+/)+[\w-]+\.[a-z]{1,4}$|\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$|\d{8}T\d{6}-[0-9a-f]{8}$|[\w.+-]+@[\w-]+\.[\w.]+$"
    )


def _is_reference(value: str) -> bool:
    """Whether ``value`` only points to a secret, or stands in for one."""
    return not value or value == MASK or value in MASK or _reference().match(value) is not None


def _is_no_value(value: str) -> bool:
    """Whether ``value`` is a word that says something of a secret instead of being one."""
    low = value.lower().strip("!?.,:")
    if low in NO_VALUES or _is_ordinary(low):
        return True
    if not low.replace("-", "").replace("_", "").isalpha():
        return False
    return low.rsplit("-", 1)[-1].endswith(NO_VALUE_ENDS) and len(low) > 4


@cache
def _ordinary() -> re.Pattern[str]:
    return re.compile(ORDINARY)


def _is_ordinary(part: str) -> bool:
    return _ordinary().fullmatch(part) is not None and not (part.isdigit() and len(part) >= 4)


def _is_hex(value: str) -> bool:
    return (
        re.fullmatch(
            r"(?:[0-9a-f]{7,}|[0-9A-F]{7,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})", value
        )
        is not None
    )


def _is_strong(value: str, *, least: int = 5) -> bool:
    """Whether ``value`` has the mixed look of a password or a key."""
    if len(value) < least or not re.search(r"[A-Za-z]", value):
        return False
    if _is_hex(value):
        return re.search(r"[0-9]", value) is not None
    if re.search(r"[!#$^&*+=~%]", value.rstrip("!")) and not re.fullmatch(r"[\w.-]+[+*%]+|[+*%=]+\S+", value):
        return len(value) >= max(least, 6)
    if re.fullmatch(r"[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,}", value) and re.search(r"[0-9]", value):
        return True  # a licence key, a recovery code
    for part in re.split(r"[-_./:@,!]+", value):
        if len(part) >= 5 and not part.isalpha() and not part.isdigit() and _has_both(part):
            return True
    return _is_random(value, least=16)


def _has_both(part: str) -> bool:
    """Whether letters and digits mix, in no name or measure that is written so."""
    has_letter, has_digit = re.search(r"[A-Za-z]", part), re.search(r"[0-9]", part)
    return has_letter is not None and has_digit is not None and not _is_ordinary(part.lower())


def _is_random(value: str, *, least: int) -> bool:
    """Whether hardly any of ``value`` reads as words."""
    bare = re.sub(r"[^A-Za-z0-9]", "", value)
    if len(bare) < least or re.fullmatch(r"[\d]+|[A-Z]+|[a-z]+", bare):
        return False
    wordy = sum(
        len(m[0])
        for m in re.finditer(r"[A-Z]?[a-z]{3,}|(?<![A-Za-z0-9])[A-Z]{2,}(?![A-Za-z0-9])", value)
        if re.search(r"[aeiouyAEIOUY]", m[0])
    )
    return wordy / len(bare) < 0.45 and len(set(bare)) >= 6
