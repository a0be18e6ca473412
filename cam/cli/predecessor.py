"""What took the place of the predecessor's own commands and options; asked when a line is not understood."""

_QUEUE = "what sync left to you stands in 'cam review'; accept it with 'cam review accept ID'"
_PROPOSALS = "changes to instruction files wait in 'cam review' and are never applied by themselves"

_COMMANDS: dict[tuple[str, ...], str] = {
    ("dream",): f"{_QUEUE}; where a session stopped is in 'cam session status'",
    (
        "dream",
        "build",
    ): "sessions are read by 'cam sync', and where one stopped is saved by 'cam session save'",
    ("dream", "inspect"): "where the last session stopped is shown by 'cam session status'",
    ("dream", "candidates"): _QUEUE,
    ("dream", "review"): "decide with 'cam review accept ID' or 'cam review reject ID'",
    ("dream", "adopt"): "decide with 'cam review accept ID' or 'cam review reject ID'",
    ("dream", "promote"): "decide with 'cam review accept ID'; 'cam memory move REF' puts a record elsewhere",
    ("dream", "promote-prep"): _PROPOSALS,
    ("dream", "proposal"): _PROPOSALS,
    ("dream", "apply-prep"): _PROPOSALS,
    ("dream", "verify-apply"): _PROPOSALS,
    (
        "team",
    ): "a team shares memory as files: 'cam memory export' and 'cam memory import', or a store kept in git",
    ("memory", "reindex"): "indexes follow the Markdown by themselves",
}
_OPTIONS = {
    ("memory", "--enable"): "cam is switched on for a project by 'cam on'",
    ("memory", "--disable"): "cam is switched off for a project by 'cam off'",
    (
        "memory",
        "--config-scope",
    ): "settings are written by 'cam config set NAME VALUE --in user|project|local'",
    ("memory", "--print-startup"): "what Codex would be told is printed by 'cam memory --startup'",
    ("memory", "--recent"): "what was learned, corrected and forgotten last is shown by 'cam log'",
    ("memory", "--scope"): "records of one scope are listed by 'cam memory list --scope SCOPE'",
    ("memory", "--open"): "a record is opened by 'cam memory edit REF'",
    ("forget", "--archive"): "'cam forget' archives; 'cam forget --delete' deletes",
    ("session", "--print-startup"): "what a session would be told is printed by 'cam session load --startup'",
    ("audit", "--no-history"): "the repository's history is read with 'cam audit --repo --history' alone",
    ("audit", "--show-sensitive-snippets"): "findings are always masked",
}


def what_took_its_place(arguments: list[str]) -> str:
    """A line for a command or option of the predecessor, "" where it is none.

    Args:
        arguments: the words of a command line that was not understood.
    """
    words = tuple(word for word in arguments[:2] if not word.startswith("-"))
    for known in (words, words[:1]):
        if known in _COMMANDS:
            return f"{' '.join(known)!r} is of the predecessor: {_COMMANDS[known]}"
    for word in arguments[1:]:
        option = word.partition("=")[0]
        if (arguments[0], option) in _OPTIONS:
            return f"{option!r} is of the predecessor: {_OPTIONS[arguments[0], option]}"
    return ""
