"""The endpoint for programs that speak the Model Context Protocol: tools over stdio and HTTP."""
