"""The machine as this process found it, read once and passed down as a value."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from cam.core.off import is_off

AGENT_VARIABLES = (
    "CODEX_THREAD_ID",  # Codex's shell, 0.98 to 0.171
    "CODEX_SESSION_ID",  # from 0.148
    "CODEX_CI",
    "CODEX_SANDBOX_NETWORK_DISABLED",  # from 0.36, where the sandbox has no network
    "CODEX_SANDBOX",
    "CODEX_MANAGED_BY_NPM",  # below Codex as npm installs it, in every mode
    "CLAUDECODE",
    "GEMINI_CLI",
)
"""Variables that agents set for the commands they run (docs/agents.md says what was seen where)."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What the process was given.

    Attributes:
        home: the user's home folder.
        cwd: the folder to work in; real path not taken.
        variables: the environment variables.
    """

    home: str
    cwd: str
    variables: Mapping[str, str]

    @property
    def codex_home(self) -> str:
        """Codex's own folder."""
        given = self.variables.get("CODEX_HOME")
        return self.expand(given) if given else os.path.join(self.home, ".codex")

    @property
    def settings_file(self) -> str:
        """The user's settings file."""
        base = self.variables.get("XDG_CONFIG_HOME") or os.path.join(self.home, ".config")
        return os.path.join(base, "codex-auto-memory", "config.yaml")

    @property
    def settings_cache(self) -> str:
        """Where settings files are kept compiled: the store's own cache is known only after reading them."""
        base = self.variables.get("XDG_CACHE_HOME") or os.path.join(self.home, ".cache")
        return os.path.join(base, "codex-auto-memory", "settings.json")

    @property
    def agent_variable(self) -> str:
        """The variable that shows that an agent runs this, "" where none does."""
        return agent_variable(self.variables)

    @property
    def is_off(self) -> bool:
        """Whether ``CAM_OFF`` switches cam off."""
        return is_off(self.variables)

    def expand(self, path: str) -> str:
        """``path`` with ``~`` resolved, absolute."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return os.path.normpath(os.path.join(self.cwd, path))


def agent_variable(variables: Mapping[str, str]) -> str:
    """The variable that shows that an agent runs this, "" where none does."""
    return next((name for name in AGENT_VARIABLES if variables.get(name)), "")


def read_environment(cwd: str | None = None) -> Environment:
    """The environment of this process.

    Args:
        cwd: folder to work in instead of the current one; must exist.

    Raises:
        NotADirectoryError: ``cwd`` is no folder.
        FileNotFoundError: the current folder is gone.
    """
    variables = dict(os.environ)
    home = variables.get("HOME") or os.path.expanduser("~")
    here = os.getcwd()
    if cwd is not None:
        here = os.path.join(here, os.path.expanduser(cwd))
        if not os.path.isdir(here):
            raise NotADirectoryError(cwd)
    return Environment(home, here, variables)
