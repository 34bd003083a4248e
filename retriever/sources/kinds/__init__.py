"""Kinds of sources, one file each, with its settings and `open_source`; `kind = "…"` names the file."""
