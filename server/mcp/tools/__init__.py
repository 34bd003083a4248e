"""The tools, a file each: one that holds `TOOL` is found by its file."""
