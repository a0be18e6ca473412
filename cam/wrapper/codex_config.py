"""Codex's own configuration as far as injection depends on it: the user's instructions, hooks switched off.

Layers, the later wins, as Codex 0.58 to 0.171 resolve them: system file, user file, profile file (newer
releases; a ``[profiles.x]`` table cannot hold instructions), project files from the repository's root down to
the folder, ``-c`` flags.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cam.formats.codex_hooks import our_hooks
from cam.system.codex import Version
from cam.wrapper.arguments import CodexCall

Table = dict[str, Any]

PROJECT_FILES_SINCE: Version = (0, 79, 0)
"""From here on ``.codex/config.toml`` in a project counts."""

PROJECT_TRUST_SINCE: Version = (0, 88, 0)
"""From here on only in a trusted project."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where Codex runs.

    Attributes:
        codex_home: its own folder.
        cwd: the folder it is started in, before ``--cd``.
        system_file: configuration for the whole machine.
    """

    codex_home: str
    cwd: str
    system_file: str = "/etc/codex/config.toml"


def own_instructions(call: CodexCall, place: Place, version: Version) -> str:
    """The user's ``developer_instructions`` for this call, "" where there are none."""
    for path, text, _ in reversed(call.settings):
        if path == ("developer_instructions",):
            return _text(parse_value(text))
    user = _user_tables(call, place)
    for table in (*_project_tables(call, place, version, user), *user, _read(place.system_file)):
        if "developer_instructions" in table:
            return _text(table["developer_instructions"])
    return ""


def hooks_are_off(call: CodexCall, place: Place) -> bool:
    """Whether the user switched Codex's hooks off, by flag or in the user's files."""
    return feature(call, place, "hooks", "codex_hooks") is False


def feature(call: CodexCall, place: Place, *names: str) -> bool | None:
    """Whether the user switched a feature on or off, by flag or in the user's files; None if neither.

    Args:
        call: the command line.
        place: where Codex runs.
        names: the feature's, in all releases.
    """
    for name in names:
        if name in call.toggles:
            return call.toggles[name]
    flags = apply_settings(call, "features")
    for table in ({"features": flags}, *_user_tables(call, place, having=names[0].encode())):
        features = table.get("features")
        for name in names:
            if isinstance(features, dict) and name in features:
                return features[name] is not False
    return None


def installed_hooks(call: CodexCall, place: Place) -> tuple[str, ...]:
    """Keys of cam's own hooks in files, but for the one before compaction: the wrapper does what they do."""
    cwd = os.path.realpath(os.path.join(place.cwd, call.directory or ""))
    folders = [place.codex_home]
    for folder in _upwards(cwd):
        folders.append(os.path.join(folder, ".codex"))
        if os.path.lexists(os.path.join(folder, ".git")):
            break
    keys: list[str] = []
    for folder in folders:
        path = os.path.join(folder, "hooks.json")
        try:
            with open(path, "rb") as file:
                text = file.read().decode("utf-8")
            hooks = our_hooks(text, path) if " hook " in text else ()
        except (OSError, ValueError):
            continue  # Codex itself will say so
        keys += [h.key(os.path.realpath(path)) for h in hooks if h.event != "PreCompact"]
    return tuple(keys)


def apply_settings(call: CodexCall, root: str) -> Any:
    """What the ``-c`` flags at or below the key ``root`` make together, ``{}`` where there are none."""
    tree: Table = {}
    for path, text, _ in call.settings:
        if path[0] != root:
            continue
        table = tree
        for part in path[:-1]:
            below = table.get(part)
            if not isinstance(below, dict):
                below = table[part] = {}
            table = below
        table[path[-1]] = parse_value(text)
    return tree.get(root, {})


def parse_value(text: str) -> Any:
    """A ``-c`` flag's value as Codex reads it: TOML, or else the text itself without quotes around it."""
    # tomllib costs more to import than most calls need.
    import tomllib  # noqa: PLC0415

    try:
        return tomllib.loads(f"_x_ = {text}")["_x_"]
    except tomllib.TOMLDecodeError:
        return text.strip().strip("\"'")


def _user_tables(call: CodexCall, place: Place, having: bytes = b"") -> tuple[Table, ...]:
    """The profile's file and the user's, strongest first; only files that hold the bytes ``having``."""
    if "ignore-user-config" in call.flags:
        return ()
    names = ["config.toml"]
    if call.profile and os.sep not in call.profile:
        names.insert(0, f"{call.profile}.config.toml")
    return tuple(_read(os.path.join(place.codex_home, name), having) for name in names)


def _project_tables(
    call: CodexCall, place: Place, version: Version, user: tuple[Table, ...]
) -> Iterator[Table]:
    """The project's files that Codex would heed, nearest first."""
    if version < PROJECT_FILES_SINCE:
        return
    cwd = os.path.realpath(os.path.join(place.cwd, call.directory or ""))
    root = next((folder for folder in _upwards(cwd) if os.path.lexists(os.path.join(folder, ".git"))), cwd)
    trust = None
    for folder in _upwards(cwd):
        table = _read(os.path.join(folder, ".codex", "config.toml"))
        if table:
            if trust is None:
                trust = _trust_levels(call, user)
            level = trust.get(folder) or trust.get(root) or trust.get(_main_root(root))
            if level == "trusted" or version < PROJECT_TRUST_SINCE:
                yield table
        if folder == root:
            return


def _trust_levels(call: CodexCall, user: tuple[Table, ...]) -> dict[str, str]:
    """Trust level by real path."""
    levels: dict[str, str] = {}
    for table in (*reversed(user), {"projects": apply_settings(call, "projects")}):
        projects = table.get("projects")
        for path, entry in projects.items() if isinstance(projects, dict) else ():
            if isinstance(entry, dict) and isinstance(entry.get("trust_level"), str):
                levels[os.path.realpath(path)] = entry["trust_level"]
    return levels


def _main_root(root: str) -> str:
    """The repository that a linked worktree at ``root`` belongs to; ``root`` itself otherwise."""
    try:
        with open(os.path.join(root, ".git"), encoding="utf-8", errors="surrogateescape") as file:
            pointer = file.read(4096)
    except OSError:
        return root
    head, found, _ = pointer.removeprefix("gitdir:").strip().rpartition("/.git/worktrees/")
    return os.path.realpath(os.path.join(root, head)) if found else root


def _upwards(folder: str) -> Iterator[str]:
    """``folder`` and the folders above it."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _read(path: str, having: bytes = b"") -> Table:
    """A TOML file, ``{}`` where it cannot be read: Codex itself will say so."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    if having not in data:
        return {}
    import tomllib  # noqa: PLC0415

    try:
        return tomllib.loads(data.decode("utf-8"))
    except ValueError:
        return {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
