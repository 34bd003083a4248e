"""Limits of concurrency and rate."""
