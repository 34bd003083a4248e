"""Foundations of all packages, independent of papers: files, terminal, HTTP, settings, logs, errors."""
