"""The target of a call (an index or sources), and a search of it."""
