"""One question to the user's own Codex: no session kept, no hook, no tool, no program of the user's started.

Codex works in a folder of its own that is gone afterwards, in a process group of its own that is ended with
it, whatever happens. Releases that lack a flag are asked without it; what they leave behind is removed.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from cam.core.settings import Settings
from cam.system.codex import chosen_codex
from cam.system.environment import Environment
from cam.system.process_group import end_group

MAX_ANSWER = 1_000_000
"""Bytes of an answer; more is no answer."""

_SWITCHES = (
    *(
        f"features.{name}=false"
        for name in (
            "hooks", "memories", "shell_tool", "unified_exec", "apps", "plugins", "multi_agent", "goals",
            "image_generation", "browser_use", "computer_use", "daemon_auto_start",
        )
    ),
    'web_search="disabled"',
    "notify=[]",
    "project_doc_max_bytes=0",
    "skills.include_instructions=false",
    "include_environment_context=false",
)  # fmt: skip
"""Settings that take away what could act or cost; a release that does not know one passes it over."""


class NoAnswerError(Exception):
    """Codex gave no answer; the text says why, in words a person understands."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How Codex is asked.

    Attributes:
        program: path to Codex.
        codex_home: its folder.
        variables: the environment it gets.
        seconds: how long it may take.
    """

    program: str
    codex_home: str
    variables: Mapping[str, str]
    seconds: float


def asking_for(settings: Settings, environment: Environment) -> Asking | str:
    """How the user's Codex is asked, or why it cannot be."""
    found = chosen_codex(settings, environment)
    if found is None or not found.executable:
        return f"there is no Codex {settings['codex_binary']!r} that could be asked"
    # Hooks of cam that the user installed must not run inside cam's own question.
    variables = {**environment.variables, "CAM_OFF": "1"}
    return Asking(found.path, environment.codex_home, variables, float(settings["extractor_seconds"]))


def ask_codex(asking: Asking, prompt: str, schema: Mapping[str, Any]) -> str:
    """The last message of one ``codex exec``, as it stands.

    Args:
        asking: which Codex, and how long.
        prompt: everything that the model is told.
        schema: JSON Schema of the answer, of the kind that strict structured output takes.

    Raises:
        NoAnswerError: it cannot be started, fails, takes too long, says nothing or too much.
    """
    known = _known_flags(asking)
    if not {"--output-schema", "--output-last-message"} <= known:
        raise NoAnswerError("this release of Codex knows no structured answers (--output-schema)")
    # The real path, because a session names its folder so.
    folder = os.path.realpath(tempfile.mkdtemp(prefix="cam-ask-"))
    try:
        schema_file, answer_file = os.path.join(folder, "schema.json"), os.path.join(folder, "answer.json")
        with open(schema_file, "w", encoding="utf-8") as file:
            json.dump(schema, file)
        words = [asking.program, "exec", *_arguments(asking, known)]
        words += ["--output-schema", schema_file, "-o", answer_file, "-"]
        code, complaint = run_alone(words, folder, asking.variables, prompt, asking.seconds)
        if code != 0:
            raise NoAnswerError(f"Codex ended with {code}" + (f": {complaint}" if complaint else ""))
        return _read_answer(answer_file)
    except OSError as error:
        raise NoAnswerError(f"Codex cannot be asked: {error.strerror or error}") from error
    finally:
        if "--ephemeral" not in known:
            _remove_session(asking.codex_home, folder)
        shutil.rmtree(folder, ignore_errors=True)


