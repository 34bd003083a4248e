"""How much is done at once, and how often."""
