"""The command line in this process."""

from collections.abc import Sequence

from cam.cli.entry import main


def run(words: Sequence[str]) -> int:
    """The exit code of ``cam WORDS``; the hot commands end the process with it."""
    try:
        return main(list(words))
    except SystemExit as done:
        return int(str(done.code))
