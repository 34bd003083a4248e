"""The HTTP server: an API, endpoints for other programs, and the page.

`app.create_app` makes the application, `serving` its processes; `routes` has one file for each endpoint.
"""
