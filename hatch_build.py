"""Build hook: the wheel and the sdist know the commit that they were made from."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Put ``cam/commit.txt`` into what is built; the working tree is left as it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files."""
        if version == "editable":  # a checkout asks git itself
            return
        noted = Path(self.root, "cam", "commit.txt")  # an unpacked sdist
        commit = noted.read_text() if noted.exists() else self._ask_git()
        folder = tempfile.mkdtemp(prefix="cam-build-")
        file = Path(folder, "commit.txt")
        file.write_text(commit)
        build_data["force_include"][str(file)] = "cam/commit.txt"

    def _ask_git(self) -> str:
        line = ["git", "-C", self.root, "rev-parse", "--short=12", "HEAD"]
        try:
            done = subprocess.run(line, capture_output=True, text=True, check=False)
        except OSError:
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""
