"""The one boundary of every command: an answer or an error to text or JSON and an exit code."""

import errno
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TextIO

from cam.core.errors import CamError, InvalidInputError, WriteRefusedError
from cam.render.answer import failure, success, to_json
from cam.system.environment import agent_variable

NO_TRACE = "the details are in"

_SELDOM = 100_000
"""Objects after which Python looks for cycles: ten thousand records make many objects, and hardly a cycle."""

_LONGEST = 600
"""Characters of a message that are said: what was typed wrongly may be of any length."""


class Access(StrEnum):
    """What a command does to what is a person's: memory, settings, the files of hosts."""

    READS = "reads"
    """Nothing, but for what is derived, such as the report of a benchmark."""
    WITH_KEYS = "with keys"
    """Writes for an agent too; the command itself asks who writes."""
    WRITES = "writes"
    """Refused where an agent runs it; so is a file that the command line names."""


def writes_unless(is_shown: bool, /) -> Access:
    """Access of a command that can also just show what it would do."""
    return Access.READS if is_shown else Access.WRITES


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has to say.

    Attributes:
        data: for ``--json``; not None. A function where it is long: it is asked for only when it is printed.
        text: for people, without the last line feed; likewise.
        notes: for stderr, a line each.
        exit_code: 0 unless the command has a scale of its own (doctor).
        verbatim: the text is printed byte for byte on a terminal too: a file, or what a model is told.
    """

    data: Any
    text: str | Callable[[], str] = ""
    notes: tuple[str, ...] = ()
    exit_code: int = 0
    verbatim: bool = False


def respond(command: str, as_json: bool, access: Access, work: Callable[[], Answer]) -> NoReturn:
    """Run a command and end the process with its exit code.

    This is the one place where an agent's shell is kept from what is a person's to do, and after which the
    next session may be told something else.

    Args:
        command: dotted name for the envelope.
        as_json: one JSON object on stdout instead of text.
        access: what the command does to what is a person's.
        work: the command.
    """
    gc.set_threshold(_SELDOM)
    try:
        if access is Access.WRITES:
            _refuse_agents()
        answer = work()
        out = to_json(success(command, _made(answer.data))) if as_json else _shown(answer)
        notes, code = answer.notes, answer.exit_code
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        word, message, code = describe(error)
        out = to_json(failure(command, word, message)) if as_json else ""
        notes = () if as_json else (f"cam: {message}",)
    try:
        emit(out, notes)
    except OSError as error:  # what was done is done, but nobody can read of it
        _drop_unsaid(sys.stdout)
        _, message, code = describe(error)
        emit("", (f"cam: {message}",))
    if access is not Access.READS:
        from cam.hosts.hook_ready import renew_later

        renew_later()
    sys.exit(code)


def describe(error: Exception) -> tuple[str, str, int]:
    """Code, one clear line and exit code for any exception; a bug leaves a log file, not a stack trace."""
    from cam.core.display import one_line, shortened

    code, message, exit_code = _describe(error)
    return code, shortened(one_line(message), _LONGEST), exit_code


def has_colour(stream: TextIO | None) -> bool:
    """Whether what is printed there may be coloured: a terminal, and nobody said no."""
    return stream is not None and stream.isatty() and not os.environ.get("NO_COLOR")


def emit(out: str, notes: tuple[str, ...] = ()) -> None:
    """Print to stdout and stderr; a reader that went away is no error.

    Raises:
        OSError: stdout cannot be written, its disk being full. Notes that cannot be said are left unsaid:
            nothing may hang on them, least of all whether Codex starts.
    """
    if notes and sys.stderr is not None:  # None where the stream is closed
        try:
            _say(sys.stderr, "".join(f"{note}\n" for note in notes))
        except (OSError, ValueError):
            _drop_unsaid(sys.stderr)
    if out and sys.stdout is not None:
        try:
            _say(sys.stdout, f"{out}\n")
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO):
                raise
            _drop_unsaid(sys.stdout)


def _refuse_agents() -> None:
    """Let a person alone pass.

    Raises:
        WriteRefusedError: an agent runs this.
    """
    shown = agent_variable(os.environ)
    if shown:
        raise WriteRefusedError(
            f"an agent runs this ({shown} is set), and it is a person's to do, in their own terminal; agents "
            "write with the MCP tool remember, or with cam remember --actor NAME --allow-write"
        )


def _say(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def _drop_unsaid(stream: TextIO) -> None:
    """Empty the buffer of a stream that takes nothing, or the interpreter ends with 120 because of it.

    Its descriptor stays what it was: Codex inherits it.
    """
    with suppress(OSError, ValueError):
        number = stream.fileno()
        kept = os.dup(number)
        try:
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(null, number)
            os.close(null)
            stream.flush()
        finally:
            os.dup2(kept, number)
            os.close(kept)


def _shown(answer: Answer) -> str:
    """The text as this terminal shows it best; as it is where no person looks."""
    text: str = _made(answer.text)
    if answer.verbatim or sys.stdout is None or not sys.stdout.isatty():
        return text
    from cam.render.terminal import dress

    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return dress(text, columns(), colour=not is_plain)


def _made(value: Any) -> Any:
    return value() if callable(value) else value


def columns() -> int:
    """Width of the terminal; 80 where none says it."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and len(given) < 5:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 80


def _describe(error: Exception) -> tuple[str, str, int]:
    if isinstance(error, CamError):
        return error.code, str(error), error.exit_code
    if isinstance(error, OSError) and error.errno is not None:
        from cam.system.files import explain

        return "store_unavailable", explain(error), 1
    usage = getattr(error, "format_message", None)
    if callable(usage):  # Typer's usage errors, whichever Click it carries
        said = str(usage()).replace("Got unexpected extra argument(s)", "too many words")
        return InvalidInputError.code, " ".join(said.split()).rstrip("."), InvalidInputError.exit_code
    from cam.cli.crash import write_crash

    said = (
        f"unexpected {type(error).__name__}: {str(error)[: _LONGEST // 2]}; {NO_TRACE} {write_crash(error)}"
    )
    return "internal_error", said, 1
