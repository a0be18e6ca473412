"""Why something was not kept, in words."""

from cam.core.items import ACTORS

_WHY = {
    **{f"proposed-by-{actor}": f"proposed by {actor}" for actor in ACTORS},
    "agent-contradicts": "an agent said it, and it contradicts what is remembered",
    "agent-taken-out": "an agent said it, and you took it out or said otherwise later",
    "import-agents-md": "from an instruction file of this project",
    "import-claude": "from Claude Code's memory of this project",
    "import-native": "from Codex's own memory",
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
