"""Settings of all packages, from environment variables, a file and defaults, in this order."""
