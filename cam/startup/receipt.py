"""The receipt: does the rollout hold what the session was to be told? Pure."""

from cam.core.evidence import Message, Provenance, RolloutEvidence
from cam.core.tokens import estimate_tokens
from cam.formats.receipts import InjectionReceipt
from cam.startup.use import prompted_in, use_in

_HEAD = 100
"""Characters of a text by which what is left of it is known."""


def receipt_of(
    evidence: RolloutEvidence, text: str, *, strategy: str, source: str, lines: dict[str, str]
) -> InjectionReceipt:
    """Look for ``text`` in the rollout, and for what the model did with it.

    Args:
        evidence: the session.
        text: what it was told last, whole.
        strategy: how it was to travel.
        source: why the session started.
        lines: texts of the records in ``text``, by key ``scope:topic:id``.
    """
    session = evidence.meta.session
    recalled, cited = use_in(evidence, lines)
    prompted, spent = prompted_in(evidence)
    told = [i for i in evidence.items if isinstance(i, Message) and i.who is Provenance.HARNESS]
    for message in reversed(told):
        if text in message.text:
            return InjectionReceipt(
                session, strategy, source, arrived=True, tokens=estimate_tokens(text) + spent,
                refs=tuple(dict.fromkeys((*lines, *prompted))),
                line=message.line, recalled=recalled, cited=cited,
            )  # fmt: skip
    is_partly_there = any(text[:_HEAD] in message.text for message in told)
    reason = (
        "Codex shortened it; lower max_startup_tokens" if is_partly_there else "the rollout does not hold it"
    )
    return InjectionReceipt(session, strategy, source, arrived=False, reason=reason, recalled=recalled)
