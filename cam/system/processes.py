"""Other processes of this machine."""

import os
import subprocess
from collections.abc import Iterator


def is_running(number: int) -> bool:
    """Whether a process of that number exists; a number that was given anew counts too."""
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def works_in(program: str, folder: str) -> bool:
    """Whether a process of ``program`` (or one named ``program-…``) may be at work in ``folder`` or below.

    One whose folder the system does not tell counts as well: only a no is certain.
    """
    inside = os.path.join(os.path.realpath(folder), "")
    return any(cwd is None or os.path.join(cwd, "").startswith(inside) for cwd in _folders_of(program))


def _folders_of(program: str) -> Iterator[str | None]:
    """The folder of each living process of ``program``, None where it cannot be known."""
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        numbers = []
    if not numbers:  # no Linux
        yield from (None for name in _names_by_ps(program) if _is_of(program, name))
        return
    for number in numbers:
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
            if not _is_of(program, name) or rest.split()[:1] == ["Z"]:
                continue
            yield os.readlink(f"/proc/{number}/cwd")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        except OSError:
            yield None


def _names_by_ps(program: str) -> list[str]:
    """What runs, by name; ``program`` alone where that cannot be asked."""
    try:
        done = subprocess.run(["ps", "-axo", "comm="], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return [program]
    return [os.path.basename(line.strip()) for line in done.stdout.decode("utf-8", "replace").splitlines()]


def _is_of(program: str, name: str) -> bool:
    return name == program or name.startswith(f"{program}-")
