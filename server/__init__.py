"""The HTTP server: an API, endpoints for other programs, and the page."""
