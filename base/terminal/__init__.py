"""Output on a terminal: visible text, columns, progress, and parts of the command line."""
