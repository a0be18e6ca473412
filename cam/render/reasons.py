"""Why something was not kept, in words."""

_WHY = {
    "passing": "said in passing, or seen to run: that overturns nothing",
    "older": "what is known is newer",
    "uncertain": "several records could be meant",
    "tombstone": "you took this out after it was said",
    "superseded": "something else was said later",
    "question": "a question",
    "hypothetical": "a supposition",
    "hedge": "said with a doubt",
    "negated": "not meant to be remembered",
    "reported": "what somebody else said",
    "quotation": "a quotation",
    "task": "a task of that session",
    "temporary": "for that session or a time only",
    "small_talk": "nothing lasting in it",
    "secret": "nothing but a secret",
    "unclear": "what it is about stands elsewhere",
    "nothing-to-forget": "asks to forget what was not remembered",
    "forget-unclear": "asks to forget, and several records could be meant",
    "forget-left-out": "asks to forget; Codex did not think so",
    "stale-command": "a remembered command failed",
    "codex-left-out": "Codex did not choose it",
    "codex-malformed": "Codex's answer is not of the form that was asked for",
    "codex-not-quoted": "Codex quotes nobody",
    "codex-other-words": "Codex says what was not said",
    "codex-turned-round": "Codex says the opposite of what was said",
    "codex-secret": "Codex's words hold a secret",
    "codex-private": "Codex's words hold a private span",
    "codex-unclear": "what it is about stands elsewhere",
    "codex-too-many": "Codex chose too many",
}


def in_words(reason: str) -> str:
    """The short name of a reason as a person reads it."""
    return _WHY.get(reason, reason)
