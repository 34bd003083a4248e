"""Explanations of the ranks of passages."""
