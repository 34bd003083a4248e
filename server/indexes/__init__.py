"""The indexes of the server."""
