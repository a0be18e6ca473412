"""Each piece as pure steps: files in, files out. ``put_in`` and ``take_out`` are each other's way back."""

import os
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from cam.core.errors import IntegrityError, WriteRefusedError
from cam.formats.asset import AssetState, asset_state
from cam.formats.codex_hooks import (
    CONTEXT_LIMIT,
    EVENTS,
    hook_hash,
    known_to,
    moved_keys,
    our_hooks,
    snake,
    with_hooks,
    without_hooks,
)
from cam.formats.codex_toml import parse_toml, value_at, with_renamed, with_table, without_tables
from cam.formats.managed_block import find_block, with_block, without_block
from cam.setup.integrations.assets import BRIDGE_FILES, asset_text
from cam.setup.integrations.result import Note, Piece, Places, Step, Texts
from cam.system.codex import Version

SERVER = ("mcp_servers", "codex_auto_memory")
"""Where Codex's configuration names the MCP server."""

GUIDANCE = "cam:codex-agents-guidance"
"""Name of the block in AGENTS.md."""

FORWARDED = ("CAM_HOME", "CAM_OFF", "CODEX_HOME", "XDG_CONFIG_HOME")
"""Variables that the MCP server needs; Codex hands a server no others than the system's own."""

_SECONDS = {"SessionEnd": 3}
_STATE = ("hooks", "state")


def handler(event: str, places: Places) -> dict[str, Any]:
    """The handler of an event, as it stands in the hooks file."""
    # A colleague may not have cam, and some day it may be gone here: no session fails because of that.
    command = f"{shlex.join(places.words)} hook {EVENTS[event]} || exit 0"
    made: dict[str, Any] = {"type": "command", "command": command, "timeout": _SECONDS.get(event, 10)}
    return made | ({"additionalContextLimit": CONTEXT_LIMIT} if event == "SessionStart" else {})


def server(places: Places) -> dict[str, Any]:
    """The MCP server's entry."""
    return {
        "command": places.words[0],
        "args": [*places.words[1:], "mcp", "serve"],
        "env_vars": list(FORWARDED),
    }


def put_hooks(texts: Texts, places: Places) -> Step:
    """The hooks file with cam's hooks."""
    before = texts[places.hooks]
    wanted = {event: handler(event, places) for event in places.events}
    with _refusals():
        after = with_hooks(before, places.hooks, wanted)
        edited = [h.event for h in our_hooks(after, places.hooks) if h.handler != handler(h.event, places)]
    notes = [Note(Piece.HOOKS, _action(before, after), places.hooks, ", ".join(places.events))]
    if edited:
        why = f"{', '.join(edited)}: changed by hand, left as it is"
        notes.append(Note(Piece.HOOKS, "left", places.hooks, why))
    return Step({places.hooks: after}, tuple(notes))


def take_hooks(texts: Texts, places: Places) -> Step:
    """The hooks file without cam's hooks, and what is trusted without them; the user's own stay trusted."""
    text, config = texts[places.hooks], texts[places.trust]
    if text is None or " hook " not in text:
        return Step({}, (Note(Piece.HOOKS, "absent", places.hooks),))
    path = os.path.realpath(places.hooks)
    with _refusals():
        gone = [hook.key(path) for hook in our_hooks(text, places.hooks)]
        after = without_hooks(text, places.hooks)
        changed: dict[str, str | None] = {places.hooks: after or (None if gone else text)}
        notes = [Note(Piece.HOOKS, "removed" if gone else "absent", places.hooks)]
        if config is not None and gone:
            less = without_tables(config, places.trust, [(*_STATE, key) for key in gone])
            less = with_renamed(less, places.trust, _STATE, moved_keys(text, places.hooks, path))
            if less != config:
                changed[places.trust] = less or None
                notes.append(Note(Piece.TRUST, "removed", places.trust))
    return Step(changed, tuple(notes))


def put_trust(texts: Texts, places: Places, version: Version | None) -> Step:
    """The user's configuration with trust in cam's hooks, as that release computes it."""
    before, path = texts[places.trust], os.path.realpath(places.hooks)
    after = before or ""
    with _refusals():
        for hook in our_hooks(texts[places.hooks] or "{}", places.hooks):
            if hook.is_alone and hook.handler == handler(hook.event, places):
                value = hook_hash(snake(hook.event), known_to(version, hook.handler))
                keys = (*_STATE, hook.key(path))
                after = with_table(after, places.trust, keys, {"trusted_hash": value})
    note = Note(Piece.TRUST, _action(before, after), places.trust, f"of {places.hooks}")
    return Step({places.trust: after}, (note,))


def put_server(texts: Texts, places: Places) -> Step:
    """The configuration with the MCP server; other keys of its entry stay, a project pinned in it goes."""
    before, wanted = texts[places.config], server(places)
    with _refusals():
        text = before or ""
        entry = value_at(parse_toml(text, places.config), SERVER)
        if isinstance(entry, dict) and not _is_made(entry):
            note = Note(Piece.MCP, "left", places.config, "its entry was changed by hand; left as it is")
            return Step({}, (note,))
        if isinstance(entry, dict) and "cwd" in entry:
            text = without_tables(text, places.config, [(*SERVER, "cwd")])
        after = with_table(text, places.config, SERVER, wanted)
    return Step({places.config: after}, (Note(Piece.MCP, _action(before, after), places.config),))


def take_server(texts: Texts, places: Places) -> Step:
    """The configuration without the MCP server."""
    text = texts[places.config]
    absent = Step({}, (Note(Piece.MCP, "absent", places.config),))
    if text is None or SERVER[-1] not in text:
        return absent  # a file that is not ours to read need not be sound
    with _refusals():
        if value_at(parse_toml(text, places.config), SERVER) is None:
            return absent
        after = without_tables(text, places.config, [SERVER])
    return Step({places.config: after or None}, (Note(Piece.MCP, "removed", places.config),))


