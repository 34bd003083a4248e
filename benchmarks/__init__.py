"""Benchmarks of speed and size; each figure is compared with a bar."""
