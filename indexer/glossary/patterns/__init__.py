"""Patterns of texts that give a term in both languages, or with its abbreviation."""
