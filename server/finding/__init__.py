"""Searches for papers: run, cut off, kept and gone on with."""
