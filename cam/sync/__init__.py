"""From a rollout to durable memory: select, extract, screen, review, plan, commit."""
