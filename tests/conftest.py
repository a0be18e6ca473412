"""Guards: every test has a home of its own, and none can write into the real one."""

import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cam.system.environment import AGENT_VARIABLES

# How long an example takes says something about the machine, not about the code. A landing is judged by the
# same examples each time; who runs the tests at home searches for new ones.
settings.register_profile(
    "cam", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("cam")

REAL_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
_GUARDED = tuple(
    str(REAL_HOME / name) for name in (".codex", ".codex-auto-memory", ".config/codex-auto-memory")
)


def _audit(event: str, args: tuple[object, ...]) -> None:
    """Raise if the process is about to write where a person's memory or Codex's files are."""
    if event == "open" and isinstance(args[0], (str, bytes)):
        mode, flags = args[1], args[2]
        writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (
            isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        )
        if writes:
            _refuse(args[0])
    elif event in {"os.mkdir", "os.rename", "os.remove", "os.rmdir"}:
        for path in args[:2]:
            if isinstance(path, (str, bytes)):
                _refuse(path)


def _refuse(path: str | bytes) -> None:
    text = os.path.abspath(os.fsdecode(path))
    if text.startswith(_GUARDED):
        raise AssertionError(f"a test may not touch the real home: {text}")


sys.addaudithook(_audit)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HOME, XDG folders, CODEX_HOME and the store in a temp folder; no variable of cam's set."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("CAM_", "XDG_", "GIT_")) and name != "CAM_CODEX_RELEASES":
            monkeypatch.delenv(name)
    for name in AGENT_VARIABLES:  # an agent may run the tests
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEX_HOME", str(home / ".codex"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    return home


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB; skipped where this process may not mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, *, leave: int = 0) -> None:
    """Use up a small disk but for ``leave`` bytes."""
    state = os.statvfs(disk)
    (disk / "filler").write_bytes(b"x" * max(0, state.f_bavail * state.f_bsize - leave))
