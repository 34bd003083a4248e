"""The benchmark of the server: what it adds to a search, what it bears, how it ends."""
