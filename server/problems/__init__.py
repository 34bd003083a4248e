"""Errors as answers."""
