"""Settings of all packages, from variables, a file and defaults, in this order."""
