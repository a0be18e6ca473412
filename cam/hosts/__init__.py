"""How hosts call in: hook events; callers of the same flows."""
