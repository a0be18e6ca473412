"""What Codex is told at start, within the budget."""
