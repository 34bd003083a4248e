"""Metrics and logs of calls."""
