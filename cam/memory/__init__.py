"""A person edits memory: remember, forget, overview."""
