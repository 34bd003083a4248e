"""Vectors of an index's passages: kept on disk, made while indexing, found again by id."""
