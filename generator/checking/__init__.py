"""Checks of an answer's sentences that need no model."""
