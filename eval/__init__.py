"""Runs from topics, their measures and significance tests, and experiments."""
