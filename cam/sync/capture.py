"""What a person says in a session, taken in as whatever else is: each message in an envelope. Pure.

What others say is no source of facts; where a person agrees to an assistant's words the extractor cuts those.
"""

from dataclasses import replace

from cam.core.capture import CaptureEnvelope, ingest
from cam.core.evidence import EvidenceItem, Message, Provenance, RolloutEvidence
from cam.core.times import EPOCH, stamp


def captured(evidence: RolloutEvidence, now: str) -> RolloutEvidence:
    """``evidence`` as it may be seen: private spans are cut from every message of the person's.

    Args:
        evidence: as it was read.
        now: ISO-8601 UTC.
    """
    meta = evidence.meta
    source = "codex" if meta.is_primary else "subagent"

    def seen(message: EvidenceItem) -> EvidenceItem:
        if not isinstance(message, Message) or message.who is not Provenance.USER:
            return message
        said = stamp(message.at or meta.started_at)
        at = "" if said == EPOCH else said
        envelope = CaptureEnvelope(source, "rollout", now, message.text, source_at=at, session=meta.session)
        text = ingest(envelope, lambda visible: visible.content)
        return message if text == message.text else replace(message, text=text)

    return replace(evidence, items=tuple(map(seen, evidence.items)))
