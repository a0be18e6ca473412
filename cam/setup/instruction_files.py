"""Instruction files that apply to a folder: AGENTS.md as Codex resolves it, and those of other agents.

They are pointers: never copied, never written. Codex reads one file a folder (``AGENTS.override.md`` before
``AGENTS.md`` before the fallback names of its settings): of its own home, and of each folder from the
project's root down to the one it works in. ``CLAUDE.md`` and ``GEMINI.md`` are read by other agents.
"""

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from cam.store.identity import Project

CODEX_NAMES = ("AGENTS.override.md", "AGENTS.md")
OTHER_NAMES = ("CLAUDE.md", "CLAUDE.local.md", "GEMINI.md")
_SKIPPED = frozenset(
    {"node_modules", "vendor", "dist", "build", "target", "venv", "__pycache__", "site-packages"}
)
_MOST_FOLDERS = 2000
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """One file.

    Attributes:
        path: absolute.
        name: its base name.
        level: ``user``, ``project`` (root down to the folder) or ``nested`` (below the folder).
        agent: ``codex``, ``claude`` or ``gemini``.
        is_read: whether that agent reads it for a session in the folder.
    """

    path: str
    name: str
    level: str
    agent: str
    is_read: bool


def instruction_files(
    folder: str, project: Project | None, home: str, codex_home: str, fallbacks: tuple[str, ...] = ()
) -> tuple[InstructionFile, ...]:
    """All there are, in the order in which they apply.

    Args:
        folder: where a session works.
        project: None where there is none: the folder alone counts.
        home: the user's home folder.
        codex_home: Codex's own folder.
        fallbacks: further names that Codex takes where it finds no ``AGENTS.md``.
    """
    here = os.path.realpath(folder)
    names = (*CODEX_NAMES, *(n for n in fallbacks if n not in CODEX_NAMES))
    found = list(_codex(codex_home, CODEX_NAMES, "user"))
    found += _others(os.path.join(home, ".claude"), "user") + _others(os.path.join(home, ".gemini"), "user")
    for place in _chain(here, project):
        found += [*_codex(place, names, "project"), *_others(place, "project")]
    for place in _below(here):
        found += [f for name in (*names, *OTHER_NAMES) if (f := _nested(place, name)) is not None]
    return tuple(found)


def fallback_names(codex_home: str) -> tuple[str, ...]:
    """Further names that the user's Codex takes where a folder has no ``AGENTS.md``."""
    try:
        with open(os.path.join(codex_home, "config.toml"), "rb") as file:
            names = tomllib.load(file).get("project_doc_fallback_filenames", [])
    except (OSError, ValueError):
        return ()
    return (
        tuple(n for n in names if isinstance(n, str) and n and "/" not in n)
        if isinstance(names, list)
        else ()
    )


def _chain(here: str, project: Project | None) -> list[str]:
    """Folders from the project's root down to ``here``."""
    root = project.root if project is not None and project.is_git else here
    places = [here]
    while places[-1] != root and len(places[-1]) > len(root):
        places.append(os.path.dirname(places[-1]))
    return places[::-1]


def _codex(folder: str, names: tuple[str, ...], level: str) -> Iterator[InstructionFile]:
    """Codex's files of one folder; the first that holds something is the one it reads."""
    taken = False
    for name in names:
        path = os.path.join(folder, name)
        if _is_file(path):
            reads = not taken and _size(path) > 0
            taken = taken or reads
            yield InstructionFile(path, name, level, "codex", reads)


def _others(folder: str, level: str) -> list[InstructionFile]:
    paths = [(name, os.path.join(folder, name)) for name in OTHER_NAMES]
    return [
        InstructionFile(path, name, level, _agent(name), is_read=True)
        for name, path in paths
        if _is_file(path)
    ]


def _nested(folder: str, name: str) -> InstructionFile | None:
    path = os.path.join(folder, name)
    return InstructionFile(path, name, "nested", _agent(name), is_read=False) if _is_file(path) else None


def _agent(name: str) -> str:
    return {"C": "claude", "G": "gemini"}.get(name[0], "codex") if name in OTHER_NAMES else "codex"


def _below(here: str) -> Iterator[str]:
    """Folders below ``here``, a bounded number of them, in order; links are not followed."""
    waiting = [(here, 0)]
    seen = 0
    while waiting and seen < _MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        try:
            with os.scandir(folder) as entries:
                names = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
        except OSError:
            continue
        for name in names:
            if name.startswith(".") or name in _SKIPPED:
                continue
            seen += 1
            place = os.path.join(folder, name)
            yield place
            if depth + 1 < _DEEPEST:
                waiting.append((place, depth + 1))


def _is_file(path: str) -> bool:
    return os.path.isfile(path)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
