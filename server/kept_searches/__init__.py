"""Kept searches for papers: their files, their state, and one caller's searches; feeds of searches."""
