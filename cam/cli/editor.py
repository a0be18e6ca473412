"""A text in the person's editor."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from cam.core.errors import CamError, InvalidInputError
from cam.system.environment import Environment


@contextmanager
def edited(environment: Environment, text: str, name: str) -> Iterator[str]:
    """``text`` as it comes back from $VISUAL or $EDITOR.

    The file is the person's alone and goes when the block ends well; where it does not, it stays and the
    error names it, so that nothing that was typed is lost.

    Args:
        environment: says which editor.
        text: what it starts with.
        name: of the file, with its ending.

    Raises:
        InvalidInputError: the editor cannot be started, ends with an error, or leaves no readable text.
    """
    folder = tempfile.mkdtemp(prefix="cam-")  # mode 0700
    path = os.path.join(folder, name)
    try:
        with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
        start_editor(environment, path)
        try:
            with open(path, encoding="utf-8", errors="surrogatepass", newline="") as file:
                given = file.read()
        except (UnicodeDecodeError, FileNotFoundError) as error:
            raise InvalidInputError(f"the editor left no text in UTF-8: {error}") from None
        yield given
    except CamError as error:
        if _has_changed(path, text):
            raise type(error)(f"{error}; your text is kept in {path}") from None
        _remove(folder, path)
        raise
    _remove(folder, path)


def start_editor(environment: Environment, path: str) -> None:
    """Open a file in $VISUAL or $EDITOR and wait; what the editor prints is no answer of cam's.

    Raises:
        InvalidInputError: there is no terminal for one, it cannot be started, or it ends with an error.
    """
    named = environment.variables.get("VISUAL") or environment.variables.get("EDITOR")
    if not named and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInputError(
            "there is no terminal for an editor; give the change as options, or set EDITOR"
        )
    editor = named or "vi"
    out = None if sys.stdout.isatty() else sys.stderr
    try:
        code = subprocess.run([*shlex.split(editor), path], check=False, stdout=out).returncode
    except (OSError, ValueError):
        raise InvalidInputError(f"the editor {editor!r} cannot be started; set EDITOR") from None
    if code:
        raise InvalidInputError(f"the editor {editor!r} ended with {code}; nothing was changed")


def _has_changed(path: str, text: str) -> bool:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return False
    return bool(data.strip()) and data != text.encode("utf-8", "surrogatepass")


def _remove(folder: str, path: str) -> None:
    for name in {*os.listdir(folder), os.path.basename(path)}:  # an editor may leave a backup beside it
        full = os.path.join(folder, name)
        if os.path.isfile(full):
            os.unlink(full)
    os.rmdir(folder)
