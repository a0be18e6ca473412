"""``python -m cam`` and the ``cam`` program."""

import os
import sys

from cam.cli.entry import main as _main
from cam.cli.entry import only_answers


def main() -> int:
    """Run cam on the process's arguments."""
    words = sys.argv[1:]
    if not only_answers(words):
        return _main(words)
    try:
        code = _main(words)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        code = end.code
    os._exit(code)  # taking the interpreter down costs a tenth of a search, half of a warm answer's own work


if __name__ == "__main__":
    sys.exit(main())
