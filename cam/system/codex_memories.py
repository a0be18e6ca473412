"""Codex's own memories: where they are. Light: a hook asks before it does anything else."""

import os

FOLDERS = ("memories", "memories_v2")
"""Below Codex's home; the second is that of 0.171."""


def is_in_memories(codex_home: str, folder: str) -> bool:
    """Whether ``folder`` is or lies in one of Codex's own memories: what runs there is nobody's session."""
    home, here = os.path.realpath(codex_home), os.path.realpath(folder)
    return any(f"{here}/".startswith(f"{os.path.join(home, name)}/") for name in FOLDERS)
