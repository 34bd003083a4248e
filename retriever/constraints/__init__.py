"""Constraints of a question: exclusions, and years of publication."""
