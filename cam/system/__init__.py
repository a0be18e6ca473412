"""Files, locks, processes, git, the Codex binary; no memory rules."""
