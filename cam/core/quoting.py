"""Stored text as one line for a model: private spans cut, secrets masked, nothing that could end its line."""

from cam.core.display import one_line

MAX_SUMMARY = 600
"""Characters of one line; longer ones are cut with an ellipsis."""

NOTE = "Note: "
"""Before what the last session noted, where a session is told of it."""

DECISION = "Decision: "
"""Before what was decided, in such a note."""


def shown_summary(summary: str, *, is_clean: bool = False) -> str:
    """A record's summary as it may be told; "" where it holds a private span.

    Args:
        summary: as it is remembered.
        is_clean: it is known to hold neither a private span nor a secret.
    """
    if is_clean:
        return _cut(summary[: MAX_SUMMARY * 2])
    from cam.core.private import strip  # noqa: PLC0415 - before Codex starts, seldom: lines told before are kept
    from cam.core.secrets import mask  # noqa: PLC0415

    stripped = strip(summary)
    if stripped.count:
        return ""
    return _cut(mask(stripped.text[: MAX_SUMMARY * 2]).text)


def quoted_lines(text: str) -> list[str]:
    """A person's notes as lines that begin with ``| ``, blank ones and private spans left out."""
    if not text.strip():
        return []
    from cam.core.private import strip  # noqa: PLC0415 - see above
    from cam.core.secrets import mask  # noqa: PLC0415

    lines = mask(strip(text).text).text.split("\n")
    cleaned = (one_line(line[: MAX_SUMMARY * 2]).strip() for line in lines)
    return [f"| {line[:MAX_SUMMARY]}" for line in cleaned if line]


def _cut(text: str) -> str:
    text = one_line(text).strip()
    return text if len(text) <= MAX_SUMMARY else text[: MAX_SUMMARY - 1] + "…"
