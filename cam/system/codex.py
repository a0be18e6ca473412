"""The Codex program on this machine: where it is, whether it can be started, which release it is."""

import json
import os
import re
from dataclasses import dataclass

from cam.core.errors import CamError
from cam.core.settings import Settings
from cam.system.environment import Environment
from cam.system.files import write_atomic

Version = tuple[int, int, int]
"""Major, minor, patch; a pre-release counts as the release it leads to."""

_VERSION = re.compile(r"\b(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_KEPT = 16
_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class CodexProgram:
    """A file that was found under Codex's name.

    Attributes:
        path: as found; links not resolved, so that the program sees the name it was called by.
        executable: whether this process may start it.
    """

    path: str
    executable: bool


def find_codex(name: str, search_path: str, cwd: str) -> CodexProgram | None:
    """Find Codex as a shell would.

    Args:
        name: ``codex``, another name, or a path (absolute, or relative to ``cwd``; ``~`` is the caller's).
        search_path: the value of ``PATH``.
        cwd: the folder to work in.

    Returns:
        The first file that can be started; failing that the first that cannot; None if there is none.
    """
    if os.sep in name:
        path = os.path.join(cwd, name)
        return CodexProgram(path, _can_start(path)) if os.path.exists(path) else None
    refused = None
    for folder in search_path.split(os.pathsep):
        path = os.path.join(cwd, folder, name)
        if _can_start(path):
            return CodexProgram(path, executable=True)
        if refused is None and os.path.isfile(path):
            refused = CodexProgram(path, executable=False)
    return refused


def chosen_codex(settings: Settings, environment: Environment) -> CodexProgram | None:
    """The Codex that ``codex_binary`` means, found as ``find_codex`` does."""
    name = settings["codex_binary"]
    return find_codex(
        environment.expand(name) if name.startswith("~") else name,
        environment.variables.get("PATH", os.defpath),
        environment.cwd,
    )


def codex_version(program: str, cache_path: str, *, asks: bool = True) -> Version | None:
    """The release of ``program``, asked once for each state of its files.

    npm's ``codex`` is a script that stays the same when the release behind it changes, so the package's own
    manifest counts as well.

    Args:
        program: path to Codex.
        cache_path: JSON file that remembers answers; losing it costs one question.
        asks: whether the program is started where its answer is not remembered.

    Returns:
        None if the program does not say, or not within ten seconds, or was not asked.
    """
    real = os.path.realpath(program)
    state = [_stamp(real), _stamp(os.path.join(os.path.dirname(real), os.pardir, "package.json"))]
    known = _read_cache(cache_path)
    entry = known.get(real)
    if isinstance(entry, dict) and entry.get("state") == state:
        version = _parse(str(entry.get("version")))
        if version is not None:
            return version
    version = _ask(program) if asks else None
    if version is not None:
        known.pop(real, None)
        known[real] = {"state": state, "version": ".".join(map(str, version))}
        _write_cache(cache_path, dict(list(known.items())[-_KEPT:]))
    return version


def version_name(version: Version | None) -> str:
    """``1.2.3``; "" where it is not known."""
    return ".".join(map(str, version)) if version else ""


def _can_start(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _stamp(path: str) -> list[int]:
    """Size and modification time (nanoseconds), empty where there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]


def _ask(program: str) -> Version | None:
    # Only here, and seldom: it costs more than the rest of this module together.
    import subprocess  # noqa: PLC0415

    try:
        answer = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _parse(answer.stdout.decode("utf-8", "replace"))


def _parse(text: str) -> Version | None:
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _read_cache(path: str) -> dict[str, object]:
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write_cache(path: str, known: dict[str, object]) -> None:
    # A cache that cannot be written must not keep Codex from starting.
    try:
        write_atomic(path, json.dumps(known).encode())
    except (OSError, CamError):
        return
