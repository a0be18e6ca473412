"""One way in for whatever somebody said, on whichever host: an envelope, and what may look into it. Pure.

``ingest`` cuts private spans from every text of the envelope before anything else sees it: no consumer gets
them. What a person says in a rollout comes in this way too (``cam.sync.capture``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from cam.core.errors import InvalidInputError
from cam.core.private import strip
from cam.core.times import instant

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CaptureEnvelope:
    """A text, and where it comes from.

    Attributes:
        source: who runs there: ``claude``, ``codex``, ``hermes``, ``subagent``, or a channel's own name.
        channel: how it came: ``rollout``, ``transcript``, ``message`` …
        captured_at: when it was taken in, ISO-8601 UTC.
        content: the text as it was.
        source_at: when it was said, ISO-8601 UTC; "" where the source does not say.
        valid_from: from when on it holds, "" for always.
        valid_until: until when it holds (exclusive), "" for ever.
        session: the session or conversation, None where there is none.
        cut: private spans that were cut so far.

    Raises:
        InvalidInputError: no source or channel, a time that is none, or an end before its beginning.
    """

    source: str
    channel: str
    captured_at: str
    content: str
    source_at: str = ""
    valid_from: str = ""
    valid_until: str = ""
    session: str | None = None
    cut: int = 0

    def __post_init__(self) -> None:
        if not self.source.strip() or not self.channel.strip():
            raise InvalidInputError("an envelope names its source and its channel")
        instant(self.captured_at)
        times = [instant(t) if t else "" for t in (self.source_at, self.valid_from, self.valid_until)]
        if times[1] and times[2] and times[1] >= times[2]:
            raise InvalidInputError("valid_from is not before valid_until")


def ingest(envelope: CaptureEnvelope, consumer: Callable[[CaptureEnvelope], _T]) -> _T:
    """Hand the envelope to ``consumer``, private spans cut from all its texts.

    Args:
        envelope: as it came.
        consumer: is called once, with what may be seen.

    Returns:
        What the consumer returns.
    """
    content = strip(envelope.content)
    cut = content.count
    names: dict[str, str] = {}
    for name in ("source", "channel", "session"):
        value = getattr(envelope, name)
        if value:
            seen = strip(value)
            if seen.count or seen.text != value:
                names[name] = seen.text.strip() or "[private]"
                cut += seen.count
    if content.text == envelope.content and not names:
        return consumer(envelope)
    return consumer(replace(envelope, content=content.text, cut=envelope.cut + cut, **names))


def envelope_from_data(data: Mapping[str, Any]) -> CaptureEnvelope:
    """Read an envelope from JSON data; closed: a key that it does not have is refused.

    Raises:
        InvalidInputError: a key is unknown or missing, or a value is no text.
    """
    known = [f.name for f in fields(CaptureEnvelope) if f.name != "cut"]
    for key, value in data.items():
        if key not in known:
            raise InvalidInputError(f"an envelope has the keys {', '.join(known)}, no {str(key)[:40]!r}")
        if not isinstance(value, str) and not (key == "session" and value is None):
            raise InvalidInputError(f"{key} is a text")
    missing = [key for key in known[:4] if key not in data]
    if missing:
        raise InvalidInputError(f"an envelope needs {missing[0]}")
    return CaptureEnvelope(**data)
