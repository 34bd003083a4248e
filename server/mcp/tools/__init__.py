"""The tools, one per file, in the file's `TOOL`."""
