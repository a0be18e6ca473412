"""One wrapped session: compile → inject → Codex → receipt → sync → report.

Memory must never cost a session: trouble before the start is a warning and Codex starts without memory,
trouble after it is a warning and the next run catches up. The exit code is always Codex's own.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from cam.context import Context, open_context
from cam.core.seams import Injection
from cam.formats.history import dump_line
from cam.startup.flow import run_data, sessions_of_run, startup_payload, write_run
from cam.startup.handoff import text_for_session
from cam.startup.ledger import read_ledger, write_ledger
from cam.startup.result import StartupPayload
from cam.store.identity import resolve_project
from cam.store.read_once import ReadOnce
from cam.store.sessions import CodexSessions
from cam.sync.flow import pending_sessions, sync_project
from cam.sync.heuristic import HeuristicExtractor
from cam.sync.result import SyncReport
from cam.system.codex import codex_version, find_codex
from cam.system.files import append_line
from cam.wrapper.arguments import CodexCall, parse_arguments
from cam.wrapper.codex_config import Place
from cam.wrapper.injectors import choose_injector
from cam.wrapper.launch import launch
from cam.wrapper.receipt import receipt_of
from cam.wrapper.result import InjectionReceipt, SessionOutcome

BACKGROUND_BYTES = 100_000_000
"""More than this much unread rollout is read after the prompt is back: some two seconds' work."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What is known when the arguments were read.

    Attributes:
        call: Codex's arguments.
        cwd: the folder Codex is started in.
        program: Codex's path; "" if it cannot be started.
        context: of the folder the session works in (``--cd`` counts); None if memory is of no use here.
        note: why there is no context or no program.
        exit_code: what the shell would return for a program that is missing (127) or not executable (126).
    """

    call: CodexCall
    cwd: str
    program: str
    context: Context | None
    note: str = ""
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """What stands before Codex starts.

    Attributes:
        arguments: for Codex.
        injection: how the payload travels.
        payload: what may be told.
        told: what the session is told, for strategies that decide it now; the hook decides at its call.
        run: the run's folder.
        warnings: one line each.
    """

    arguments: tuple[str, ...]
    injection: Injection
    payload: StartupPayload
    told: str
    run: str
    warnings: tuple[str, ...] = ()


def open_session(verb: str, arguments: Sequence[str], cwd: str | None) -> Opened:
    """Read the arguments, find project, settings and Codex.

    Args:
        verb: ``run``, ``exec``, ``resume`` or ``fork``.
        arguments: for Codex, untouched.
        cwd: folder to work in, None for the current one.

    Raises:
        InvalidInputError: ``cwd`` is no folder.
        NotFoundError: the current folder is gone.
    """
    call = parse_arguments(arguments if verb == "run" else (verb, *arguments))
    context = open_context(cwd)
    here = context.environment.cwd
    inner = os.path.join(here, call.directory) if call.directory else here
    if inner != here and os.path.isdir(inner):
        context = open_context(inner)
    name = context.environment.expand(b) if (b := context.settings["codex_binary"]).startswith("~") else b
    program = find_codex(name, context.environment.variables.get("PATH", os.defpath), here)
    if program is None:
        advice = "install Codex, or name it: cam config set codex_binary PATH"
        return Opened(call, here, "", None, f"there is no program {name!r}; {advice}", 127)
    if not program.executable:
        return Opened(call, here, "", None, f"{program.path} cannot be executed", 126)
    return Opened(call, here, program.path, None if context.off_reason else context)


def prepare(opened: Opened) -> Prepared | None:
    """Compile the payload and the arguments that carry it; None where no session follows, or cam is off.

    Raises:
        CamError: memory cannot be read or handed over.
    """
    context, call = opened.context, opened.call
    if context is None or not call.is_session:
        return None
    payload, problems = startup_payload(context.store, context.settings)
    warnings = list(context.settings.warnings)
    if problems:
        more = f" and {len(problems) - 1} more problems" if len(problems) > 1 else ""
        warnings.append(f"{problems[0]}{more}; see 'cam doctor'")
    version = codex_version(opened.program, context.layout.cache_file("codex-version.json"))
    run = write_run(context.layout, payload, call.session)
    # A session that is resumed by its id is told what changed; a picker's choice is known to the hook alone.
    known = read_ledger(context.layout.cache_file(), call.session)
    told, _ = text_for_session(run_data(payload), call.action, known)
    command = [sys.executable, "-I", "-m", "cam", "hook", "session-start", "--run", run]
    place = Place(context.codex_home, opened.cwd)
    injector = choose_injector(version, hook_command=shlex.join(command), payload=told, place=place)
    injection = injector.inject(call.arguments)
    if injection.warning:
        warnings.append(injection.warning)
    arguments = injection.replace
    if arguments is None:
        arguments = (*injection.arguments, *call.arguments)
    return Prepared(arguments, injection, payload, told, run, tuple(warnings))


def start(opened: Opened, prepared: Prepared | None) -> int:
    """Run Codex to its end.

    Returns:
        Its exit code, 128+n when signal n ended it.

    Raises:
        OSError: it cannot be started.
    """
    arguments = opened.call.arguments if prepared is None else prepared.arguments
    return launch(opened.program, arguments, opened.cwd)


def finish(opened: Opened, prepared: Prepared | None, started: float, *, learn: bool) -> SessionOutcome:
    """Receipt and sync, after Codex has ended.

    Args:
        opened: the session.
        prepared: None if nothing was injected.
        started: when Codex was started, seconds since the epoch.
        learn: whether to sync.

    Raises:
        CamError: the store cannot be read or written.
    """
    context, call = opened.context, opened.call
    if context is None or not call.is_session:
        return SessionOutcome()
    sessions = ReadOnce(CodexSessions(context.codex_home))
    receipts = _receipts(context, call, prepared, sessions, started) if prepared is not None else ()
    report, background = (None, 0) if call.is_ephemeral or not learn else _learn(context, sessions)
    warnings = tuple(
        f"session {s.meta.session} was not read: {s.error}" for s in (report.failed if report else ())
    )
    return SessionOutcome(receipts, report, background, warnings)


def _receipts(
    context: Context, call: CodexCall, prepared: Prepared, sessions: ReadOnce, started: float
) -> tuple[InjectionReceipt, ...]:
    """One receipt per session that the wrapper started."""
    strategy, cache = prepared.injection.strategy, context.layout.cache_file()
    if strategy == "none":
        return ()
    if strategy == "session-flag-hook":
        notes = sessions_of_run(prepared.run)
        if not notes:
            why = _hook_error(prepared.run) or "Codex did not call the hook"
            receipts = [InjectionReceipt("", strategy, arrived=False, reason=why)]
        else:
            receipts = [_receipt(prepared, sessions, note, ephemeral=call.is_ephemeral) for note in notes]
    else:
        note = _own_session(context, call, prepared, sessions, started)
        receipts = [_receipt(prepared, sessions, note, ephemeral=call.is_ephemeral)]
        if receipts[0].arrived:
            _, ledger = text_for_session(
                run_data(prepared.payload), call.action, read_ledger(cache, call.session)
            )
            write_ledger(cache, receipts[0].session, ledger)
    for receipt in receipts:
        append_line(context.layout.cache_file("receipts.jsonl"), dump_line(asdict(receipt)))
    return tuple(receipts)


def _own_session(
    context: Context, call: CodexCall, prepared: Prepared, sessions: ReadOnce, started: float
) -> dict[str, object]:
    """The session that ran, where no hook named it: the newest of this project written since the start."""
    path = ""
    for meta in sessions.sessions():
        is_ours = meta.session == call.session or meta.cwd is None or _is_in(context, meta.cwd)
        if meta.is_primary and is_ours and os.path.getmtime(meta.path) >= started - 1:
            path = meta.session
    return {"session": path, "source": call.action, "text": prepared.told}


def _is_in(context: Context, folder: str) -> bool:
    project = resolve_project(folder, context.environment.home) if os.path.isdir(folder) else None
    return (project.id if project else None) == (context.project.id if context.project else None)


def _receipt(
    prepared: Prepared, sessions: ReadOnce, note: dict[str, object], *, ephemeral: bool
) -> InjectionReceipt:
    session, text, source = str(note["session"]), str(note["text"]), str(note["source"])
    strategy = prepared.injection.strategy
    if not text:
        return InjectionReceipt(session, strategy, source, reason="there was nothing new to tell")
    if ephemeral:
        return InjectionReceipt(session, strategy, source, reason="an ephemeral session leaves no rollout")
    meta = sessions.find(session)
    if meta is None:
        return InjectionReceipt(session, strategy, source, arrived=False, reason="there is no rollout of it")
    refs = tuple(e.key for e in prepared.payload.entries if e.line in text)
    return receipt_of(sessions.read(meta), text, strategy=strategy, source=source, refs=refs)


def _hook_error(run: str) -> str:
    try:
        with open(os.path.join(run, "hook-error.txt"), encoding="utf-8") as file:
            return f"the hook failed: {file.read(500)}"
    except OSError:
        return ""


def _learn(context: Context, sessions: ReadOnce) -> tuple[SyncReport, int]:
    """Sync now what is soon done, and leave a mountain to a process of its own."""
    home = context.environment.home
    if context.project is not None:
        pending = pending_sessions(context.store, sessions, context.project, home)
        if sum(size for _, size in pending) > BACKGROUND_BYTES:
            subprocess.Popen(
                [sys.executable, "-I", "-m", "cam", "--cwd", context.project.root, "sync", "--json"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            return SyncReport(), len(pending)
    return sync_project(context.store, sessions, HeuristicExtractor(), context.project, home), 0
