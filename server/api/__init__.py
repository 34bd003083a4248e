"""What callers of the API send, and how its answers are described."""
