"""What the arguments behind ``cam run|exec|resume|fork`` ask of Codex, read as far as ``cam`` needs it.

Nothing is changed here. Spellings and order follow Codex's own parser (clap), as its releases 0.58 to 0.171
behave: ``-c x``, ``-cx``, ``-c=x``, ``--config x``, ``--config=x``; options count before and after a
sub-command; a sub-command is recognised behind a prompt too; ``--`` ends options and sub-commands;
``-i FILE…`` takes every word up to the next option.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_SESSION_COMMANDS = {"": "start", "exec": "start", "resume": "resume", "fork": "fork"}
"""Sub-commands that hold a conversation, and what each does with it."""

_OTHER_COMMANDS = frozenset(
    "agents app app-server apply archive cloud cloud-tasks completion debug delete doctor exec-server "
    "execpolicy features generate-ts help login logout mcp mcp-server migrate-nfs-db migrate-rollouts plugin "
    "proto queue remote-control responses-api-proxy review sandbox stdio-to-uds unarchive update".split()
)
"""Sub-commands without a conversation that could be told anything, in any release.

``review`` is among them: newer releases run no SessionStart hook for it.
"""

_ALIASES = {"e": "exec", "a": "apply"}
_EXEC_COMMANDS = frozenset({"resume", "fork", "review", "help"})

_SHORT_WITH_VALUE = {
    "c": "config",
    "m": "model",
    "p": "profile",
    "s": "sandbox",
    "a": "ask-for-approval",
    "C": "cd",
    "i": "image",
    "o": "output-last-message",
}
_LONG_WITH_VALUE = frozenset(_SHORT_WITH_VALUE.values()) | frozenset(
    "add-dir local-provider enable disable remote remote-auth-token-env thread-source cyber-access-program "
    "output-schema color".split()
)
_SHORT_FLAGS = {"h": "help", "V": "version"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option that takes a value.

    Attributes:
        name: its long name without dashes.
        value: the value as Codex gets it.
        start: index of its first word in the argument list.
        stop: index behind its last word.
        level: how many sub-commands stand before it.
    """

    name: str
    value: str
    start: int
    stop: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class CodexCall:
    """The arguments and what they mean.

    Attributes:
        arguments: every word, untouched.
        command: first sub-command by its long name, ``""`` for the TUI.
        action: ``start``, ``resume`` or ``fork`` a conversation; ``""`` where there is none (``mcp``,
            ``--version`` …), or none that can be told anything.
        options: options with their values, in the order in which Codex applies them.
        flags: long names of options without a value.
        session: session id or name to resume or fork, where given.
        prompt: the prompt, where given as an argument.
    """

    arguments: tuple[str, ...]
    command: str = ""
    action: str = "start"
    options: tuple[Option, ...] = ()
    flags: frozenset[str] = frozenset()
    session: str | None = None
    prompt: str | None = None

    @property
    def is_session(self) -> bool:
        """Whether a conversation follows that a payload can reach."""
        return self.action != ""

    @property
    def directory(self) -> str | None:
        """``--cd``, as written."""
        return self._last("cd")

    @property
    def profile(self) -> str | None:
        """``--profile``."""
        return self._last("profile")

    @property
    def is_ephemeral(self) -> bool:
        """Whether no rollout will be written."""
        return "ephemeral" in self.flags

    @property
    def settings(self) -> tuple[tuple[tuple[str, ...], str, Option], ...]:
        """``-c key=value`` in order: the key's parts as Codex splits them, the value's text, the option.

        Codex trims key and value, splits the key at every dot and knows no quotes in it.
        """
        found = []
        for option in self.options:
            key, equals, value = option.value.partition("=")
            if option.name == "config" and equals and key.strip():
                found.append((tuple(key.strip().split(".")), value.strip(), option))
        return tuple(found)

    @property
    def toggles(self) -> dict[str, bool]:
        """Features that ``--enable`` and ``--disable`` switch."""
        return {o.value: o.name == "enable" for o in self.options if o.name in {"enable", "disable"}}

    def _last(self, name: str) -> str | None:
        return next((o.value for o in reversed(self.options) if o.name == name), None)


