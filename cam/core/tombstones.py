"""Tombstones: what a person deleted or corrected does not come back from a session that is read again."""

import hashlib
import re
import unicodedata

_NOISE = re.compile(r"[\s`*_\"'“”‘’.,;:!?。，、；：！？()（）\[\]「」]+")


def normal(text: str) -> str:
    """``text`` without case, width, white space, punctuation and markup: equal forms say the same."""
    return _NOISE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def tombstone_key(text: str) -> str:
    """SHA-256 (hex) of the normal form of a record's summary."""
    return hashlib.sha256(normal(text).encode("utf-8", "surrogatepass")).hexdigest()
