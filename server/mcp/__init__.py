"""Tools for programs that speak the Model Context Protocol (MCP), over HTTP and stdio."""
