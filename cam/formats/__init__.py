"""How things look on disk: one module per format, pure, parse and render."""
