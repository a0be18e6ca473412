"""From a message to clauses: what a person says for themselves, apart from what they show.

Code, quotations, logs, terminals, tables, markup and pasted documents are set apart: they are shown, not
said. What is left falls into sentences and clauses. Clauses are slices of the message, so a quote of one is
verbatim. Every step is linear in the length of the message.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cam.language.lexicon import Language, in_any_language, spoken_in

BLANK_CODE = "\u00a4"
"""Stands in a shadow for each character of code, a path in backticks or a link."""
BLANK_QUOTE = "\u00a7"
"""Stands in a shadow for each character of a quotation."""

_LONG_LINE = 6_000  # nobody types a longer one
_LONG_MESSAGE = 12_000
_MANY_LINES = 60
_LONG_CLAUSE = 900
_CLAUSE_TAIL = 300


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause as it stands in its message.

    Attributes:
        text: verbatim.
        shadow: the same length, lower case, with code, links and quotations blanked.
        sentence: number of its sentence in the message.
        paragraph: number of its paragraph.
        mark: how its sentence ends: ``?``, ``!``, ``.``, ``:`` or "".
        item: whether it stands in a list.
        lead: index of the clause that introduces its list, -1 without one.
        languages: whose patterns apply.
    """

    text: str
    shadow: str
    sentence: int
    paragraph: int
    mark: str
    item: bool
    lead: int
    languages: tuple[Language, ...]

    def says(self, name: str) -> bool:
        """Whether a pattern called ``name`` occurs in it, in one of its languages."""
        return any(lang.search(name, self.shadow) for lang in self.languages)


@dataclass(frozen=True, slots=True)
class Discourse:
    """A message taken apart.

    Attributes:
        clauses: what its writer says, in order.
        shown: passages that are shown, not said.
    """

    clauses: tuple[Clause, ...]
    shown: tuple[str, ...] = ()


def take_apart(text: str) -> Discourse:
    """Split a message into what is said and what is shown."""
    said, shown = _said_lines(text)
    clauses: list[Clause] = []
    sentence = 0
    lead = -1
    paragraph = -1
    for passage in _passages(text, said):
        if passage.paragraph != paragraph:
            paragraph = passage.paragraph
            if not passage.item:
                lead = -1
        if not passage.item and lead >= 0:
            lead = -1
        for start, end, mark in _with_denials(text, passage.start, passage.end):
            body = text[start:end]
            langs = spoken_in(body, text)
            shade = shadow(body)
            for a, b, anew in _clauses(shade, langs):
                sentence += anew
                if b - a > _LONG_CLAUSE:
                    continue
                clauses.append(
                    Clause(
                        body[a:b],
                        shade[a:b],
                        sentence,
                        passage.paragraph,
                        mark,
                        passage.item,
                        lead if passage.item else -1,
                        langs,
                    )
                )
            sentence += 1
        if not passage.item and clauses and text[passage.start : passage.end].rstrip().endswith((":", "：")):
            lead = len(clauses) - 1
    return Discourse(tuple(clauses), tuple(shown))


_CODE_SPAN = re.compile(r"``[^`\n]{1,400}``|`[^`\n]{1,400}`")
_LINK = re.compile(
    r"(?:https?|wss?|ssh|git|postgres|redis|file)://[^\s<>\"'`，。；、）)\]]+|www\.[^\s<>\"'`，。；、）)]+"
)
_QUOTED = re.compile(
    r"\"[^\"\n]{2,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|「[^」\n]{1,400}」|『[^』\n]{1,400}』"
    r"|(?<![\w])'[^'\n]{2,200}'(?![\w])|‘[^’\n]{2,200}’(?!\w)"
)
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "´": "'", "–": "-", "—": "-", "\u00a0": " ", "\u3000": " ", "\n": " ", "\t": " "}
)


def shadow(text: str) -> str:
    """``text`` in lower case and of the same length, with what is not its writer's own word blanked."""
    dark = _CODE_SPAN.sub(lambda hit: BLANK_CODE * len(hit.group()), text)
    dark = _LINK.sub(lambda hit: BLANK_CODE * len(hit.group()), dark)
    dark = _QUOTED.sub(lambda hit: BLANK_QUOTE * len(hit.group()), dark)
    low = dark.lower()
    return (low if len(low) == len(text) else dark).translate(_PLAIN)


