"""The server as processes: their start, their workers, their end."""
