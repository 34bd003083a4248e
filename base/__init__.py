"""Foundations of all packages, independent of papers.

`errors`, `calls` (options, declared once), `records` (JSON of values), `logs`, `files` (atomic writes,
bounded reads), `terminal` (output and parameters of commands), `net` (bounded HTTP), `settings`.
"""
