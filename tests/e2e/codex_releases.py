"""Real Codex releases, installed from npm once into the user's cache, and a sandbox to run them in.

``CAM_CODEX_RELEASES`` names another folder for them. Where npm, the network or the disk is missing, the test
is skipped with the reason. Releases beyond ``ALWAYS`` are installed only with ``CAM_E2E_ALL=1``, as each
takes some 400 MB; those that are there are used.
"""

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from filelock import FileLock
from tui import Tui

from cam.testing.responses_server import KEY_VARIABLE, ResponsesServer, Script, write_codex_config
from tests.processes import processes_with

# Read when tests are collected, before any of them moves HOME to a folder of its own.
_HOME = os.path.expanduser("~")
_ALL = bool(os.environ.get("CAM_E2E_ALL"))
_CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.join(_HOME, ".cache")
RELEASES = Path(
    os.environ.get("CAM_CODEX_RELEASES") or os.path.join(_CACHE, "codex-auto-memory", "codex-releases")
)
ALWAYS = ("0.98.0", "0.171.0")
"""One release for either way of injection."""

_NEEDED = 600 * 1024 * 1024


def codex_release(version: str) -> str:
    """Path of that release's ``codex``, installed if it is not there yet.

    A release appears under its name only when it is whole; of two processes that want it one installs.
    """
    folder = RELEASES / version
    program = folder / "node_modules" / ".bin" / "codex"
    if not program.exists():
        _install(version, folder)
    return str(program)


class CodexSandbox:
    """A home, a ``CODEX_HOME``, a repository with one commit and a model of its own, for one release.

    ``TMPDIR`` lies inside too: Codex refuses helpers where its home is below the temp folder.

    Attributes:
        version: the release.
        codex: its program.
        root: everything of the sandbox.
        home: ``HOME``.
        codex_home: ``CODEX_HOME``.
        repo: the repository.
        server: the model; running.
        env: the whole environment for programs here.
    """

    def __init__(
        self, root: Path, version: str, script: Script = (), *, top: str = "", tables: str = ""
    ) -> None:
        self.version = version
        self.codex = codex_release(version)
        self.root = root
        self.home, self.codex_home, self.repo = root / "home", root / "codex", root / "repo"
        for folder in (self.home, self.repo, root / "tmp"):
            folder.mkdir(parents=True)
        self.server = ResponsesServer(script)
        write_codex_config(str(self.codex_home), self.server.base_url, top=top, tables=tables)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CODEX_HOME": str(self.codex_home),
            "TMPDIR": str(root / "tmp"),
            "LANG": "C.UTF-8",
            KEY_VARIABLE: "loopback",
            # Releases around 0.98 ask OpenAI for its models whatever the provider: here too.
            "OPENAI_BASE_URL": self.server.base_url,
            "OPENAI_API_KEY": "loopback",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                f"GIT_{who}_{what}": "a@b.example"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "start")

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_leftovers()
        self.server.__exit__(kind, error, trace)

    def run(
        self,
        *arguments: str,
        cwd: Path | None = None,
        text_in: str | None = None,
        env: Mapping[str, str] | None = None,
        program: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run Codex (or ``program``) to its end, a minute at most; standard input is ``text_in`` or empty."""
        return subprocess.run(
            [program or self.codex, *arguments],
            cwd=cwd or self.repo,
            env={**self.env, **(env or {})},
            input=text_in or "",
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def tui(self, *arguments: str, program: str | None = None) -> Tui:
        """Codex (or ``program``) under a pty."""
        return Tui([program or self.codex, *arguments], self.env, str(self.repo))

    def git(self, *arguments: str) -> str:
        """Run git in the repository."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.repo, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def trust(self, folder: Path | None = None) -> None:
        """Say beforehand that the folder (the repository) is trusted, so that the TUI does not ask."""
        with (self.codex_home / "config.toml").open("a") as file:
            file.write(f'\n[projects."{folder or self.repo}"]\ntrust_level = "trusted"\n')

    def rollouts(self) -> list[Path]:
        """The sessions' files, oldest first."""
        return sorted((self.codex_home / "sessions").rglob("rollout-*.jsonl"), key=lambda path: path.name)

    def rollout_lines(self, index: int = -1) -> list[dict[str, Any]]:
        """The records of one session's file."""
        return [json.loads(line) for line in self.rollouts()[index].read_bytes().split(b"\n") if line]

    def session_id(self, index: int = -1) -> str:
        """The id of one session."""
        return str(self.rollout_lines(index)[0]["payload"]["id"])

    def shown(self, text: str, *, since: int = 0) -> list[int]:
        """How often ``text`` stands in the input of each request from number ``since`` on."""
        count = len(self.server.requests)
        return [
            sum(part.count(text) for part in self.server.model_input_texts(index))
            for index in range(since, count)
        ]

    def leftovers(self) -> list[int]:
        """Processes that still run with this sandbox's ``CODEX_HOME`` (Linux)."""
        return list(processes_with("CODEX_HOME", str(self.codex_home)))

    def stop_leftovers(self) -> None:
        """End a daemon that Codex may have started, and whatever else it left."""
        if not self.leftovers():
            return
        self.run("app-server", "daemon", "stop")
        for pid in self.leftovers():
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                try:
                    os.kill(pid, 9)
                    select.select([handle], [], [], 5)
                finally:
                    os.close(handle)


def _install(version: str, folder: Path) -> None:
    if version not in ALWAYS and not _ALL:
        pytest.skip(f"Codex {version} is not installed; CAM_E2E_ALL=1 installs it")
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("no npm to install Codex with")
    RELEASES.mkdir(parents=True, exist_ok=True)
    with FileLock(RELEASES / f"{version}.lock"):
        if folder.exists():
            return
        if shutil.disk_usage(RELEASES).free < _NEEDED:
            pytest.skip(f"a Codex release needs {_NEEDED // 1024**2} MB in {RELEASES}")
        with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=RELEASES) as part:
            words = [
                "install",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                "--prefix",
                part,
                f"@openai/codex@{version}",
            ]
            done = subprocess.run(
                [npm, *words], cwd=part, env={**os.environ, "HOME": _HOME}, capture_output=True, text=True,
                timeout=600, check=False,
            )  # fmt: skip
            if done.returncode:
                reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["npm says nothing"]
                pytest.skip(f"npm does not install Codex {version}: {reason[0]}")
            whole = Path(part) / "whole"
            whole.mkdir()
            for name in ("node_modules", "package.json", "package-lock.json"):
                (Path(part) / name).rename(whole / name)
            whole.rename(folder)
