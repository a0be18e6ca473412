"""Result to text or JSON, pure."""
