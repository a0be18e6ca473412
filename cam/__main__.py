"""``python -m cam`` and the ``cam`` program."""

import os
import sys

from cam.cli.entry import answers_codex
from cam.cli.entry import main as _main


def main() -> int:
    """Run cam on the process's arguments."""
    code = _main(sys.argv[1:])
    if answers_codex(sys.argv[1:]):
        os._exit(code)  # taking the interpreter down costs as much as a warm answer's own work
    return code


if __name__ == "__main__":
    sys.exit(main())