def parse_arguments(arguments: Sequence[str]) -> CodexCall:
    """Read Codex's arguments.

    Args:
        arguments: everything behind ``codex``, the sub-command included.

    Returns:
        The call. Words that no release knows are taken as Codex would most likely take them; a faulty list is
        Codex's to refuse.
    """
    words = tuple(arguments)
    path: list[str] = []
    positional: list[str] = []
    options: list[Option] = []
    flags: set[str] = set()
    index = 0
    while index < len(words):
        word = words[index]
        if word == "--":
            positional += words[index + 1 :]
            break
        if word.startswith("-") and word != "-":
            index = _read_option(words, index, len(path), options, flags)
            continue
        index += 1
        command = _sub_command(path, word)
        if command is None:
            positional.append(word)
            continue
        path.append(command)
        positional = []
        if path[-1] not in _SESSION_COMMANDS:
            break
    action = _SESSION_COMMANDS.get(path[-1] if path else "", "")
    if flags & {"help", "version"}:
        action = ""
    session, prompt = _positional(action, positional, is_last="last" in flags)
    return CodexCall(
        words, path[0] if path else "", action, tuple(options), frozenset(flags), session, prompt
    )


def with_setting(call: CodexCall, setting: str, instead_of: Sequence[Option] = ()) -> tuple[str, ...]:
    """The call's arguments with ``-c setting`` in them, less the words of ``instead_of``.

    The flag goes beside the user's own ``-c`` behind the most sub-commands, or to the front: releases up to
    0.150 at least drop every ``-c`` before a sub-command that has one of its own.
    """
    theirs = [option for option in call.options if option.name == "config"]
    place = max(theirs, key=lambda option: option.level).start if theirs else 0
    gone = {index for option in instead_of for index in range(option.start, option.stop)}
    before = (word for index, word in enumerate(call.arguments[:place]) if index not in gone)
    behind = (word for index, word in enumerate(call.arguments[place:], place) if index not in gone)
    return (*before, "-c", setting, *behind)


def _read_option(
    words: tuple[str, ...], index: int, level: int, options: list[Option], flags: set[str]
) -> int:
    """Read the option at ``index`` and return the index behind it."""
    word = words[index]
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        takes_value = name in _LONG_WITH_VALUE
        attached = value if equals else None
    else:
        # Short flags may stand together; the first that takes a value takes the rest of the word.
        at = next((i for i in range(1, len(word)) if word[i] in _SHORT_WITH_VALUE), len(word))
        flags.update(_SHORT_FLAGS.get(letter, letter) for letter in word[1:at])
        takes_value = at < len(word)
        name = _SHORT_WITH_VALUE[word[at]] if takes_value else ""
        attached = word[at + 1 :].removeprefix("=") if word[at + 1 :] else None
    if not takes_value:
        if name:
            flags.add(name)
        return index + 1
    if attached is not None:
        options.append(Option(name, attached, index, index + 1, level))
        return index + 1
    stop = index + 2
    if name == "image":
        while stop < len(words) and not words[stop].startswith("-"):
            stop += 1
    if index + 1 < len(words):
        options.append(Option(name, words[index + 1], index, stop, level))
    return stop


def _sub_command(path: list[str], word: str) -> str | None:
    """The sub-command that ``word`` names below ``path``, if any."""
    if not path:
        word = _ALIASES.get(word, word)
        return word if word in _OTHER_COMMANDS or (word and word in _SESSION_COMMANDS) else None
    if path == ["exec"]:
        return word if word in _EXEC_COMMANDS else None
    return None


def _positional(action: str, words: list[str], *, is_last: bool) -> tuple[str | None, str | None]:
    """Session and prompt."""
    if action == "" or not words:
        return None, None
    session = None if action == "start" or is_last else words[0]
    prompt = next(iter(words[session is not None :]), None)
    return session, None if prompt == "-" else prompt
