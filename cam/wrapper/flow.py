"""The first half of a wrapped session: read the arguments → compile → inject → Codex.

Memory must never cost a session: trouble before the start is a warning and Codex starts without memory. The
second half is ``after.py``, which is imported only when Codex has ended.
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cam.context import Context, open_context
from cam.continuity.start import AUTO, open_continuity, start_lines
from cam.core.display import counted
from cam.core.seams import Injection
from cam.startup.flow import run_data, startup_payload, told_data, write_run
from cam.startup.handoff import text_for_session
from cam.startup.ledger import read_ledger
from cam.startup.result import StartupPayload
from cam.startup.started import started_here
from cam.system.codex import Version, chosen_codex, codex_version
from cam.system.files import written_at
from cam.wrapper.arguments import CodexCall, parse_arguments
from cam.wrapper.codex_config import Place
from cam.wrapper.injectors import RESUME_HEEDS, SWITCHES_SINCE, choose_injector
from cam.wrapper.launch import launch
from cam.wrapper.relevance import relevance

if TYPE_CHECKING:
    from cam.wrapper.live import LiveReader


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
        version: Codex's release, None if it does not say.
        known_session: the session that goes on, where the command line says which.
        warnings: one line each.
        variables: for Codex, beside those it inherits.
    """

    arguments: tuple[str, ...]
    injection: Injection
    payload: StartupPayload
    told: str
    run: str
    version: Version | None
    known_session: str | None
    warnings: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


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
    outer = context.environment
    here = outer.cwd
    inner = os.path.join(here, call.directory) if call.directory else here
    if inner != here and os.path.isdir(inner):
        context = open_context(inner)
    program = chosen_codex(context.settings, outer)
    if program is None:
        name = context.settings["codex_binary"]
        advice = "install Codex, or name it: cam config set codex_binary PATH"
        return Opened(call, here, "", None, f"there is no program {name!r}; {advice}", 127)
    if not program.executable:
        return Opened(call, here, "", None, f"{program.path} cannot be executed", 126)
    return Opened(call, here, program.path, None if context.off_reason else context)


def prepare(opened: Opened, *, learn: bool = True) -> Prepared | None:
    """Compile the payload and the arguments that carry it; None where no session follows, or cam is off.

    Args:
        opened: the session.
        learn: whether a session whose wrapper was killed is saved first.

    Raises:
        CamError: memory cannot be read or handed over.
    """
    context, call = opened.context, opened.call
    if context is None or not call.is_session:
        return None
    if learn:
        _catch_up(context)
    lines = start_lines(context, context.project, context.settings)
    payload, problems = startup_payload(
        context.layout, context.settings, lines, relevance(context.layout, context.settings, call.prompt)
    )
    warnings = list(context.settings.warnings)
    if problems:
        more = f" and {counted(len(problems) - 1, 'more problem')}" if len(problems) > 1 else ""
        warnings.append(f"{problems[0]}{more}; see 'cam doctor'")
    version = codex_version(opened.program, context.layout.cache_file("codex-version.json"))
    limits = (context.settings["max_startup_lines"], context.settings["max_startup_tokens"])
    returns = limits if context.settings["session_continuity"] == AUTO else None
    run = write_run(context.layout, payload, call.session, returns, use_index=context.settings.keeps_index)
    # A session that is resumed by its id is told what changed; a picker's choice is known to the hook alone.
    session = call.session or _last_session(context, call, version, opened.cwd)
    known = read_ledger(context.layout.cache_file(), session)
    data = told_data(payload) if known is None else run_data(payload)
    told, _ = text_for_session(data, call.action, known)
    command = [sys.executable, "-I", "-m", "cam", "hook", "session-start", "--run", run]
    place = Place(context.codex_home, opened.cwd)
    at_prompt = shlex.join([*command[:5], "prompt-recall", *command[6:]])
    injector = choose_injector(
        version, hook_command=shlex.join(command), payload=told, place=place,
        prompt_command=at_prompt if context.settings["prompt_recall"] else "",
    )  # fmt: skip
    injection = injector.inject(call.arguments)
    if injection.warning:
        warnings.append(injection.warning)
    arguments = injection.replace
    if arguments is None:
        arguments = (*injection.arguments, *call.arguments)
    # Hooks that are installed leave a session of ours alone; newer releases are told by a flag.
    variables = {"CAM_RUN": run} if version is not None and version < SWITCHES_SINCE else {}
    return Prepared(arguments, injection, payload, told, run, version, session, tuple(warnings), variables)


def _last_session(context: Context, call: CodexCall, version: Version | None, cwd: str) -> str | None:
    """The session that ``resume --last`` means, where a release without our hook would be told of it."""
    since, until = RESUME_HEEDS
    if version is None or not since <= version < until or "last" not in call.flags:
        return None
    here = os.path.realpath(os.path.join(cwd, call.directory or ""))
    newest, found = 0.0, None
    for meta in context.sessions().sessions():
        is_here = meta.cwd is not None and os.path.realpath(meta.cwd) == here
        if meta.is_primary and is_here and (changed := os.path.getmtime(meta.path)) >= newest:
            newest, found = changed, meta.session
    return found


def _catch_up(context: Context) -> None:
    """Save where a session stopped whose wrapper was killed; a few small files are read where none was."""
    if context.project is None or context.settings["session_continuity"] != AUTO:
        return
    seen = open_continuity(context, context.project, context.settings).seen_until()
    left = [
        s.transcript
        for s in started_here(context.layout)
        if not s.runs and s.transcript is not None and written_at(s.transcript) > seen
    ]
    if left:
        from cam.wrapper.stopped import note_cut_off  # noqa: PLC0415 - seldom, and it imports much

        note_cut_off(context, left)


def start(opened: Opened, prepared: Prepared | None, *, follow: bool) -> tuple[int, "LiveReader | None"]:
    """Run Codex to its end.

    Args:
        opened: the session.
        prepared: None where it starts as it is.
        follow: whether its rollout is read while it grows.

    Returns:
        Its exit code, 128+n when signal n ended it; and what read the rollout.

    Raises:
        OSError: it cannot be started.
    """
    live: list[LiveReader] = []

    def begin() -> None:
        if prepared is not None and follow:
            from cam.wrapper.live import LiveReader  # noqa: PLC0415 - Codex must not wait for this import
            from cam.wrapper.ready import get_ready  # noqa: PLC0415

            live.append(LiveReader(prepared.run, get_ready))
            live[0].start()

    arguments = opened.call.arguments if prepared is None else prepared.arguments
    # Where nothing is to be told, hooks that are installed tell nothing either.
    variables = {"CAM_RUN": "none"} if prepared is None else prepared.variables
    return launch(opened.program, arguments, opened.cwd, begin, variables), next(iter(live), None)
