"""What a compaction's summary left out of its session: exact commands, paths and decisions. Pure.

Codex goes on with the person's latest messages and a summary; what ran, which files changed and what was
decided is known from then on as far as the summary says it. Whatever stands there in the same words is not
told again.
"""

from collections.abc import Iterable, Iterator

from cam.continuity import words
from cam.continuity.findings import decisions, last_of_kind, open_failures
from cam.continuity.said import Piece, bare, clean, code, covers, exact_names, paths, pieces, same
from cam.continuity.session import Session, read_session
from cam.core.evidence import EvidenceItem, Message, Provenance, RolloutEvidence
from cam.core.tokens import estimate_tokens

KEPT_TOKENS = 20_000
"""Of the person's latest messages, which Codex keeps beside the summary."""

_MOST_LINES = 60
_MOST_LETTERS = 600
_FILES_A_LINE = 8


def lost_lines(evidence: RolloutEvidence, root: str | None) -> tuple[str, ...]:
    """What the last compaction lost, the most useful line first; () where there was none.

    Args:
        evidence: the session so far.
        root: folder to which files are named relatively.
    """
    at = max((n for n, item in enumerate(evidence.items) if _is_summary(item)), default=-1)
    if at < 0:
        return ()
    summary = evidence.items[at]
    assert isinstance(summary, Message)
    before = evidence.items[:at]
    kept = _Kept([clean(summary.text), *_kept_messages(before)])
    found: list[str] = []
    for line in _lines(read_session(before, root), kept):
        if len(line) <= _MOST_LETTERS and line not in found:
            found.append(line)
        if len(found) >= _MOST_LINES:
            break
    return tuple(found)


class _Kept:
    """What the model still has before it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.text = "\n".join(texts)
        self._pieces = [piece.text for piece in pieces(self.text)]

    def holds(self, exact: str) -> bool:
        """Whether ``exact`` stands there letter by letter."""
        return exact in self.text

    def says(self, text: str) -> bool:
        """Whether it is said there, with every exact name and value of ``text``."""
        return all(self.holds(name) for name in exact_names(text)) and any(
            covers(text, piece) for piece in self._pieces
        )


def _lines(session: Session, kept: _Kept) -> Iterator[str]:
    """Decisions, commands, files; then what else the assistant said in exact words."""
    decided = decisions(session, most=_MOST_LINES, letters=_MOST_LETTERS, all_of_it=True)
    for text in decided:
        if not kept.says(text):
            yield f"Decision: {text}"
    for run in open_failures(session.runs):
        if not kept.holds(run.command):
            yield f"Failed: `{run.command}`" + (f" ({run.says})" if run.says else "")
    for run in (*last_of_kind(session.runs), *reversed(session.runs)):
        if run.passed and not kept.holds(run.command):
            yield f"Works: `{run.command}`"
    yield from _changed([name for name in reversed(session.files) if not kept.holds(name)])
    for piece in _exact_words(session):
        if not (kept.says(piece.text) or any(same(piece.text, text) for text in decided)):
            yield bare(piece.text)


def _changed(names: list[str]) -> Iterator[str]:
    for start in range(0, len(names), _FILES_A_LINE):
        yield "Changed: " + ", ".join(f"`{name}`" for name in names[start : start + _FILES_A_LINE])


def _exact_words(session: Session) -> Iterator[Piece]:
    """What the assistant said at the end of its turns with names or values in it, the newest first."""
    for _, said, ends in reversed(session.said):
        for piece in said if ends else ():
            if (code(piece.text) or paths(piece.text)) and not words.find("offer", piece.shade):
                yield piece


def _kept_messages(items: tuple[EvidenceItem, ...]) -> Iterator[str]:
    room = KEPT_TOKENS
    for item in reversed(items):
        if isinstance(item, Message) and item.who is Provenance.USER:
            room -= estimate_tokens(item.text)
            if room < 0:
                return
            yield clean(item.text)


def _is_summary(item: EvidenceItem) -> bool:
    return isinstance(item, Message) and item.who is Provenance.HARNESS and item.kind == "summary"
