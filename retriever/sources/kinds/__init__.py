"""Kinds of sources, a file each, with its settings and `open_source`: `kind = "…"` names the file."""
