"""Terminal output: escaped text, columns, progress, and parts of the command line."""
