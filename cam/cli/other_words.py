"""Words that are no command of cam: the predecessor's own, and those that people try; what to type instead.

Asked only when a line is not understood.
"""

from collections.abc import Collection
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


TRIED = {
    "export": "memory is written into one file by 'cam memory export'",
    "list": "what is remembered is listed by 'cam memory list'",
    "ls": "what is remembered is listed by 'cam memory list'",
    "show": "one record is shown by 'cam memory show REF'",
    "get": "one record is shown by 'cam memory show REF', a setting by 'cam config get NAME'",
    "view": "one record is shown by 'cam memory show REF'",
    "cat": "one record is shown by 'cam memory show REF'",
    "edit": "a record is edited by 'cam memory edit REF', the settings by 'cam config edit'",
    "update": "a record is edited by 'cam memory edit REF'",
    "open": "a record is edited by 'cam memory edit REF'",
    "diff": "what changed in memory is shown by 'cam memory diff --since 7d'",
    "move": "a record is put elsewhere by 'cam memory move REF', a project's memory by 'cam project move'",
    "mv": "a record is put elsewhere by 'cam memory move REF'",
    "rename": "a record is put elsewhere by 'cam memory move REF', a project's memory by 'cam project move'",
    "merge": "two records become one by 'cam memory merge REF REF', two projects by 'cam project merge'",
    "link": "two records are linked by 'cam memory link REF REF'",
    "unlink": "a link is taken away by 'cam memory unlink REF REF'",
    "pin": "a record is told first by 'cam memory pin REF'",
    "unpin": "a pin is taken away by 'cam memory unpin REF'",
    "archive": "a record is archived by 'cam memory archive REF' or 'cam forget REF'",
    "restore": "an archived record comes back by 'cam memory restore REF'",
    "search": "memory is searched by 'cam recall search WORDS'",
    "find": "memory is searched by 'cam recall search WORDS'",
    "grep": "memory is searched by 'cam recall search WORDS'",
    "timeline": "what stood around a record in time is shown by 'cam recall timeline REF'",
    "details": "records are shown whole by 'cam recall details REF'",
    "add": "a fact is remembered by 'cam remember TEXT'",
    "note": "a fact is remembered by 'cam remember TEXT'",
    "new": "a fact is remembered by 'cam remember TEXT'",
    "save": "a fact is remembered by 'cam remember TEXT'; where a session stopped by 'cam session save'",
    "learn": "a fact is remembered by 'cam remember TEXT', sessions are learned from by 'cam sync'",
    "load": "where the last session stopped is told by 'cam session load'",
    "continue": "the last session goes on with 'cam resume --last'",
    "delete": "a record is deleted by 'cam forget REF --delete'",
    "del": "a record is deleted by 'cam forget REF --delete'",
    "rm": "a record is archived by 'cam forget REF', deleted with --delete",
    "remove": "a record is archived by 'cam forget REF'; cam itself goes by 'cam uninstall'",
    "clear": "a record is forgotten by 'cam forget REF', what is old cleared by 'cam gc'",
    "purge": "a project's memory is deleted by 'cam project purge'",
    "clean": "what is old is cleared by 'cam gc'",
    "prune": "what is old is cleared by 'cam gc'",
    "erase": "a text is erased for good by 'cam forget REF --erase'",
    "redo": "an undo is taken back by 'cam undo CHANGE', which the undo named as 'redo'",
    "revert": "the last change is taken back by 'cam undo'",
    "history": "what was learned and forgotten is shown by 'cam log', one record's story by 'cam why REF'",
    "explain": "a record's story is told by 'cam why REF'",
    "blame": "a record's story is told by 'cam why REF'",
    "accept": "what waits is accepted by 'cam review accept ID'",
    "reject": "what waits is rejected by 'cam review reject ID'",
    "status": "what is wrong is shown by 'cam doctor', what is remembered by 'cam memory'",
    "info": "what is wrong is shown by 'cam doctor', what is remembered by 'cam memory'",
    "check": "what is wrong is shown by 'cam doctor', the store's files are checked by 'cam store verify'",
    "verify": "the store's files are checked by 'cam store verify'",
    "settings": "settings are shown by 'cam config list'",
    "set": "a setting is changed by 'cam config set NAME VALUE'",
    "install": "plain codex gets memory by 'cam integrations install'",
    "setup": "the settings file and the store are made by 'cam init'",
    "enable": "cam is switched on for a project by 'cam on'",
    "disable": "cam is switched off for a project by 'cam off'",
    "serve": "memory is served to agents by 'cam mcp serve'",
    "rebuild": "the search index is made anew by 'cam recall rebuild'",
    "backup": "one file of it is written by 'cam memory export'; 'cam store git init' keeps the store in git",
    "git": "the store is kept in git by 'cam store git init' and 'cam store git sync'",
    "push": "a store that is kept in git is shared by 'cam store git sync'",
    "pull": "a store that is kept in git is shared by 'cam store git sync'",
    "version": "the version is printed by 'cam --version'",
    "completions": "a shell's completion is printed by 'cam completion'",
    "projects": "projects are listed by 'cam project list'",
    "memories": "what is remembered is listed by 'cam memory list'",
    "memory get": "one record is shown by 'cam memory show REF'",
    "memory status": "what is remembered is counted by 'cam memory'",
    "memory set": "a record is edited by 'cam memory edit REF'",
    "store sync": "a store that is kept in git is shared by 'cam store git sync'",
    "import": "a file of 'cam memory export', or a list, is taken in by 'cam memory import FILE'",
}
"""By the word that stands for a command, or by group and word; a group alone is for a file behind it."""


def what_to_type(arguments: list[str], verbs: Collection[str], *, is_unknown: bool) -> str:
    """A line for what is no command or option of cam but the predecessor's, or a word that people try.

    Args:
        arguments: the words of a command line that was not understood.
        verbs: the commands that there are.
        is_unknown: the command itself, or the group's, was not understood, not what stands behind it.

    Returns:
        "" where nothing is known of it.
    """
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))[:2]
    return _predecessors(words, arguments) or (_tried(words, verbs) if words and is_unknown else "")


def _tried(words: list[str], verbs: Collection[str]) -> str:
    typed, last = " ".join(words), words[-1]
    if words[0] not in verbs:
        typed, instead = words[0], TRIED.get(words[0])
    else:
        instead = TRIED.get(typed)
        if instead is None and words[0] == "memory":
            instead = f"that is 'cam {last}'" if last in verbs else TRIED.get(last)
        if instead is None and ("." in last or "/" in last):  # a file; another word may be mistyped
            instead = TRIED.get(words[0])
    return f"there is no command {typed!r}; {instead}" if instead else ""


def _predecessors(words: list[str], arguments: list[str]) -> str:
    verb = " ".join(words)
    options = [word.partition("=")[0] for word in arguments if word.startswith("--")]
    named = [verb, *words[:1], *(f"{at} {option}" for option in options for at in (verb, *words[:1]))]
    if len(words) == 2 and words[0] == "memory":
        named = [verb]  # its options are those of the commands in it
    for known in named:
        if known in _INSTEAD:
            return f"'cam {known}' is the predecessor's: {_INSTEAD[known]}"
    return ""
