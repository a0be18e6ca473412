"""The receipt: does the rollout hold what the session was to be told? Pure."""

from cam.core.evidence import Message, Provenance, RolloutEvidence
from cam.core.tokens import estimate_tokens
from cam.startup.frame import OPEN
from cam.wrapper.result import InjectionReceipt


def receipt_of(
    evidence: RolloutEvidence, text: str, *, strategy: str, source: str, refs: tuple[str, ...]
) -> InjectionReceipt:
    """Look for ``text`` in the rollout.

    Args:
        evidence: the session.
        text: what it was told last, whole.
        strategy: how it was to travel.
        source: why the session started.
        refs: keys of the records in ``text``.
    """
    session = evidence.meta.session
    told = [i for i in evidence.items if isinstance(i, Message) and i.who is Provenance.HARNESS]
    for message in reversed(told):
        if text in message.text:
            tokens = estimate_tokens(text)
            return InjectionReceipt(session, strategy, source, True, tokens, refs, message.line)  # noqa: FBT003
    partly = any(OPEN in message.text for message in told)
    reason = "Codex shortened it" if partly else "the rollout does not hold it"
    return InjectionReceipt(session, strategy, source, arrived=False, reason=reason)
