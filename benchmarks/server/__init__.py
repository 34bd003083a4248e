"""Benchmark of the server: overhead of a search, load, and shutdown."""
