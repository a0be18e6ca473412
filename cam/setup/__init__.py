"""Init and doctor: plans of file changes, and checks."""
