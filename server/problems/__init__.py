"""Errors as responses."""
