"""Looking through bytes for secrets and personal paths: in pieces, so that any size takes the same memory.

Text is read line by line; UTF-16 is known by its mark. Of what is no text the printable runs are looked at,
and it is named as such. A line that was clean once is not looked at again: versions of one file share most.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cam.core.display import one_line
from cam.core.personal import find_personal_paths
from cam.core.secrets import MASK, Secret, find

PERSONAL = "personal-path"

_BLOCK = 4_096  # characters; larger ones are slower, as more forms of secrets have to be tried on them
_PIECE = 65_536
_OVERLAP = 2_048  # of the pieces of an endless line, so that nothing is cut in two unseen
_REMEMBERED = 400_000  # clean lines
_AROUND = 48
_RUN = re.compile(rb"[\x20-\x7e\t]{6,}")


@dataclass(frozen=True, slots=True)
class Hit:
    """One secret or personal path.

    Attributes:
        kind: of the secret, or ``personal-path``.
        line: 1-based line, 0 where there are no lines.
        excerpt: the words around it, with everything that must not be shown masked.
    """

    kind: str
    line: int
    excerpt: str


class Scanner:
    """Looks through streams of bytes.

    Args:
        home: the home folder of the person who asks.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._clean: set[int] = set()

    def scan(self, chunks: Iterable[bytes]) -> tuple[list[Hit], int, bool]:
        """Hits in a stream, the bytes it had, and whether it is no text."""
        counted = _Counted(chunks)
        head, rest = _begin(counted)
        encoding = _encoding(head)
        hits: list[Hit] = []
        if encoding is None:
            runs = _runs(_again(head, rest))
            hits += self._lines((run.decode("ascii"), 0) for run in runs)
        else:
            numbered = _decoded_lines(_again(head, rest), encoding)
            hits += self._lines(numbered)
        return hits, counted.size, encoding is None

    def scan_text(self, text: str) -> list[Hit]:
        """Hits in a short text, such as a name."""
        return list(self._block([(one_line(text), 0)]))

    def mask(self, text: str) -> str:
        """``text`` as it may be shown."""
        return _masked(one_line(text), self._spans(one_line(text)))

    def _lines(self, lines: Iterable[tuple[str, int]]) -> Iterator[Hit]:
        block: list[tuple[str, int]] = []
        size = 0
        for line, number in lines:
            if len(line) < 4 or hash(line) in self._clean:
                if block and block[-1][0]:
                    block.append(("", number))  # what did not stand together is not read together
                continue
            block.append((line, number))
            size += len(line)
            if size >= _BLOCK:
                yield from self._block(block)
                block, size = [], 0
        yield from self._block(block)

    def _block(self, block: list[tuple[str, int]]) -> Iterator[Hit]:
        if not block:
            return
        text = "\n".join(line for line, _ in block)
        spans = self._spans(text)
        starts = [0]
        for line, _ in block:
            starts.append(starts[-1] + len(line) + 1)
        dirty: set[int] = set()
        for span in spans:
            first = bisect_right(starts, span.start) - 1
            dirty.update(range(first, bisect_right(starts, max(span.start, span.end - 1))))
            yield Hit(span.kind, block[first][1], _excerpt(text, span, spans))
        if len(self._clean) > _REMEMBERED:
            self._clean.clear()
        self._clean.update(hash(line) for n, (line, _) in enumerate(block) if n not in dirty)

    def _spans(self, text: str) -> list[Secret]:
        """Secrets and personal paths, in order, none overlapping another."""
        spans: list[Secret] = []
        paths = [Secret(p.start, p.end, PERSONAL) for p in find_personal_paths(text, self._home)]
        for span in sorted((*find(text), *paths), key=lambda s: (s.start, -s.end)):
            if not spans or span.start >= spans[-1].end:
                spans.append(span)
        return spans


class _Counted:
    """Chunks, and how many bytes went by."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self.size = 0

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> bytes:
        chunk = next(self._chunks)
        self.size += len(chunk)
        return chunk


def _begin(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= 8_192:
            break
    return head, chunks


def _again(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def _encoding(head: bytes) -> str | None:
    """How text is written; None for what is no text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) and not head.startswith(b"\xff\xfe\0\0"):
        return "utf-16"
    return None if b"\0" in head else "utf-8"


def _decoded_lines(chunks: Iterator[bytes], encoding: str) -> Iterator[tuple[str, int]]:
    """Lines with their numbers; an endless line comes in pieces that overlap."""
    import codecs  # noqa: PLC0415

    decoder = codecs.getincrementaldecoder(encoding)("replace")
    number, rest = 1, ""
    for chunk in chunks:
        lines = (rest + decoder.decode(chunk)).split("\n")
        rest = lines.pop()
        for line in lines:
            for piece in _pieces(line):
                yield piece, number
            number += 1
        while len(rest) > _PIECE:
            yield rest[:_PIECE], number
            rest = rest[_PIECE - _OVERLAP :]
    for piece in _pieces(rest + decoder.decode(b"", final=True)):
        yield piece, number


def _pieces(line: str) -> Iterator[str]:
    while len(line) > _PIECE:
        yield line[:_PIECE]
        line = line[_PIECE - _OVERLAP :]
    yield line


def _runs(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Printable runs of what is no text."""
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        cut = max(len(data) - _OVERLAP, 0)
        tail = len(data)
        for run in _RUN.finditer(data):
            if run.end() == len(data) and run.start() >= cut:
                tail = run.start()  # it may go on in the next chunk
                break
            yield from (run[0][a : a + _PIECE] for a in range(0, len(run[0]), _PIECE - _OVERLAP))
        rest = data[tail:]
    yield from (run[0] for run in _RUN.finditer(rest))


def _masked(text: str, spans: Iterable[Secret]) -> str:
    pieces, at = [], 0
    for span in spans:
        pieces += [text[at : span.start], MASK]
        at = span.end
    return "".join((*pieces, text[at:]))


def _excerpt(text: str, span: Secret, spans: list[Secret]) -> str:
    """The line around ``span``, shortened, with every span in it masked."""
    begin = max(text.rfind("\n", 0, span.start) + 1, span.start - _AROUND)
    line_end = text.find("\n", span.end)
    end = min(len(text) if line_end < 0 else line_end, span.end + _AROUND)
    pieces, at = [], begin
    for other in spans:
        if other.end <= begin or other.start >= end:
            continue
        pieces += [text[at : max(at, other.start)], MASK]
        at = min(other.end, end) if other.end > end else other.end
    return one_line(" ".join("".join((*pieces, text[at:end])).split()))
