"""Pages that are made on the server."""
