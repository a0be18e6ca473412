"""Finding memory again."""
