"""Searches for papers: run, interrupted, kept and resumed."""