def put_skill(texts: Texts, places: Places) -> Step:
    """The skill's file."""
    return _put_file(Piece.SKILL, places.skill, texts, asset_text("skill", places.skill_words))


def take_skill(texts: Texts, places: Places) -> Step:
    """No skill, unless somebody changed it."""
    return _take_file(Piece.SKILL, places.skill, texts, asset_text("skill", places.skill_words))


def put_bridge(texts: Texts, places: Places) -> Step:
    """The bridge's files."""
    return _joined(
        _put_file(
            Piece.BRIDGE, os.path.join(places.bridge, name), texts, asset_text(name, places.bridge_words)
        )
        for name in BRIDGE_FILES
    )


def take_bridge(texts: Texts, places: Places) -> Step:
    """No bridge, but for files that somebody changed."""
    return _joined(
        _take_file(
            Piece.BRIDGE, os.path.join(places.bridge, name), texts, asset_text(name, places.bridge_words)
        )
        for name in BRIDGE_FILES
    )


def put_guidance(texts: Texts, places: Places) -> Step:
    """The instruction file with the guidance block.

    Raises:
        WriteRefusedError: the markers in it do not pair up.
    """
    before, body = texts[places.guidance], asset_text("guidance", places.words)
    with _refusals(WriteRefusedError):
        found = find_block(before or "", GUIDANCE, places.guidance)
        state = asset_state(found.body if found else None, body)
        if state in (AssetState.EDITED, AssetState.FOREIGN, AssetState.NEWER):
            return Step({}, (Note(Piece.GUIDANCE, "left", places.guidance, _why_left(state)),))
        after = (
            before
            if state is AssetState.CURRENT
            else with_block(before or "", GUIDANCE, body, places.guidance)
        )
    return Step({places.guidance: after}, (Note(Piece.GUIDANCE, _action(before, after), places.guidance),))


def take_guidance(texts: Texts, places: Places) -> Step:
    """The instruction file without the block.

    Raises:
        WriteRefusedError: the markers in it do not pair up.
    """
    text = texts[places.guidance]
    with _refusals(WriteRefusedError):
        if text is None or find_block(text, GUIDANCE, places.guidance) is None:
            return Step({}, (Note(Piece.GUIDANCE, "absent", places.guidance),))
        after = without_block(text, GUIDANCE, places.guidance)
    return Step({places.guidance: after or None}, (Note(Piece.GUIDANCE, "removed", places.guidance),))


PUT: Mapping[Piece, Callable[[Texts, Places], Step]] = {
    Piece.HOOKS: put_hooks,
    Piece.MCP: put_server,
    Piece.SKILL: put_skill,
    Piece.GUIDANCE: put_guidance,
    Piece.BRIDGE: put_bridge,
}
TAKE: Mapping[Piece, Callable[[Texts, Places], Step]] = {
    Piece.HOOKS: take_hooks,
    Piece.MCP: take_server,
    Piece.SKILL: take_skill,
    Piece.GUIDANCE: take_guidance,
    Piece.BRIDGE: take_bridge,
}


def files_of(piece: Piece, places: Places) -> tuple[str, ...]:
    """The files that a piece may touch."""
    return {
        Piece.HOOKS: (places.hooks, places.trust),
        Piece.TRUST: (places.hooks, places.trust),
        Piece.MCP: (places.config,),
        Piece.SKILL: (places.skill,),
        Piece.GUIDANCE: (places.guidance,),
        Piece.BRIDGE: tuple(os.path.join(places.bridge, name) for name in BRIDGE_FILES),
    }[piece]


def _is_made(entry: Mapping[str, Any]) -> bool:
    """Whether the entry is one that some cam made: ends with ``mcp serve`` and allows nothing more."""
    arguments = entry.get("args")
    return (
        isinstance(entry.get("command"), str)
        and isinstance(arguments, list)
        and arguments[-2:] == ["mcp", "serve"]
    )


def _put_file(piece: Piece, path: str, texts: Texts, wanted: str) -> Step:
    state = asset_state(texts[path], wanted)
    if state in (AssetState.EDITED, AssetState.FOREIGN, AssetState.NEWER):
        return Step({}, (Note(piece, "left", path, _why_left(state)),))
    return Step({path: wanted}, (Note(piece, _action(texts[path], wanted), path),))


def _take_file(piece: Piece, path: str, texts: Texts, wanted: str) -> Step:
    state = asset_state(texts[path], wanted)
    if state is AssetState.MISSING:
        return Step({}, (Note(piece, "absent", path),))
    if state in (AssetState.EDITED, AssetState.FOREIGN):
        return Step({}, (Note(piece, "left", path, _why_left(state)),))
    return Step({path: None}, (Note(piece, "removed", path),))


def _why_left(state: AssetState) -> str:
    return {
        AssetState.EDITED: "changed by hand, left as it is",
        AssetState.FOREIGN: "not cam's, left as it is",
        AssetState.NEWER: "of a newer cam, left as it is",
    }[state]


def _joined(steps: Any) -> Step:
    found = tuple(steps)
    texts: dict[str, str | None] = {}
    for step in found:
        texts |= step.texts
    return Step(texts, tuple(note for step in found for note in step.notes))


def _action(before: str | None, after: str | None) -> str:
    if before == after:
        return "unchanged"
    return "created" if before is None else "updated"


class _refusals:  # noqa: N801 - a context manager reads as a word
    """A file that is not what it should be ends the plan: nothing is written."""

    def __init__(self, kind: type[IntegrityError] | type[WriteRefusedError] = IntegrityError) -> None:
        self._kind = kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ValueError):
            raise self._kind(f"{error}; nothing was written") from None
