"""Where an unexpected error goes: a file that a person can send, without what was remembered."""

import os
import tempfile
import time
import traceback

from cam.core.secrets import mask


def write_crash(error: BaseException) -> str:
    """Write the stack trace to a private file and return its path, or a word why there is none."""
    text = "".join(traceback.format_exception(error))
    try:
        descriptor, path = tempfile.mkstemp(prefix=f"cam-{time.strftime('%Y%m%d-%H%M%S')}-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(mask(text).text)
    except OSError as reason:
        return f"no file: {reason.strerror}"
    return path
