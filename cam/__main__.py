"""``python -m cam`` and the ``cam`` program."""

import sys

from cam.cli.entry import main as _main


def main() -> int:
    """Run cam on the process's arguments."""
    return _main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
