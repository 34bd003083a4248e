"""Locations of files, atomic writing and bounded reading."""
