"""Vectors of passages: storage on disk, encoding while indexing, lookup by id."""
