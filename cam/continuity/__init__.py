"""Where the last session stopped; temporary, never durable memory."""
