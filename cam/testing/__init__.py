"""What the project ships to test itself: a loopback stand-in for the model, for tests, demo and doctor."""
