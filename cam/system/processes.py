"""Other processes of this machine."""

import os


def is_running(number: int) -> bool:
    """Whether a process of that number exists; a number that was given anew counts too."""
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
