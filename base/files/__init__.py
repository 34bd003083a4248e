"""Files that are written whole or not at all, or read within bounds, and where they are."""
