"""Records as they may be seen: private spans cut, secrets masked, whoever wrote them. Pure."""

from collections.abc import Callable
from dataclasses import replace

from cam.core.ranking import Hit
from cam.core.records import MemoryRecord
from cam.core.tokens import estimate_tokens
from cam.recall.result import Card, CardProvenance, Shown

PathOf = Callable[[MemoryRecord], str]


def shown(found: tuple[MemoryRecord, bool], path_of: PathOf) -> Shown:
    """A record and whether it is known to be clean, as it may be seen."""
    record, is_clean = found
    path = path_of(record)
    cut = masked = 0
    if not is_clean:
        text, cut, masked = screened(record.text)
        reason, spans, secrets = screened(record.reason) if record.reason else ("", 0, 0)
        cut, masked = cut + spans, masked + secrets
        if cut or masked:
            summary, *details = text.split("\n")
            record = replace(
                record,
                summary=summary.strip() or "[private]",
                details=tuple(line for line in details if line.strip()),
                reason=reason,
            )
    return Shown(record, path, estimate_tokens(record.text), cut, masked)


def card(seen: Shown, hit: Hit | None = None) -> Card:
    """The card of a record; why it matched, where a search found it."""
    record = seen.record
    newest = record.sources[-1] if record.sources else None
    session = next((s.session for s in reversed(record.sources) if s.session), None)
    return Card(
        record.ref,
        record.type,
        record.summary.strip(),
        record.created_at,
        record.updated_at,
        CardProvenance(newest.kind if newest else "", session, seen.path),
        hit.score if hit else 0.0,
        hit.fields if hit else (),
        hit.terms if hit else (),
        seen.est_tokens,
    )


def screened(text: str) -> tuple[str, int, int]:
    """A text as it may be seen, the private spans it lost, and the secrets masked in it."""
    from cam.core.private import strip  # noqa: PLC0415 - only what nobody has looked at
    from cam.core.secrets import mask  # noqa: PLC0415

    stripped = strip(text)
    masked = mask(stripped.text)
    return masked.text, stripped.count, masked.count
