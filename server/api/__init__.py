"""Requests of the API, and the description of its answers."""
