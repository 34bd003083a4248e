"""The HTTP server: an API, ways in for other programs, and the page."""
