"""What took the place of the predecessor's own commands and options; asked when a line is not understood."""

from itertools import takewhile

_QUEUE = "what sync left to you stands in 'cam review'; accept it with 'cam review accept ID'"
_DECIDE = "decide with 'cam review accept ID' or 'cam review reject ID'"
_PROPOSALS = "changes to instruction files wait in 'cam review' and are never applied by themselves"

_INSTEAD = {
    "dream": f"{_QUEUE}; where a session stopped is in 'cam session status'",
    "dream build": "'cam sync' reads sessions, and 'cam session save' keeps where one stopped",
    "dream inspect": "where the last session stopped is shown by 'cam session status'",
    "dream candidates": _QUEUE,
    "dream review": _DECIDE,
    "dream adopt": _DECIDE,
    "dream promote": f"{_DECIDE}; 'cam memory move REF' puts a record elsewhere",
    "dream promote-prep": _PROPOSALS,
    "dream proposal": _PROPOSALS,
    "dream apply-prep": _PROPOSALS,
    "dream verify-apply": _PROPOSALS,
    "team": "a team shares a store in git, 'cam store git sync', or a file, 'cam memory export'",
    "memory reindex": "indexes follow the Markdown by themselves",
    "memory --enable": "cam is switched on for a project by 'cam on'",
    "memory --disable": "cam is switched off for a project by 'cam off'",
    "memory --config-scope": "settings are written by 'cam config set NAME VALUE --in user|project|local'",
    "memory --print-startup": "what Codex would be told is printed by 'cam memory --startup'",
    "memory --recent": "what was learned, corrected and forgotten last is shown by 'cam log'",
    "memory --scope": "records of one scope are listed by 'cam memory list --scope SCOPE'",
    "memory --open": "a record is opened by 'cam memory edit REF'",
    "forget --archive": "'cam forget' archives; 'cam forget --delete' deletes",
    "session load --print-startup": "what a session would be told is printed by 'cam session load --startup'",
    "audit --no-history": "the repository's history is read with 'cam audit --repo --history' alone",
    "audit --show-sensitive-snippets": "findings are always masked",
}


def what_took_its_place(arguments: list[str]) -> str:
    """A line for a command or option of the predecessor, "" where it is none.

    Args:
        arguments: the words of a command line that was not understood.
    """
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))[:2]
    verb = " ".join(words)
    options = [word.partition("=")[0] for word in arguments if word.startswith("--")]
    named = [verb, *words[:1], *(f"{at} {option}" for option in options for at in (verb, *words[:1]))]
    if len(words) == 2 and words[0] == "memory":
        named = [verb]  # its options are those of the commands in it
    for known in named:
        if known in _INSTEAD:
            return f"'cam {known}' is the predecessor's: {_INSTEAD[known]}"
    return ""
