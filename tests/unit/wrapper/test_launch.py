"""Codex has the terminal: what signals do, and that nothing of cam's costs its exit code."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from cam.wrapper.launch import launch

SHOW = "import signal, sys; sys.exit(sum(signal.getsignal(n) is signal.SIG_IGN for n in ({})))"


def python(code: str) -> list[str]:
    return ["-I", "-c", code]


def test_what_is_ignored_stays_ignored_for_codex_too(tmp_path: Path) -> None:
    inner = SHOW.format("signal.SIGHUP, signal.SIGINT, signal.SIGTERM")
    outer = (
        "import os, signal, sys\nfrom cam.wrapper.launch import launch\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"sys.exit(launch(sys.executable, ['-I', '-c', {inner!r}], {str(tmp_path)!r},"
        " lambda: os.kill(os.getpid(), signal.SIGHUP)))\n"
    )
    done = subprocess.run([sys.executable, "-c", outer], check=False, cwd=Path(__file__).parents[3])
    assert done.returncode == 2


def test_the_exit_code_comes_back_where_ends_of_children_are_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert launch(sys.executable, python("import sys; sys.exit(7)"), str(tmp_path)) == 7
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_what_goes_wrong_meanwhile_costs_neither_codex_nor_its_exit_code(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError("no more memory")

    assert launch(sys.executable, python("import sys; sys.exit(7)"), str(tmp_path), fail) == 7


def test_a_folder_that_is_gone_costs_nothing(tmp_path: Path) -> None:
    here, gone = os.getcwd(), tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    try:
        gone.rmdir()
        assert launch(sys.executable, python("import sys; sys.exit(7)"), str(tmp_path)) == 7
    finally:
        os.chdir(here)


def test_a_signal_that_comes_too_early_reaches_codex(tmp_path: Path) -> None:
    class Late(str):
        """A folder; the signal comes while it is asked whether it is the present one."""

        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            os.kill(os.getpid(), signal.SIGTERM)
            return super().__eq__(other)

        __hash__ = str.__hash__

    code = launch(
        sys.executable, python("import signal; signal.alarm(9); signal.pause()"), Late(str(tmp_path))
    )
    assert code == 128 + signal.SIGTERM
