"""Proof that memory reaches the model: the installed Codex, started once against a model on this machine.

Codex runs in a home of its own, with what of the user's configuration decides about the way in (features,
``developer_instructions``, the flags of a command line), without their servers, hooks and account; the same
injector and the same hook as in ``cam run`` carry a text as long as the budget allows. What the model got
stands in its request. Codex itself is asked (``hooks/list`` of its app server) whether it trusts the hook.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from cam.core.display import counted
from cam.core.errors import CamError
from cam.core.seams import Injection
from cam.formats.toml_value import render_value
from cam.startup.flow import write_run
from cam.startup.frame import CLOSE, GUIDANCE, OPEN
from cam.startup.result import Block, StartupPayload
from cam.store.layout import StoreLayout
from cam.system.codex import Version, version_name
from cam.system.codex_exec import NoAnswerError, run_alone
from cam.system.files import make_folder, read_bytes, remove_folder, write_quick
from cam.system.json_rpc import ask_app_server
from cam.wrapper.arguments import CodexCall
from cam.wrapper.codex_config import Place, hooks_are_off, own_instructions
from cam.wrapper.injectors import choose_injector

if TYPE_CHECKING:  # a server costs more to import than all else of a doctor that proves nothing anew
    from cam.testing.responses_server import ResponsesServer

SECONDS = 30.0
"""What Codex may take for one answer of a model that answers at once."""

_PROMPT = "cam doctor asks nothing"
_TRIED = frozenset(
    {
        *("features", "developer_instructions"),
        *("model_context_window", "model_auto_compact_token_limit", "project_doc_max_bytes"),
    }
)
"""Settings of the command line that are tried; others may lead Codex elsewhere or start programs."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of it.

    Attributes:
        codex: the release.
        strategy: how the text travelled.
        tokens: estimated tokens of the text that was sent, as many as the budget allows.
        copies: how often the model received it whole.
        trust: what Codex says of the hook (``trusted``, ``untrusted`` …); "" where it was not asked.
        reason: why the model did not receive it once and whole, "" if it did.
        at: ISO-8601 UTC.
    """

    codex: str
    strategy: str
    tokens: int = 0
    copies: int = 0
    trust: str = ""
    reason: str = ""
    at: str = ""

    @property
    def holds(self) -> bool:
        """Whether memory reaches the model."""
        return self.copies == 1


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Attributes:
        program: Codex.
        version: its release.
        call: the command line that is to be tried; its options count.
        place: the user's Codex home and folder.
        tokens: the budget.
        search_path: the value of ``PATH``.
    """

    program: str
    version: Version
    call: CodexCall
    place: Place
    tokens: int
    search_path: str


def prove(trial: Trial, folder: str, at: str) -> Proof:
    """Start Codex and look at what the model received.

    Args:
        trial: what is tried.
        folder: to work in; it must not exist, is made and taken away. Not below the temp folder: Codex
            refuses helpers there.
        at: ISO-8601 UTC.
    """
    from cam.testing.responses_server import ResponsesServer  # noqa: PLC0415 - as above

    make_folder(folder)
    try:
        with ResponsesServer() as server:
            return replace(_try(trial, folder, server), codex=version_name(trial.version), at=at)
    except (CamError, OSError) as error:
        return Proof(version_name(trial.version), "none", reason=f"it could not be tried: {error}", at=at)
    finally:
        with suppress(CamError):
            remove_folder(folder)


def known_proof(path: str, key: str) -> Proof | None:
    """The proof that is kept under ``key``, None where there is none.

    Args:
        path: of the file that keeps one.
        key: says what was proved; ``proof_key``.
    """
    try:
        data = json.loads(read_bytes(path) or b"")
        return Proof(**data["proof"]) if data["key"] == key else None
    except (CamError, ValueError, TypeError, KeyError):
        return None


def keep_proof(path: str, key: str, proof: Proof) -> None:
    """Keep one that holds; what failed is tried again."""
    if proof.holds:
        with suppress(CamError):
            make_folder(os.path.dirname(path))
            write_quick(path, json.dumps({"key": key, "proof": asdict(proof)}).encode())


def proof_key(trial: Trial) -> str:
    """Changes with everything that decides about the way in."""
    real = os.path.realpath(trial.program)
    status = os.stat(real)
    rows = [
        *(real, status.st_size, status.st_mtime_ns, version_name(trial.version), trial.tokens),
        *(os.stat(__file__).st_mtime_ns, sys.executable),
        *(hooks_are_off(trial.call, trial.place), own_instructions(trial.call, trial.place, trial.version)),
    ]
    return json.dumps(rows)


