"""Configuration to paste, for each host in the form that it documents; nothing in it names this machine.

codex: ``config.toml`` and AGENTS.md; claude: ``.mcp.json`` of a project (``mcpServers``: command, args, env);
gemini: ``.gemini/settings.json`` (``mcpServers``: command, args, trust); generic: one server by itself.
"""

from dataclasses import dataclass
from typing import Any

from cam.core.errors import InvalidInputError
from cam.formats.codex_toml import render_table
from cam.formats.json_text import render_json
from cam.formats.managed_block import with_block
from cam.setup.integrations.assets import asset_text
from cam.setup.integrations.pieces import FORWARDED, GUIDANCE, SERVER

HOSTS = ("codex", "claude", "gemini", "generic")


@dataclass(frozen=True, slots=True)
class Snippet:
    """What is pasted.

    Attributes:
        host: for whom.
        path: into which file, relative to the project or to the home folder.
        text: the snippet.
        guidance: a block for the host's instruction file, "" where there is none.
    """

    host: str
    path: str
    text: str
    guidance: str = ""


def snippet(host: str) -> Snippet:
    """The snippet for a host.

    Raises:
        InvalidInputError: no such host.
    """
    words: dict[str, Any] = {"command": "cam", "args": ["mcp", "serve"]}
    if host == "codex":
        block = with_block("", GUIDANCE, asset_text("guidance", ("cam",)), "AGENTS.md")
        text = render_table(SERVER, {**words, "env_vars": list(FORWARDED)})
        return Snippet(host, "~/.codex/config.toml", text, block)
    if host == "claude":
        return Snippet(host, ".mcp.json", _servers({**words, "env": {}}))
    if host == "gemini":
        return Snippet(host, ".gemini/settings.json", _servers({**words, "trust": False}))
    if host == "generic":
        return Snippet(host, "your host's list of MCP servers", render_json(words))
    raise InvalidInputError(f"no host {host!r}; there are {', '.join(HOSTS)}")


def _servers(entry: dict[str, Any]) -> str:
    return render_json({"mcpServers": {SERVER[-1]: entry}})
