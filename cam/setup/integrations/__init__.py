"""Memory in plain Codex: hooks, MCP server, skill, guidance, bridge; one plan, one commit, one way back."""