def run_alone(
    words: list[str], folder: str, variables: Mapping[str, str], text: str, seconds: float
) -> tuple[int, str]:
    """Run Codex in a process group of its own, which is gone when this returns.

    Args:
        words: the program and its arguments.
        folder: to work in.
        variables: its whole environment.
        text: its standard input.
        seconds: how long it may take.

    Returns:
        Exit code, and its last complaint on stderr.

    Raises:
        NoAnswerError: it takes too long.
        OSError: it cannot be started.
    """
    with tempfile.TemporaryFile(dir=folder) as complaints, _signals_as_exits():
        child = subprocess.Popen(
            words, cwd=folder, env=dict(variables), stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=complaints, start_new_session=True,
        )  # fmt: skip
        try:
            child.communicate(text.encode("utf-8", "replace"), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise NoAnswerError(f"Codex did not answer within {seconds:g} s") from None
        finally:
            end_group(child)
        return child.returncode, _last_complaint(complaints)


def _known_flags(asking: Asking) -> frozenset[str]:
    try:
        done = subprocess.run(
            [asking.program, "exec", "--help"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=min(asking.seconds, 20.0), check=False,
            env=dict(asking.variables),
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise NoAnswerError(f"Codex cannot be started: {error}") from error
    return frozenset(re.findall(r"--[a-z][a-z-]+", done.stdout.decode("utf-8", "replace")))


def _arguments(asking: Asking, known: frozenset[str]) -> list[str]:
    words: list[str] = [flag for flag in ("--ephemeral", "--skip-git-repo-check") if flag in known]
    if "--sandbox" in known:
        words += ["--sandbox", "read-only"]
    switches = [*_SWITCHES, *_servers_off(asking.codex_home)]
    return words + [word for switch in switches for word in ("-c", switch)]


def _servers_off(codex_home: str) -> list[str]:
    """The user's MCP servers, each switched off by name: an empty table would leave them on."""
    try:
        with open(os.path.join(codex_home, "config.toml"), "rb") as file:
            servers = tomllib.load(file).get("mcp_servers", {})
    except (OSError, ValueError):
        return []
    if not isinstance(servers, dict) or not servers:
        return []
    off = ",".join(f"{json.dumps(name)}={{enabled=false}}" for name in servers)
    return [f"mcp_servers={{{off}}}"]


@contextlib.contextmanager
def _signals_as_exits() -> Iterator[None]:
    """While Codex works, ``kill`` and a closed terminal unwind this process, so that Codex ends with it."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    before: dict[int, Any] = {}
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(ValueError):  # not the main thread: nothing to hand over
                before[number] = signal.signal(number, leave)
        yield
    finally:
        for caught, handler in before.items():
            signal.signal(caught, handler)


def _last_complaint(file: Any) -> str:
    """The last line that reports an error, without the stamps that logs put before it."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - 16_384))
    lines = file.read().decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if re.match(r"(?:\S+ )?(?:error|warning: error)\b", line, re.IGNORECASE)]
    text: str = (errors or [""])[-1].strip()
    return text if len(text) <= 200 else text[:199] + "…"


def _read_answer(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_ANSWER + 1)
    except FileNotFoundError:
        data = b""
    if not data.strip():
        raise NoAnswerError("Codex said nothing")
    if len(data) > MAX_ANSWER:
        raise NoAnswerError(f"Codex said more than {MAX_ANSWER} bytes")
    return data.decode("utf-8", "replace")


def _remove_session(codex_home: str, folder: str) -> None:
    """Take away the session of a release that keeps every one: it holds nobody's words.

    It is known by its folder, which no other session can have had; it lies in one of the newest days.
    """
    mark = f'"cwd":{json.dumps(folder)}'.encode()
    days = sorted(_folders(os.path.join(codex_home, "sessions"), depth=3))[-2:]
    for day in days:
        for entry in os.scandir(day):
            if entry.name.startswith("rollout-") and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    with open(entry.path, "rb") as file:
                        first = file.readline(262_144)
                    if mark in first:
                        os.unlink(entry.path)


def _folders(root: str, depth: int) -> Iterator[str]:
    if depth == 0:
        yield root
        return
    with contextlib.suppress(OSError):
        for entry in os.scandir(root):
            if entry.is_dir(follow_symlinks=False):
                yield from _folders(entry.path, depth - 1)
