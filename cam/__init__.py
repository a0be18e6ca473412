"""cam: memory for the Codex CLI."""
