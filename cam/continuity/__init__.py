"""Where the last session stopped: temporary working state, never durable memory."""
