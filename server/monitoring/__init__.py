"""What the server counts and writes down of calls."""
