"""The one boundary of every command: an answer or an error to text or JSON and an exit code."""

import errno
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

from cam.core.errors import CamError, InvalidInputError
from cam.render.answer import failure, success, to_json

NO_TRACE = "the details are in"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has to say.

    Attributes:
        data: for ``--json``; not None.
        text: for people, without the last line feed.
        notes: for stderr, a line each.
        exit_code: 0 unless the command has a scale of its own (doctor).
    """

    data: Any
    text: str = ""
    notes: tuple[str, ...] = ()
    exit_code: int = 0


def respond(command: str, as_json: bool, work: Callable[[], Answer]) -> NoReturn:
    """Run a command and end the process with its exit code.

    Args:
        command: dotted name for the envelope.
        as_json: one JSON object on stdout instead of text.
        work: the command.
    """
    try:
        answer = work()
        out = to_json(success(command, answer.data)) if as_json else answer.text
        notes, code = answer.notes, answer.exit_code
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        word, message, code = describe(error)
        out = to_json(failure(command, word, message)) if as_json else ""
        notes = () if as_json else (f"cam: {message}",)
    emit(out, notes)
    sys.exit(code)


def describe(error: Exception) -> tuple[str, str, int]:
    """Code, one clear line and exit code for any exception; a bug leaves a log file, not a stack trace."""
    if isinstance(error, CamError):
        return error.code, str(error), error.exit_code
    if isinstance(error, OSError) and error.errno is not None:
        from cam.system.files import explain

        return "store_unavailable", explain(error), 1
    usage = getattr(error, "format_message", None)
    if callable(usage):  # Typer's usage errors, whichever Click it carries
        return InvalidInputError.code, " ".join(str(usage()).split()), InvalidInputError.exit_code
    from cam.cli.crash import write_crash

    return "internal_error", f"unexpected {type(error).__name__}: {error}; {NO_TRACE} {write_crash(error)}", 1


def has_colour(stream: TextIO | None) -> bool:
    """Whether what is printed there may be coloured: a terminal, and nobody said no."""
    return stream is not None and stream.isatty() and not os.environ.get("NO_COLOR")


def emit(out: str, notes: tuple[str, ...] = ()) -> None:
    """Print to stdout and stderr; a reader that went away is no error."""
    try:
        if notes and sys.stderr is not None:  # None where the stream is closed
            sys.stderr.write("".join(f"{note}\n" for note in notes))
            sys.stderr.flush()
        if out and sys.stdout is not None:
            sys.stdout.write(f"{out}\n")
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        # The interpreter would complain at exit about what is still buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
