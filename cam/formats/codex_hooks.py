"""Codex's hooks: ``hooks.json`` (``{"hooks": {Event: [{"matcher"?, "hooks": [handler]}]}}``), keys and trust.

A hook's key is ``<real path of its file>:<event in snake case>:<group>:<handler>``. Codex trusts it by a hash
of its handler: SHA-256 of the compact JSON with sorted keys, defaults filled in.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from json import dumps
from typing import Any

from cam.formats.json_text import add, parse_json, remove, render_json, replace

EVENTS = {
    "SessionStart": "session-start",
    "SessionEnd": "session-end",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "UserPromptSubmit": "user-prompt-submit",
}
"""Codex's name of an event, and the word that ``cam hook`` takes for it."""

CONTEXT_LIMIT = 50_000
"""Tokens that a handler of ours asks for: some 200 KB."""

CONTEXT_LIMIT_SINCE = (0, 145, 0)
"""From here on a handler may raise the limit on its text, and the limit is part of its hash."""

_TIMEOUTS = {"session_end": 1}
_TIMEOUT = 600
_OURS = re.compile(
    rf"(?:^|[\s/\\\"'])(?:cam|-m cam)(?:\.exe)?[\"']?\s+hook\s+({'|'.join(EVENTS.values())})(?![\w-]| --run)"
)


@dataclass(frozen=True, slots=True)
class OurHook:
    """A hook of cam's in a file.

    Attributes:
        event: Codex's name of it.
        group: number of its group among those of the event.
        index: number of its handler in the group.
        handler: as it stands there.
        is_alone: whether its group holds nothing else.
    """

    event: str
    group: int
    index: int
    handler: dict[str, Any]
    is_alone: bool

    def key(self, path: str) -> str:
        """The key by which Codex knows it; ``path`` is the real one of its file."""
        return hook_key(path, self.event, self.group, self.index)


def snake(event: str) -> str:
    """``SessionStart`` → ``session_start``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def hook_key(path: str, event: str, group: int, index: int = 0) -> str:
    """The key of a hook."""
    return f"{path}:{snake(event)}:{group}:{index}"


def hook_hash(event: str, handler: dict[str, Any], matcher: str | None = None) -> str:
    """The hash under which Codex trusts a command hook.

    Args:
        event: in snake case, such as ``session_start``.
        handler: as configured; ``async`` and ``timeout`` (seconds) count with their defaults where absent.
        matcher: the group's, where it has one.
    """
    filled = {"async": False, "timeout": _TIMEOUTS.get(event, _TIMEOUT), **handler}
    group: dict[str, Any] = {"event_name": event, "hooks": [filled]}
    if matcher is not None:
        group["matcher"] = matcher
    text = dumps(group, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def known_to(version: tuple[int, int, int] | None, handler: dict[str, Any]) -> dict[str, Any]:
    """The handler as that release reads it: what it does not know is no part of the hash."""
    if version is None or version >= CONTEXT_LIMIT_SINCE:
        return handler
    return {key: value for key, value in handler.items() if key != "additionalContextLimit"}


def our_hooks(text: str, where: str) -> tuple[OurHook, ...]:
    """The hooks of cam's in a hooks file, in order.

    Raises:
        ValueError: the file is no hooks file; the message has file and line.
    """
    return tuple(
        OurHook(event, number, index, handler, len(group["hooks"]) == 1 and group.keys() == {"hooks"})
        for event, groups in _events(text, where).items()
        for number, group in enumerate(groups)
        for index, handler in enumerate(group["hooks"])
        if isinstance(handler, dict) and _OURS.search(str(handler.get("command") or ""))
    )


def with_hooks(text: str | None, where: str, wanted: dict[str, dict[str, Any]]) -> str:
    """The file with exactly these hooks of cam's in it, each a group of its own behind the user's.

    A hook that stands there stays where it is, so that the user's keys stay true; it is rewritten where it
    differs. One that somebody put into a group with others or with a matcher is left alone.

    Args:
        text: None where there is no file.
        where: the file's path.
        wanted: a handler by Codex's name of the event.

    Raises:
        ValueError: the file is no hooks file; the message has file and line.
    """
    if text is None or not text.strip():
        return render_json({"hooks": {event: [{"hooks": [handler]}] for event, handler in wanted.items()}})
    events = _events(text, where)
    there: dict[str, OurHook] = {}
    for hook in our_hooks(text, where):
        there.setdefault(hook.event, hook)
    if "hooks" not in parse_json(text, where):
        text = add(text, (), "hooks", {})
    for event, handler in wanted.items():
        found = there.get(event)
        if found is not None:
            if found.is_alone and found.handler != handler:
                text = replace(text, ("hooks", event, found.group, "hooks", found.index), handler)
        elif event in events:
            text = add(text, ("hooks", event), None, {"hooks": [handler]})
        else:
            text = add(text, ("hooks",), event, [{"hooks": [handler]}])
    return text


def without_hooks(text: str, where: str) -> str:
    """The file without cam's hooks and without what held nothing but them; "" where nothing is left.

    Raises:
        ValueError: the file is no hooks file; the message has file and line.
    """
    touched: dict[str, None] = {}
    for hook in reversed(our_hooks(text, where)):
        alone = len(_events(text, where)[hook.event][hook.group]["hooks"]) == 1
        group = ("hooks", hook.event, hook.group)
        text = remove(text, group if alone else (*group, "hooks", hook.index))
        touched[hook.event] = None
    for event in touched:
        if not _events(text, where)[event]:
            text = remove(text, ("hooks", event))
    if touched and not _events(text, where):
        text = remove(text, ("hooks",))
    return "" if touched and parse_json(text, where) == {} else text


def moved_keys(text: str, where: str, path: str) -> dict[str, str]:
    """How the keys of the user's hooks change when cam's are taken out.

    Args:
        text: of the hooks file, before.
        where: the file's path, for messages.
        path: its real path, for keys.

    Raises:
        ValueError: the file is no hooks file; the message has file and line.
    """
    ours = {(hook.event, hook.group, hook.index) for hook in our_hooks(text, where)}
    moved: dict[str, str] = {}
    for event, groups in _events(text, where).items():
        number = 0
        for old, group in enumerate(groups):
            kept = [n for n in range(len(group["hooks"])) if (event, old, n) not in ours]
            for index, n in enumerate(kept):
                before, after = hook_key(path, event, old, n), hook_key(path, event, number, index)
                moved |= {before: after} if before != after else {}
            number += bool(kept) or not group["hooks"]
    return moved


def _events(text: str, where: str) -> dict[str, list[dict[str, Any]]]:
    """The groups by event, checked.

    Raises:
        ValueError: the file is no hooks file; the message has file and line.
    """
    document = parse_json(text, where)
    events = document.get("hooks", {}) if isinstance(document, dict) else None
    if not isinstance(events, dict):
        raise ValueError(f"{where}:1: no hooks file: an object with a member 'hooks' is expected")
    for event, groups in events.items():
        if not isinstance(groups, list) or not all(
            isinstance(group, dict) and isinstance(group.get("hooks"), list) for group in groups
        ):
            line = text.count("\n", 0, max(0, text.find(f'"{event}"'))) + 1
            raise ValueError(f"{where}:{line}: {event} must be a list of groups with 'hooks' in them")
    return events