# -- lines: said or shown ----------------------------------------------------------------------------------

_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
_HEADING = re.compile(
    r"\s{0,3}#{1,6}\s+\S|\s{0,3}={4,}\s*$|\s{0,3}-{4,}\s*$|\s{0,3}\*\*[^*\n]{2,60}\*\*:?\s*$"
)
_TAG = re.compile(r"\s*<(/?)([A-Za-z][\w.-]{0,60})(?:\s[^<>\n]{0,300})?>")
_ITEM = re.compile(r"\s*(?:[-*+](?=\s)|[•·‣]|\(?\d{1,2}[.)、]|\(?[a-zA-Z][.)](?=\s)|[①-⑳])\s*(?=\S)")
_SPEAKER = re.compile(
    r"\s*(?:\*\*)?(?:user|human|assistant|system|agent|ai|bot|claude|gpt|chatgpt|gemini|copilot|codex|cursor|"
    r"coderabbit|reviewer|tool|q|a|用户|助手)(?:\*\*)?\s*[:：]\s*\S",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\s*[^\s:：]{1,16}[:：](?!//)\s*\S")  # "anna: ship it"
_LOG = re.compile(
    r"""\s*(?:
      at\s\S{1,200}\s\(|at\s[\w$.<>]+\(|File\s"[^"]{1,300}",\sline\s|Traceback\b|Caused\sby:|goroutine\s\d
    | \[?\d{4}[-/]\d\d[-/]\d\d[T\s]|\[?\d\d:\d\d:\d\d|\[\d+/\d+\]|\[[\w:./-]{2,30}\]\s
    | (?:error|warn(?:ing)?|info|debug|fatal|trace|critical|panic|err|fail(?:ed)?|pass(?:ed)?)\b\s?[\[(:|!]
    | (?-i:Error|ERROR|Warning|WARNING|Fatal|FATAL|Hint|Fehler|Erreur|错误|警告|エラー)\b
      [^.!?。\n]{0,60}[:：]\s?(?!https?:)\S
    | (?:=\s)?\d+\s(?:failed|passed|errors?|warnings?|tests?)\b[^.]{0,40}(?:\sin\s\d|,\s\d+\s\w+|$)
    | [=_*-]{4,}.{0,80}[=_*-]{4,}\s*$|[⠁-⣿]
    | (?-i:[ew]:\s)
    | (?:npm|yarn|pnpm)\s(?:ERR!|error|warn)|ERR_|ELIFECYCLE|(?-i:E\s{2,}\S)
    | (?-i:(?:FAIL|PASS|FAILED|PASSED|ERROR|WARNING|INFO|DEBUG|FATAL)\b)
    | (?-i:[A-Z]{1,2}\s?\(\d+\)\s[\w.-]+:|[VDIWEF]/[\w.-]+)
    | \[?\d+\.\d{3,}\]\s|\w+\(\)\s\w+\s\w+\s\w+\s0x
    | [✓✔✗✘×❌✅⚠●○▶│├└┌┐┘┤╭╰─═║╔╚]
    | [$❯➜%]\s\S|>>>\s|\.\.\.\s{2}|PS\s[A-Z]:\\|[A-Z]:\\[^>\n]{0,200}>
    | \(?[\w.-]*\)?\s?[\w.-]{1,40}@[\w.-]{1,60}[:\s][^\s]{0,100}\s?[$%\#]\s?
    | diff\s--git|index\s[0-9a-f]{6,}|@@\s|\+\+\+\s|---\s[ab/]|[+-]{1,2}\s{0,8}[^\s+-].{0,200}[;{}(),]\s*$
    | [\w.]{1,80}(?:Error|Exception|Warning)\b[:\s(]|\S{1,200}\.\w{1,5}:\d+(?::\d+)?:?\s|\S+\(\d+(?:,\d+)?\):
    | \$?\w+\s?=\s?["'{\[]|"?[\w.-]{1,60}"?:\s?[{\[]\s*$
    | from\s\S{1,80}\simport\b|import\s(?:[{*"']|\S{1,80}\s(?:from|as)\b|[\w.]{1,80};?\s*$)
    | (?:const|let|var|val)\s[\w{\[][^=\n]{0,80}=|(?:async\s)?(?:def|func|fn|function)\s\w*\s?[(<]
    | class\s\w+\s?[:({<]
    | (?:export|public|private|protected|static)\s(?:const|default|function|class|async|static|void|final)\b
    | (?-i:SELECT\s.{1,200}\sFROM\b|INSERT\sINTO\b|CREATE\s(?:TABLE|INDEX)\b|ALTER\sTABLE\b|UPDATE\s\w+\sSET)
    | [{}\[\]()<>]+[,;]?\s*$|["'][\w.-]{1,80}["']\s?:|//|/\*|\*/|<!--|\#!|\#include|@\w+\(
    | (?-i:[A-Z][A-Z0-9_]{2,60}=\S)
    | drwx|-rw|total\s\d+\s*$|exit\s(?:code|status)\b|Process\sexited|Chunk\sID|Wall\stime
    | \d+\s{0,3}[|│]\s
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CODE_END = re.compile(r"[;{}]\s*$|=>\s*\{?\s*$|\)\s*:\s*$|</\w+>\s*$")
_TABLE = re.compile(r"\s*\|.*\|\s*$|\s*[^\n|]{1,200}\t[^\n\t]{1,200}\t")


def _said_lines(text: str) -> tuple[list[tuple[int, int, int]], list[str]]:
    """Spans ``(start, end, paragraph)`` of the lines that are said, and the passages that are shown."""
    lines = _lines(text)
    said: list[tuple[int, int, int]] = []
    shown: list[str] = []
    if len(text) > _LONG_MESSAGE or len(lines) > _MANY_LINES:
        lines = _edges(lines)
    if (len(lines) > 4 or len(text) > 400) and in_any_language("persona", text[:200].lower()):
        return [], [text]  # a prompt template, expanded
    if any(lang.search("role", text[:200].lower()) for lang in spoken_in(text[:200])):
        return [], [text]  # "you are a senior …": what follows is the part to play
    reader = _Reader()
    given = _given_from(text, lines)
    for start, end in lines:
        line = text[start:end]
        if start >= given:
            shown.extend([line] if line.strip() else ())
        elif reader.says(line):
            handed = _handed_on(line)
            said.append((start, start + handed, reader.paragraph))
            if handed < len(line):
                shown.append(line[handed:])
        elif line.strip():
            shown.append(line)
        if reader.over:
            break
    return said, shown


def _given_from(text: str, lines: Sequence[tuple[int, int]]) -> int:
    """Where a text begins that the first lines are about ("got this mail, what should I answer").

    It stands in a paragraph of its own, or as a list, below one or two lines that name a kind of text, or
    what is done with one, and that address no memory. Behind the end where there is none.
    """
    head = ""
    for n, (start, end) in enumerate(lines[:4]):
        line = text[start:end]
        apart = not line.strip() or _ITEM.match(line) is not None or _NAMED.match(line) is not None
        if n and (apart or head.rstrip().endswith((":", "："))):
            after = start
            break
        head += f"{line.lower()}\n"
    else:
        return len(text) + 1
    low = shadow(head)
    if len(head) > 200 or in_any_language("keeps", low):
        return len(text) + 1
    if any(lang.search("of_a_text", low) for lang in spoken_in(head)):
        return after
    return len(text) + 1


class _Reader:
    """What kind of line comes next, given those before it."""

    def __init__(self) -> None:
        self.paragraph = 0
        self.over = False
        self._fence = ""
        self._tag = ""
        self._showing = False  # after "CI says:", until something speaks against it
        self._looks_like_log = True
        self._shown = 0  # lines since the announcement
        self._after_log = False
        self._gap = False
        self._quoted = False

    def says(self, line: str) -> bool:  # noqa: C901, PLR0911, PLR0912 - one question a line, in order
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence.group(1).startswith(self._fence):
                self._fence = ""
            return False
        if fence:
            self._fence = fence.group(1)[:3]
            self._showing = False
            return False
        if self._tag:
            if f"</{self._tag}" in line:
                self._tag = ""
            return False
        if not line.strip():
            self.paragraph += 1
            self._gap = True
            self._after_log = False
            return False
        gap, self._gap = self._gap, False
        tag = _TAG.match(line)
        if tag:
            if not tag.group(1) and f"</{tag.group(2)}" not in line and not line.rstrip().endswith("/>"):
                self._tag = tag.group(2)
            return False
        if _HEADING.match(line):
            # what stands under headings is a document, whoever pasted it
            self.over = True
            return False
        quoted, self._quoted = self._quoted, line.lstrip().startswith(">")
        if len(line) > _LONG_LINE or self._quoted or _TABLE.match(line):
            return False
        if quoted:
            self._showing = False
        if _SPEAKER.match(line) or in_any_language("salutation", line[:60].lower()):
            self._showing, self._looks_like_log = True, False
            return False
        log = _LOG.match(line) is not None or _CODE_END.search(line) is not None
        if log and not _ITEM.match(line):
            self._after_log = True
            self._shown += 1
            return False
        if self._showing:
            if log or not (gap and self._shown and self._looks_like_log):
                self._looks_like_log = self._looks_like_log and (log or line[:1] in " \t")
                self._shown += 1
                return False
            self._showing = False
        if self._after_log and line[:1] in " \t":
            return False
        if _announces(line):
            self._showing, self._looks_like_log, self._shown = True, True, 0
        if line.rstrip().endswith((":", "：")) and in_any_language("hands_over", line[-160:].lower()):
            self._showing, self._looks_like_log = True, False  # a text to work on, to its end
        return True


def _announces(line: str) -> bool:
    """Whether what follows is shown ("CI says:"), and not a list of rules."""
    end = line[-160:].rstrip().lower()
    return end.endswith((":", "：")) and in_any_language("shows", end) and not in_any_language("keeps", end)


def _handed_on(line: str) -> int:
    """Where a text begins that is not its writer's own ("translate: …"); the line's length without one."""
    if ":" not in line and "：" not in line:
        return len(line)
    low = shadow(line)
    ends = [hit.end() for lang in spoken_in(line) if (hit := lang.search("hands_on", low)) is not None]
    return min(ends, default=len(line))


def _lines(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        spans.append((start, end))
        start = end + 1
    return spans


def _edges(lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first lines of something long: what follows is a document."""
    return lines[:4]


# -- passages, sentences, clauses --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Passage:
    start: int
    end: int
    paragraph: int
    item: bool


def _passages(text: str, said: Iterable[tuple[int, int, int]]) -> Iterator[_Passage]:
    """Lines that belong together: a wrapped line continues the one before it."""
    now: _Passage | None = None
    for start, end, paragraph in said:
        item = _ITEM.match(text, start, end)
        first = item.end() if item else start
        if now is not None and item is None and paragraph == now.paragraph and _wraps(text, now, start):
            now = _Passage(now.start, end, paragraph, now.item)
            continue
        if now is not None:
            yield now
        now = _Passage(first, end, paragraph, item is not None)
    if now is not None:
        yield now


def _wraps(text: str, before: _Passage, start: int) -> bool:
    if start != before.end + 1:
        return False
    last = text[before.start : before.end].rstrip()[-1:]
    line_start = text.rfind("\n", before.start, before.end) + 1
    long = before.end - max(line_start, before.start) >= 50
    head = text[start : start + 1]
    if before.item and head in " \t":
        return last not in ".!?。！？"
    return long and head.islower() and last not in ".!?:。！？：；"


_STOP = re.compile(
    r"[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[.!?]+(?=[^\x00-\xff])|[。！？；!?]+[\"'”’」』）)]*|;(?=\s|$)"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.?g|i\.?e|etc|vs|cf|approx|incl|resp|no|nr|nos|z\.\s?b|d\.\s?h|bzw|usw|ca|ggf|p\.\s?ej|ej|env|dr|mr|ms|st|fig|sec|v|ver)$",
    re.IGNORECASE,
)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    body = text[start:end]
    dark = _CODE_SPAN.sub(lambda hit: BLANK_CODE * len(hit.group()), body)
    dark = _QUOTED.sub(lambda hit: BLANK_QUOTE * len(hit.group()), dark)
    begin = 0
    for hit in _STOP.finditer(dark):
        if hit.group().startswith(".") and _ABBREVIATION.search(
            dark[max(begin, hit.start() - 12) : hit.start()]
        ):
            continue
        yield from _sentence(body, start, begin, hit.end(), hit.group())
        begin = hit.end()
    yield from _sentence(body, start, begin, len(body), "")


_SHORT = 32
"""Characters of a sentence that may do no more than deny."""


def _with_denials(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The sentences; one that only says what is not so belongs to the one before ("it is bun. not npm.")."""
    held: tuple[int, int, str] | None = None
    for a, b, mark in _sentences(text, start, end):
        if held is not None:
            if b - a <= _SHORT and held[2] in ".!" and mark != "?" and _only_denies(text[a:b], text):
                held = (held[0], b, held[2])
                continue
            yield held
        held = (a, b, mark)
    if held is not None:
        yield held


def _only_denies(sentence: str, text: str) -> bool:
    return any(lang.search("denies_alone", shadow(sentence)) for lang in spoken_in(sentence, text))


def _sentence(body: str, offset: int, a: int, b: int, stop: str) -> Iterator[tuple[int, int, str]]:
    while a < b and body[a].isspace():
        a += 1
    while b > a and body[b - 1].isspace():
        b -= 1
    if b - a < 2:
        return
    mark = "?" if "?" in stop or "？" in stop else "!" if "!" in stop or "！" in stop else "."
    if not stop:
        mark = ":" if body[b - 1] in ":：" else "?" if body[b - 1] in "?？" else ""
    yield offset + a, offset + b, mark


def _clauses(shade: str, langs: tuple[Language, ...]) -> Iterator[tuple[int, int, bool]]:
    """Spans of the clauses of a sentence, in ``shade``, and whether each begins anew in a run-on."""
    cuts: list[tuple[int, int, bool]] = []  # (end of the clause before, start of the next, whatever they say)
    for lang in langs:
        cuts.extend((hit.start(), hit.end(), False) for hit in lang.finditer("break", shade))
        cuts.extend((hit.start(), hit.end(), True) for hit in lang.finditer("run_on", shade))
    heads = [hit.end() for lang in langs if (hit := lang.search("procedure", shade)) is not None]
    cuts = sorted(cut for cut in cuts if cut[0] < min(heads, default=len(shade)))  # its steps are one
    begin = 0
    anew = False
    spans: list[tuple[int, int, bool]] = []
    for lang in langs:
        hit = lang.search("reaction", shade)
        if hit is not None and hit.end() < len(shade):
            spans.append((0, hit.end(), False))
            begin = hit.end()
            break
    for end, following, always in cuts:
        if end <= begin or following >= len(shade):
            continue
        left, right = shade[begin:end], shade[following:]
        if not always and _belong_together(left, right, langs):
            continue
        spans.append((begin, end, anew))
        begin, anew = following, always
    spans.append((begin, len(shade), anew))
    for first, last, new in spans:
        a, b = _trimmed(shade, first, last)
        if b - a > 1:
            yield a, b, new


def _belong_together(left: str, right: str, langs: tuple[Language, ...]) -> bool:
    """Whether two clauses say one thing: neither stands alone, or one says what replaces the other."""
    if any(lang.search("address_only", right) for lang in langs):
        return False
    if len(left) > _CLAUSE_TAIL:
        left = f"x{left[-_CLAUSE_TAIL:]}"  # how it ends decides; a run of joined clauses stays linear
    return any(
        (lang.search("opens", left) and not lang.search("complete", left))
        or lang.search("clings", right[:80])
        or (lang.search("gives_up", left) and lang.search("takes_up", right[:80]))
        for lang in langs
    )


def _trimmed(shade: str, a: int, b: int) -> tuple[int, int]:
    while a < b and shade[a] in _BEFORE_CLAUSE:
        a += 1
    while b > a and shade[b - 1] in _AFTER_CLAUSE:
        b -= 1
    return a, b


_BEFORE_CLAUSE = " ,，、:：-"
_AFTER_CLAUSE = " ,，、.!?;。！？；…"