def _try(trial: Trial, folder: str, server: "ResponsesServer") -> Proof:
    from cam.testing.responses_server import input_texts, write_codex_config  # noqa: PLC0415

    home, work = os.path.join(folder, "codex"), os.path.join(folder, "work")
    make_folder(work)
    top: dict[str, Any] = {}
    if hooks_are_off(trial.call, trial.place):
        top["features"] = {"hooks": False}
    own = own_instructions(trial.call, trial.place, trial.version)
    if own:
        top["developer_instructions"] = own
    write_codex_config(
        home, server.base_url, top="\n".join(f"{name} = {render_value(value)}" for name, value in top.items())
    )
    payload = _sentinel(trial.tokens)
    run = write_run(StoreLayout(os.path.join(folder, "store")), payload)
    command = [sys.executable, "-I", "-m", "cam", "hook", "session-start", "--run", run]
    place = Place(home, work, trial.place.system_file)
    injector = choose_injector(
        trial.version, hook_command=shlex.join(command), payload=payload.text, place=place
    )
    flags = _flags(trial.call)
    injection = injector.inject(["exec", "--skip-git-repo-check", *flags, _PROMPT])
    variables = _variables(trial, folder, home, server.base_url)
    if injection.replace is None:
        return Proof("", injection.strategy, payload.tokens, reason=injection.warning or "there is no way in")
    try:
        code, complaint = run_alone([trial.program, *injection.replace], work, variables, "", SECONDS)
    except NoAnswerError as error:
        return Proof("", injection.strategy, payload.tokens, reason=str(error))
    received = [input_texts(request) for request in server.requests]
    copies = sum(text.count(payload.text) for text in received[0]) if received else 0
    reason = "" if copies == 1 else _why(payload.text, received, copies, code, complaint)
    trust = ""
    if injection.strategy == "session-flag-hook":
        trust = _trust(trial, injection, work, variables)
    return Proof("", injection.strategy, payload.tokens, copies, trust, reason)


def _sentinel(tokens: int) -> StartupPayload:
    """A text of nearly the whole budget that nobody has written before, in more than one script."""
    name = os.urandom(4).hex()
    lines = [OPEN, *GUIDANCE, f"cam doctor {name}"]
    line = f"- [project/workflow] 記憶 {name} line %03d ✓"
    room = tokens * 4 - sum(len(each.encode()) + 1 for each in (*lines, CLOSE))
    lines += [line % n for n in range(max(1, room // (len(line.encode()) + 1)))]
    return StartupPayload((Block("frame", (*lines, CLOSE)),))


def _flags(call: CodexCall) -> list[str]:
    """Options of the user's command line that may decide about the way in."""
    words = []
    for option in call.options:
        root = option.value.partition("=")[0].strip().partition(".")[0]
        if option.name in ("enable", "disable") or (option.name == "config" and root in _TRIED):
            words += [f"--{option.name}", option.value]
    return words


def _variables(trial: Trial, folder: str, home: str, base_url: str) -> dict[str, str]:
    temporary = os.path.join(folder, "tmp")
    make_folder(temporary)
    from cam.testing.responses_server import KEY_VARIABLE  # noqa: PLC0415

    return {
        "PATH": trial.search_path, "HOME": folder, "CODEX_HOME": home, "TMPDIR": temporary, "LANG": "C.UTF-8",
        KEY_VARIABLE: "loopback",
        # Some releases ask OpenAI for its models whatever the provider: here too.
        "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "loopback",
    }  # fmt: skip


def _why(text: str, received: list[list[str]], copies: int, code: int, complaint: str) -> str:
    if not received:
        return f"Codex asked the model nothing (exit {code})" + (f": {complaint}" if complaint else "")
    if copies > 1:
        return f"the model received it {counted(copies, 'time')}"
    found = [part for part in received[0] if OPEN in part]
    if found:
        kept = sum(line in found[0] for line in text.split("\n"))
        return f"Codex shortened it: {kept} of {len(text.split(chr(10)))} lines arrived"
    return "the model did not receive it"


def _trust(trial: Trial, injection: Injection, work: str, variables: Mapping[str, str]) -> str:
    """What Codex itself says of our hook; "" where this release cannot be asked."""
    hooks = next(word for word in injection.replace or () if word.startswith("hooks="))
    questions = [("hooks/list", {"cwds": [work]})]
    (answer,) = ask_app_server(trial.program, questions, work, options=["-c", hooks], variables=variables)
    with suppress(KeyError, TypeError, IndexError):
        return _trust_in(answer["data"][0]["hooks"], hooks)
    return ""


def _trust_in(hooks: list[dict[str, Any]], flag: str) -> str:
    ours = [hook for hook in hooks if hook.get("source") == "sessionFlags" and str(hook["command"]) in flag]
    return str(ours[-1].get("trustStatus") or "") if ours else "missing"
