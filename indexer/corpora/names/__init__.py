"""Names of authors, split into family name, given name, particle and suffix."""
