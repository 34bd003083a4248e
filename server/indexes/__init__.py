"""The indexes that the server answers from."""
