"""cam run, exec, resume, fork: Codex with memory."""

import sys
import time

from cam.cli.answer import describe, emit, has_colour
from cam.cli.entry import GlobalOptions
from cam.core.errors import CamError
from cam.system.files import explain


def run_session(verb: str, arguments: list[str], options: GlobalOptions) -> int:
    """Run Codex with memory; Codex's own exit code, 127 where there is none, 126 where it cannot be started.

    Args:
        verb: ``run``, ``exec``, ``resume`` or ``fork``.
        arguments: for Codex, untouched.
        options: cam's own, given before the verb.
    """
    from cam.wrapper.flow import open_session, prepare, start

    started = time.time()
    try:
        opened = open_session(verb, arguments, options.cwd)
    except CamError as error:
        emit("", (f"cam: {error}",))
        return error.exit_code
    if not opened.program:
        emit("", (f"cam: {opened.note}",))
        return opened.exit_code
    prepared = None
    if options.inject:
        try:
            prepared = prepare(opened, learn=options.sync)
        except Exception as error:  # whatever it is, Codex starts
            emit("", (f"cam: Codex starts without memory: {describe(error)[1]}",))
    if prepared is not None:
        emit("", tuple(f"cam: {w}" for w in prepared.warnings))
    try:
        code, live = start(opened, prepared, follow=options.sync and not opened.call.is_ephemeral)
    except OSError as error:
        emit("", (f"cam: {explain(error, opened.program)}",))
        return 126
    try:
        from cam.hosts.hook_ready import renew_later
        from cam.render.session import outcome_lines
        from cam.wrapper.after import finish

        outcome = finish(opened, prepared, started, learn=options.sync, live=live)
        emit("", tuple(outcome_lines(outcome, colour=has_colour(sys.stderr))))
        renew_later()
    except KeyboardInterrupt:
        emit("", ("cam: interrupted; the session is read at the next 'cam run' or 'cam sync'",))
    except Exception as error:  # whatever it is, the exit code is Codex's
        emit("", (f"cam: the session was not read: {describe(error)[1]}; 'cam sync' tries again",))
    return code
