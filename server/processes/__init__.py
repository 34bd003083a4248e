"""The processes of the server: their start, their workers, their end."""
